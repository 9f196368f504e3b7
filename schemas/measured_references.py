"""Checks of what a study asks of measured hardware: types that it takes, and estimates only with a datapath."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schemas.hardware import base_chain, merged_datapath
from schemas.model import Model
from schemas.problem import Path, Problem, got

if TYPE_CHECKING:
    from schemas.study import Study

NEEDS_ESTIMATE = ("analytical", "ratio")
"""`knowledge` of a model that reads the analytical model's estimate."""


def measured_problems(study: "Study") -> Iterator[Problem]:
    """What can't be measured, or estimated, of entries that are sound otherwise."""
    yield from _sizing_problems(study)
    for id, model in study.models.items():
        if not isinstance(model, Model) or model.dataset not in study.datasets:
            continue
        knowledge = model.hyperparameters()["knowledge"]
        bare = [variant for variant in _measured_variants(study, model.dataset) if not has_datapath(study, variant)]
        if bare and knowledge in NEEDS_ESTIMATE:
            text = (
                f"{got(knowledge)}; allowed: off, or tile (hardware '{bare[0]}' has no datapath, so the analytical "
                "model estimates nothing there; base: local-cpu is that of a server processor's core)"
            )
            yield Problem(("models", id, "knowledge"), text)
    for id, entry in study.autotune.items():
        if entry.hardware not in study.measured_hardware():
            continue
        if not has_datapath(study, entry.hardware):
            text = f"{got(entry.hardware)} has no datapath, by which the strategy 'analytical' and the models judge"
            yield Problem(("autotune", id, "hardware"), f"{text}; allowed: with a base or a datapath")
        if "compile_costs_s" in entry.model_fields_set:
            text = "not allowed on hardware that is measured: what compiling takes is measured too"
            yield Problem(("autotune", id, "compile_costs_s"), text)


def has_datapath(study: "Study", id: str) -> bool:
    """Whether a hardware variant says what it is made of."""
    try:
        return bool(merged_datapath(base_chain(study.hardware, id)))
    except (KeyError, ValueError):  # a base that is unknown or goes in a circle: another message says so
        return True


def _measured_variants(study: "Study", dataset: str) -> list[str]:
    entry = study.datasets[dataset]
    written = entry.hardware if entry.hardware != "all" else []
    return [id for id in written if id in study.hardware and study.hardware[id].is_measured]


def _sizing_problems(study: "Study") -> Iterator[Problem]:
    """IREE takes tiles of float32 products alone, which `sizing: bfloat16` leaves none of."""
    asked: dict[str, Path] = {}
    for id in study.datasets:
        if any(study.hardware[variant].runtime == "iree" for variant in _measured_variants(study, id)):
            asked |= dict.fromkeys(study.workload_ids(id), ("datasets", id, "workloads"))
    for id, entry in study.autotune.items():
        runtime = study.hardware[entry.hardware].runtime if entry.hardware in study.hardware else None
        if runtime == "iree" and entry.workloads is not None:
            asked |= dict.fromkeys(study.autotuned_workloads(id), ("autotune", id, "workloads"))
    changed = [id for id in asked if id in study.workloads and study.workloads[id].sizing != "as-traced"]
    if changed:
        names = ", ".join(changed[:6]) + (", ..." if len(changed) > 6 else "")
        text = (
            f"{names}: sizing: bfloat16 leaves no float32 product, and runtime: iree tiles no others; allowed: "
            "sizing: as-traced"
        )
        yield Problem(asked[changed[0]], text)
