"""Checks between entries of a study: ids that refer to one another, bases, splits, tasks.

Ids are checked on the study as written, so that an entry that is broken in another place has its
references checked too. The other checks need sound entries: broken ones are missing from the study
that they get, and what depends on those is left alone.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from schemas.autotune_references import autotune_problems
from schemas.boosted_trees import Average, BoostedTrees
from schemas.dataset import DrawnSplit, NamedSplit
from schemas.evaluation import RESERVED_IDS, Evaluation
from schemas.hardware import HARDWARE_PRESETS
from schemas.hardware_references import hardware_of_dataset, hardware_problems, is_sampled, runtime_of, sample_group
from schemas.measure import MEASURED_TASKS, ORIGINS
from schemas.measured_references import measured_problems
from schemas.model import Model
from schemas.problem import Path, Problem, allowed_names, got
from schemas.search import SURROGATES
from schemas.search_references import surrogate_problems
from schemas.split import drawn_split
from schemas.study_base import select
from schemas.workload import FIXED_BATCH, all_batches, written_ids

if TYPE_CHECKING:
    from schemas.study import Study

_REFERENCES = {
    "datasets": {"workloads": "workloads", "hardware": "hardware"},
    "models": {"dataset": "datasets", "hardware": "hardware", "average": "models"},
    "evaluations": {"models": "models", "hardware": "hardware"},
    "autotune": {
        "hardware": "hardware",
        "workloads": "workloads",
        "tile_models": "models",
        "fusion_models": "models",
    },
    "searches": {"workloads": "workloads", "baseline": "hardware"},
    "fidelity": {"workloads": "workloads"},
}
"""By section: key that holds an id, a list of ids or `all`, to the section that the ids are of."""
_SELECTIONS = {
    ("datasets", "workloads"), ("datasets", "hardware"), ("models", "hardware"), ("evaluations", "hardware"),
    ("autotune", "workloads"), ("searches", "workloads"),
}  # fmt: skip
"""Keys where `all` is allowed, and meant if nothing is written."""


def id_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Ids that don't exist, in a study as written (plain data, not necessarily sound)."""
    for section, keys in _REFERENCES.items():
        for id, entry in _entries(data, section):
            for key, target in keys.items():
                written = entry.get(key)
                if (section, key) in _SELECTIONS and written in (None, "all"):
                    if _is_empty(data, target) and not (key == "workloads" and entry.get("source")):
                        yield Problem((section, id, key), f"the study has no {target}")
                else:
                    yield from _unknown_ids((section, id, key), written, data, target)
    for id, entry in _entries(data, "evaluations"):
        baselines = entry.get("baselines")
        for name, ids in baselines.items() if isinstance(baselines, Mapping) else ():
            yield from _unknown_ids(("evaluations", id, "baselines", name), ids, data, "models")
    for id, entry in _entries(data, "searches"):
        weights, surrogate, models = entry.get("weights"), entry.get("surrogate"), data.get("models")
        for name in weights if isinstance(weights, Mapping) else ():
            own = entry.get("workloads")
            if isinstance(own, list) and name not in own:
                text = f"{got(name)}; {allowed_names(name, [other for other in own if isinstance(other, str)])}"
                yield Problem(("searches", id, "weights", name), text)
            elif own == "all":
                yield from _unknown_ids(("searches", id, "weights", name), name, data, "workloads")
        known = [*SURROGATES, *(models if isinstance(models, Mapping) else ())]
        if isinstance(surrogate, str) and surrogate not in known:
            yield Problem(("searches", id, "surrogate"), f"{got(surrogate)}; {allowed_names(surrogate, known)}")
    for id, entry in _entries(data, "hardware"):
        base = entry.get("base")
        others = [*HARDWARE_PRESETS, *(other for other in data["hardware"] if other != id)]
        if isinstance(base, str) and base not in others:
            yield Problem(("hardware", id, "base"), f"{got(base)}; {allowed_names(base, others)}")


def _entries(data: Mapping[str, Any], section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    entries = data.get(section)
    if isinstance(entries, Mapping):
        for id, entry in entries.items():
            if entry is None or isinstance(entry, Mapping):
                yield id, entry or {}


def _is_empty(data: Mapping[str, Any], section: str) -> bool:
    return data.get(section) is None or data[section] == {}


def _unknown_ids(path: Path, written: Any, data: Mapping[str, Any], target: str) -> Iterator[Problem]:
    entries = data.get(target) or {}
    if not isinstance(entries, Mapping):
        return
    places = [(path, written)] if isinstance(written, str) else []
    if isinstance(written, list):
        places = [((*path, place), id) for place, id in enumerate(written) if isinstance(id, str)]
    known = [*entries]
    if target == "workloads":
        known += [id for name, ids in written_ids(entries).items() for id in ids if id != name]
    for place, id in places:
        if id not in known and not (target == "hardware" and is_sampled(id, entries)):
            yield Problem(place, f"{got(id)}; {allowed_names(id, known) if known else f'the study has no {target}'}")


def consistency_problems(study: "Study", known: Mapping[str, list[str]]) -> list[Problem]:
    """What doesn't go together between sound entries; `known` are the ids of all entries, by section."""
    return [
        *hardware_problems(study),
        *_split_problems(study, known),
        *_runtime_problems(study),
        *_model_problems(study, known),
        *_evaluation_problems(study, known),
        *autotune_problems(study),
        *_search_problems(study, known),
        *surrogate_problems(study),
        *measured_problems(study),
        *_fidelity_problems(study),
    ]


def _split_problems(study: "Study", known: Mapping[str, list[str]]) -> Iterator[Problem]:
    for id, dataset in study.datasets.items():
        if dataset.source is not None:
            workloads = everything = sorted(dataset.source.programs)
            sound = True
            yield from _recorded_problems(id, study)
        else:
            workloads, everything = _selected_workloads(dataset.workloads, known), known["workloads"]
            sound = bool(workloads) and all(workload in study.workloads for workload in workloads)
        splits = {("split",): dataset.split} | {("splits", name): split for name, split in dataset.splits.items()}
        for place, split in splits.items():
            path = ("datasets", id, *place)
            if isinstance(split, NamedSplit):
                yield from _named_split_problems(path, split, workloads, everything)
            elif sound and not (place == ("split",) and dataset.folders_split):
                yield from _drawn_split_problems(path, split, study, id)


def _recorded_problems(id: str, study: "Study") -> Iterator[Problem]:
    """A source is of one chip, and its programs are no workloads of the study."""
    dataset = study.datasets[id]
    assert dataset.source is not None
    written = list(study.hardware) if dataset.hardware == "all" else dataset.hardware
    recorded = [
        variant for variant in written if variant in study.hardware and runtime_of(variant, study) == "recorded"
    ]
    if len(recorded) != 1:
        text = f"{len(recorded)} hardware variants have runtime: recorded; allowed: one, the chip of the source's files"
        yield Problem(("datasets", id, "hardware"), text)
    for program in dataset.source.programs:
        if program in study.workloads:
            yield Problem(("workloads", program), f"a recorded program of dataset '{id}' has this id; allowed: another")


def _runtime_problems(study: "Study") -> Iterator[Problem]:
    """Simulated, measured and recorded labels never mix: not in a dataset, nor in the tables of an evaluation."""
    for id, dataset in study.datasets.items():
        own = study.runtime_of_dataset(id)
        for place, variant in enumerate(dataset.hardware if dataset.hardware != "all" else []):
            runtime = runtime_of(variant, study)
            if runtime not in (None, own):
                remedy = "leave it out" if dataset.source is None else "name the variant with runtime: recorded"
                text = f"{got(variant)} is {runtime}, the dataset {own}; {remedy}: the two never mix"
                yield Problem(("datasets", id, "hardware", place), text)
        task = MEASURED_TASKS.get(own)
        if task is not None and dataset.tasks != [task]:
            text = f"got {', '.join(dataset.tasks)}; allowed: [{task}] (hardware with runtime: {own} measures no other)"
            yield Problem(("datasets", id, "tasks"), text)
    for id, evaluation in study.evaluations.items():
        first: str | None = None
        for path, name in _models_of(id, evaluation):
            model = _trained(study, name)
            if model is None or model.dataset not in study.datasets:
                continue
            origin = study.origin(model.dataset)
            first = first or origin
            if origin != first:
                text = (
                    f"{got(name)} learns {origin} runtimes, the models before it {first} ones; allowed: one of the two"
                )
                yield Problem(path, f"{text} in an evaluation, as its tables never mix them")
    for id, search in study.searches.items():
        runtime = runtime_of(search.baseline, study)
        if runtime not in (None, "simulated"):
            yield Problem(
                ("searches", id, "baseline"),
                f"{got(search.baseline)} is {ORIGINS[runtime]}; allowed: a simulated one",
            )


def _selected_workloads(selection: Any, known: Mapping[str, list[str]]) -> list[str]:
    everything = known["workloads"]
    return select(selection if selection == "all" else all_batches(selection, everything), everything)


def _named_split_problems(
    path: Path, split: NamedSplit, workloads: list[str], everything: list[str]
) -> Iterator[Problem]:
    parts = {"train": split.train, "validation": split.validation, "test": split.test}
    placed: dict[str, str] = {}
    for part, ids in parts.items():
        for place, id in enumerate(ids):
            own = all_batches([id], everything)
            if not set(own) <= set(workloads):
                text = f"{got(id)} is no workload of the dataset; {allowed_names(id, workloads)}"
                yield Problem((*path, part, place), text)
            twice = next((workload for workload in own if placed.setdefault(workload, part) != part), None)
            if twice is not None:
                yield Problem((*path, part, place), f"'{twice}' is in {placed[twice]} already; allowed: one place")
    left = set(workloads) - set(placed)
    if left:
        remedy = "put each workload of the dataset in train, validation or test, or leave it out of the dataset"
        yield Problem(path, f"has no place for {', '.join(sorted(left))}; {remedy}")


def _drawn_split_problems(path: Path, split: DrawnSplit, study: "Study", dataset: str) -> Iterator[Problem]:
    try:
        drawn_split(study.split_units(dataset, split), split.by, split.test, split.validation, study.seed)
    except ValueError as error:
        others = "families" if split.by == "family" else "architectures"
        yield Problem(path, f"{error}; add workloads of other {others}, or name train, validation and test")


def _model_problems(study: "Study", known: Mapping[str, list[str]]) -> Iterator[Problem]:
    for id, model in study.models.items():
        if id in RESERVED_IDS:
            yield Problem(("models", id), f"{got(id)} names a row of every table; allowed: any other id")
        if isinstance(model, Average):
            yield from _average_problems(id, model, study)
            continue
        dataset = study.datasets.get(model.dataset)
        if dataset is None:
            continue
        if model.task not in dataset.tasks:
            text = f"{got(model.task)}; allowed: {', '.join(dataset.tasks)} (the tasks of dataset '{model.dataset}')"
            yield Problem(("models", id, "task"), text)
        if not _has_split(study, model):
            none = f"dataset '{model.dataset}' has no splits beside its split; leave the key out"
            allowed = allowed_names(model.split, dataset.splits) if dataset.splits else none
            yield Problem(("models", id, "split"), f"{got(model.split)}; {allowed}")
        elif (programs := _training_programs(study, model)) and (model.train_programs or 0) > programs:
            text = f"{got(model.train_programs)}; allowed: 1 to {programs}, the programs of the split's training part"
            yield Problem(("models", id, "train_programs"), text)
        written = model.hardware if model.hardware != "all" else []
        yield from hardware_of_dataset(("models", id, "hardware"), written, model.dataset, study, known)
        for place, variant in enumerate(written):
            if sample_group(variant, study) in ("inside", "outside"):
                entry = variant.rpartition("-")[0]
                text = f"{got(variant)} is held out; allowed: variants to train on ('{entry}' means all of those)"
                yield Problem(("models", id, "hardware", place), text)


def _average_problems(id: str, average: Average, study: "Study") -> Iterator[Problem]:
    path = ("models", id, "average")
    if len(average.average) < 2:
        yield Problem(path, f"got {len(average.average)} model; allowed: two or more")
    first = study.models.get(average.average[0])
    for place, member in enumerate(average.average):
        model = study.models.get(member)
        if isinstance(model, Average):
            yield Problem((*path, place), f"{got(member)} is an average itself; allowed: models that are trained")
        elif model is None or first is None or isinstance(first, Average):
            continue
        elif (model.task, model.dataset, model.split) != (first.task, first.dataset, first.split):
            text = (
                f"{got(member)} learns the {model.task} task from dataset '{model.dataset}', "
                f"{_split_name(model.split)}; the first one the {first.task} task from '{first.dataset}', "
                f"{_split_name(first.split)}; allowed: models of one task, dataset and split"
            )
            yield Problem((*path, place), text)


def _trained(study: "Study", id: str) -> Model | BoostedTrees | None:
    """The model, or the first one of an average; None where that is broken."""
    model = study.models.get(id)
    if isinstance(model, Average):
        model = study.models.get(model.average[0])
    return None if isinstance(model, Average) else model


def _evaluation_problems(study: "Study", known: Mapping[str, list[str]]) -> Iterator[Problem]:
    for id, evaluation in study.evaluations.items():
        first_of_task: dict[str, str] = {}
        split_of_dataset: dict[str, str | None] = {}
        for path, name in _models_of(id, evaluation):
            model = _trained(study, name)
            if model is None:
                continue
            first = first_of_task.setdefault(model.task, model.dataset)
            if model.dataset != first:
                text = (
                    f"{got(name)} learns the {model.task} task from dataset '{model.dataset}', the models before it "
                    f"from '{first}'; allowed: models of one dataset a task, since they share their test programs"
                )
                yield Problem(path, text)
            if not _has_split(study, model):
                continue
            split = split_of_dataset.setdefault(model.dataset, model.split)
            if model.split != split:
                text = (
                    f"{got(name)} has {_split_name(model.split)}, the models before it {_split_name(split)}; allowed: "
                    "models of one split a dataset, since they share their test programs; give each split an evaluation"
                )
                yield Problem(path, text)
        yield from _baseline_problems(id, evaluation, study)
        written = evaluation.hardware if isinstance(evaluation.hardware, list) else []
        for dataset in sorted(set(first_of_task.values()) & set(study.datasets)):
            yield from hardware_of_dataset(("evaluations", id, "hardware"), written, dataset, study, known)


def _has_split(study: "Study", model: Model | BoostedTrees) -> bool:
    """Whether the split that the model names is there."""
    dataset = study.datasets.get(model.dataset)
    return model.split is None or dataset is None or model.split in dataset.splits


def _training_programs(study: "Study", model: Model | BoostedTrees) -> int | None:
    """Programs of the training part of the model's split; None where the split itself has a problem."""
    try:
        return len(study.split(model.dataset, model.split)["train"])
    except (KeyError, ValueError):
        return None


def _split_name(split: str | None) -> str:
    return "the dataset's own split" if split is None else f"split '{split}'"


def _models_of(id: str, evaluation: Evaluation) -> Iterator[tuple[Path, str]]:
    """Every model of an evaluation, the baselines' among them, with its place."""
    for place, name in enumerate(evaluation.models):
        yield ("evaluations", id, "models", place), name
    for row, names in evaluation.baselines.items():
        for place, name in enumerate(names):
            yield ("evaluations", id, "baselines", row, place), name


def _baseline_problems(id: str, evaluation: Evaluation, study: "Study") -> Iterator[Problem]:
    for row, names in evaluation.baselines.items():
        path = ("evaluations", id, "baselines", row)
        if row in RESERVED_IDS or row in evaluation.models:
            yield Problem(path, f"{got(row)} names another row of the tables; allowed: any other name")
        tasks: list[str] = []
        for place, name in enumerate(names):
            if name in evaluation.models:
                yield Problem(
                    (*path, place), f"{got(name)} is one of the evaluation's models; allowed: any other model"
                )
            model = _trained(study, name)
            if model is not None and model.task in tasks:
                yield Problem(
                    (*path, place), f"{got(name)} is a second one of the {model.task} task; allowed: one a task"
                )
            tasks += [model.task] if model is not None else []


def _search_problems(study: "Study", known: Mapping[str, list[str]]) -> Iterator[Problem]:
    for id, search in study.searches.items():
        if search.baseline in study.hardware and study.hardware[search.baseline].sample is not None:
            first = study.hardware[search.baseline].variant_ids(search.baseline)[0]
            text = f"{got(search.baseline)} means many variants; allowed: one, such as {first}"
            yield Problem(("searches", id, "baseline"), text)
        for workload in _selected_workloads(search.workloads, known):
            if workload in study.workloads and study.workloads[workload].source in FIXED_BATCH:
                place = ("workloads",) if search.workloads == "all" else ("workloads", search.workloads.index(workload))
                reason = "as designs differ in batch, and such a file has its own"
                text = f"'{workload}' is an HLO or StableHLO file; allowed: workloads of other sources ({reason})"
                yield Problem(("searches", id, *place), text)


def _fidelity_problems(study: "Study") -> Iterator[Problem]:
    for id, entry in study.fidelity.items():
        for place, workload in enumerate(entry.workloads or []):
            if workload in study.workloads and study.workloads[workload].source in FIXED_BATCH:
                text = f"'{workload}' is an HLO or StableHLO file; allowed: builder workloads (figures differ in batch)"
                yield Problem(("fidelity", id, "workloads", place), text)
