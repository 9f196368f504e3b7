"""Checks between entries of a study: ids that refer to one another, bases, splits, tasks.

Entries that are broken themselves may be missing from the study that is checked here; `known` still
has their ids, so that one mistake is not reported twice.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from schemas.dataset import Dataset, FamilySplit, NamedSplit
from schemas.hardware import DATAPATH_KEYS, HARDWARE_PRESETS, BaseCircleError, base_chain, merged_datapath
from schemas.problem import Path, Problem, allowed_names, got
from schemas.split import family_split
from schemas.study_base import select

if TYPE_CHECKING:
    from schemas.study import Study

Known = dict[str, list[str] | None]
"""Ids by section; None for a section that can't be read, whose ids are not checked."""


def reference_problems(study: "Study", known: Known) -> list[Problem]:
    """All problems between the entries of `study`."""
    return [
        *_hardware_problems(study, known),
        *_dataset_problems(study, known),
        *_model_problems(study, known),
        *_evaluation_problems(study, known),
        *_search_problems(study, known),
    ]


def _unknown(path: Path, id: str, ids: Iterable[str] | None, kind: str) -> Iterator[Problem]:
    if ids is None:
        return
    ids = list(ids)
    if id not in ids:
        text = allowed_names(id, ids) if ids else f"the study has no {kind}"
        yield Problem(path, f"{got(id)}; {text}")


def _unknown_in(path: Path, selection: list[str] | Literal["all"], ids: list[str] | None, kind: str) -> Iterator[Problem]:
    if selection == "all":
        if ids is not None and not ids:
            yield Problem(path, f"the study has no {kind}")
        return
    for place, id in enumerate(selection):
        yield from _unknown((*path, place), id, ids, kind)


def _hardware_problems(study: "Study", known: Known) -> Iterator[Problem]:
    ids = known["hardware"] or []
    for id, entry in study.hardware.items():
        if entry.base is not None and entry.base not in HARDWARE_PRESETS and (entry.base not in ids or entry.base == id):
            others = [*HARDWARE_PRESETS, *(other for other in ids if other != id)]
            yield Problem(("hardware", id, "base"), f"{got(entry.base)}; {allowed_names(entry.base, others)}")
            continue
        try:
            chain = base_chain(study.hardware, id)
        except BaseCircleError as circle:
            yield Problem(("hardware", id, "base"), f"the bases go in a circle: {circle}; allowed: a chain that ends at a "
                          f"preset ({', '.join(HARDWARE_PRESETS)})")  # fmt: skip
            continue
        except KeyError:  # a base that is a broken entry of the study
            continue
        absent = [key for name, key in DATAPATH_KEYS.items() if name not in merged_datapath(chain)]
        if absent:
            text = f"missing {', '.join(absent)}; give them, or a base (allowed: {', '.join(HARDWARE_PRESETS)})"
            yield Problem(("hardware", id, "datapath"), text)


def _dataset_problems(study: "Study", known: Known) -> Iterator[Problem]:
    for id, dataset in study.datasets.items():
        at = ("datasets", id)
        problems = [
            *_unknown_in((*at, "workloads"), dataset.workloads, known["workloads"], "workloads"),
            *_unknown_in((*at, "hardware"), dataset.hardware, known["hardware"], "hardware"),
        ]
        yield from problems
        if known["workloads"] is None or problems:
            continue
        workloads = select(dataset.workloads, known["workloads"])
        if isinstance(dataset.split, NamedSplit):
            yield from _named_split_problems((*at, "split"), dataset.split, workloads)
        elif all(workload in study.workloads for workload in workloads):
            yield from _family_split_problems((*at, "split"), dataset.split, study, workloads)


def _named_split_problems(path: Path, split: NamedSplit, workloads: list[str]) -> Iterator[Problem]:
    parts = {"train": split.train, "validation": split.validation, "test": split.test}
    for part, ids in parts.items():
        for place, id in enumerate(ids):
            if id not in workloads:
                text = allowed_names(id, workloads)
                yield Problem((*path, part, place), f"{got(id)} is no workload of the dataset; {text}")
    left = set(workloads) - {id for ids in parts.values() for id in ids}
    if left:
        yield Problem(path, f"has no place for {', '.join(sorted(left))}; put every workload of the dataset in "
                      "train, validation or test, or leave it out of the dataset's workloads")  # fmt: skip


def _family_split_problems(path: Path, split: FamilySplit, study: "Study", workloads: list[str]) -> Iterator[Problem]:
    try:
        family_split(study.families(workloads), split.test, split.validation, study.seed)
    except ValueError as error:
        yield Problem(path, f"{error}; add workloads of other families, or name train, validation and test")


def _model_problems(study: "Study", known: Known) -> Iterator[Problem]:
    for id, model in study.models.items():
        at = ("models", id)
        yield from _unknown((*at, "dataset"), model.dataset, known["datasets"], "datasets")
        dataset: Dataset | None = study.datasets.get(model.dataset)
        if dataset is None:
            continue
        if model.task not in dataset.tasks:
            text = f"{got(model.task)}; allowed: {', '.join(dataset.tasks)} (the tasks of dataset '{model.dataset}')"
            yield Problem((*at, "task"), text)
        if known["hardware"] is not None and model.hardware != "all":
            of_dataset = select(dataset.hardware, known["hardware"])
            yield from _unknown_in((*at, "hardware"), model.hardware, of_dataset, "hardware")


def _evaluation_problems(study: "Study", known: Known) -> Iterator[Problem]:
    for id, evaluation in study.evaluations.items():
        yield from _unknown_in(("evaluations", id, "models"), evaluation.models, known["models"], "models")


def _search_problems(study: "Study", known: Known) -> Iterator[Problem]:
    for id, search in study.searches.items():
        yield from _unknown_in(("searches", id, "workloads"), search.workloads, known["workloads"], "workloads")
        yield from _unknown(("searches", id, "baseline"), search.baseline, known["hardware"], "hardware")
