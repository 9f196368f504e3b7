"""Checks between entries of `autotune:` and the rest of the study: targets, models and the programs that they mean."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schemas.autotune import TARGET_STRATEGIES, Autotune
from schemas.boosted_trees import Average, BoostedTrees
from schemas.hardware_references import runtime_of
from schemas.loss import is_rank_loss
from schemas.measure import MEASURED_TASKS
from schemas.model import Model
from schemas.problem import Path, Problem, got

if TYPE_CHECKING:
    from schemas.study import Study


def autotune_problems(study: "Study") -> Iterator[Problem]:
    """Targets that can't run programs, models of the wrong kind, programs that nothing names."""
    for id, entry in study.autotune.items():
        yield from _target_problems(("autotune", id, "hardware"), entry.hardware, study)
        measured = MEASURED_TASKS.get(runtime_of(entry.hardware, study) or "simulated")
        allowed = {"tile": "tiles", "fusion": "fusion"}.get(measured or "", entry.task)
        if entry.task != allowed:
            text = f"{got(entry.task)}; allowed on '{entry.hardware}': {allowed}, which is all that it measures"
            yield Problem(("autotune", id, "task"), text)
        for key, ids in entry.models().items():
            for place, model in enumerate(ids):
                yield from _model_problems(("autotune", id, key, place), key, model, study)
        if entry.workloads is None:
            yield from _default_program_problems(("autotune", id), entry, study)


def _target_problems(path: Path, hardware: str, study: "Study") -> Iterator[Problem]:
    if hardware in study.hardware and study.hardware[hardware].sample is not None:
        first = study.hardware[hardware].variant_ids(hardware)[0]
        yield Problem(path, f"{got(hardware)} means many variants; allowed: one, such as {first}")
    elif runtime_of(hardware, study) == "recorded":
        text = f"{got(hardware)} is recorded, so no new kernel can be run there; allowed: a simulated or measured one"
        yield Problem(path, text)


def _model_problems(path: Path, key: str, id: str, study: "Study") -> Iterator[Problem]:
    if id in TARGET_STRATEGIES:
        yield Problem(path, f"{got(id)} names a strategy that needs no model; allowed: any other id")
    model = study.models.get(id)
    first = study.models.get(model.average[0]) if isinstance(model, Average) else model
    if first is None or isinstance(first, Average):
        return
    if key == "tile_models" and first.task != "tile":
        text = (
            f"{got(id)} learns the fusion task, where every kernel has its default tile, so it can't choose tiles; "
            "allowed: models with task: tile"
        )
        yield Problem(path, text)
    if key == "fusion_models" and ((isinstance(model, Average) and first.task == "tile") or _ranks_only(first)):
        text = (
            f"{got(id)} ranks the tiles of a kernel and predicts no seconds, which can't be added up over the kernels "
            "of a configuration; allowed: models with task: fusion, or with loss: log-mse"
        )
        yield Problem(path, text)


def _ranks_only(model: Model | BoostedTrees) -> bool:
    if model.task == "fusion":
        return False
    return isinstance(model, BoostedTrees) or model.loss is None or is_rank_loss(model.loss)


def _default_program_problems(path: Path, entry: Autotune, study: "Study") -> Iterator[Problem]:
    """Without `workloads` the models must say of one dataset and split which programs are held out."""
    given = [(key, place, id) for key, ids in entry.models().items() for place, id in enumerate(ids)]
    if not given:
        yield Problem((*path, "workloads"), "missing; without models no dataset says which programs are meant")
        return
    first: tuple[str, str | None] | None = None
    for key, place, id in given:
        model = study.models.get(id)
        trained = study.models.get(model.average[0]) if isinstance(model, Average) else model
        if trained is None or isinstance(trained, Average) or trained.dataset not in study.datasets:
            continue
        if study.datasets[trained.dataset].source is not None:
            text = f"{got(id)} was trained on recorded programs, which can't be run; name workloads of the study"
            yield Problem((*path, key, place), text)
        first = first or (trained.dataset, trained.split)
        if (trained.dataset, trained.split) != first:
            text = (
                f"{got(id)} was trained on another dataset or split than the first model, so their test programs "
                "differ; name the workloads"
            )
            yield Problem((*path, key, place), text)
