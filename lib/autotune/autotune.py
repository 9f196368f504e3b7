"""A whole entry of `autotune:` on one program: default configuration, autotuner, tables and listings."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from lib.autotune.configuration import (
    Configuration,
    chosen_table,
    configuration_file,
    instruction_table,
    program_s,
)
from lib.autotune.fusion_tables import all_fusion_runs, result_rows, skipped_rows, trace_rows
from lib.autotune.listing import difference, listing
from lib.autotune.notes import model_notes, result_notes
from lib.autotune.remeasured import remeasured
from lib.autotune.strategies import TrainedModels, strategies
from lib.autotune.target import KeptTarget, Target
from lib.autotune.tiles import tune_tiles
from lib.autotune.tuned import Tuned, best_result, compared
from lib.cost.cost_model import CostModel, Reason
from lib.journal import Journal
from lib.program.extraction import ProgramKernels, extract
from lib.program.kernels import KERNEL_CLASSES
from lib.program.program import Program
from lib.schedule.default import NoTileFits
from schemas.autotune_artifact import AutotuneSummary, Remeasured


def run_autotune(
    spec: Mapping[str, Any], program: Program, trained: TrainedModels, target: Target, journal: Journal | None = None
) -> dict[str, Any]:
    """Contents of a `schemas.autotune_artifact.AutotuneArtifact`, of a program at its batch.

    Raises ValueError naming workload and hardware where the default configuration can't run on the target.
    """
    where = f"workload '{spec['workload']}' on hardware '{spec['hardware']['id']}'"
    target = KeptTarget(target, journal)
    groups = target.default_groups(program)
    found = extract(program, groups)
    try:
        default = default_configuration(groups, found, target)
        tuned = _tuned(spec, program, default, trained, target, journal)
        again = remeasured(default, tuned.chosen, target)
    except (NoTileFits, ValueError) as error:
        raise ValueError(f"autotune '{spec['id']}', {where}: {error}") from error
    results, trace = compared(tuned, default.runtime_s)
    models = [*spec["tile_models"], *spec["fusion_models"]]
    notes = model_notes(models, trained, spec["workload"], spec["hardware"]["id"], target.datapath)
    return {
        "results.parquet": results,
        "trace.parquet": trace,
        "chosen.parquet": chosen_table(tuned.chosen, default),
        "instructions.parquet": instruction_table(program, tuned.chosen, default),
        "skipped.parquet": tuned.skipped,
        "summary.json": _summary(spec, default, tuned, results, notes, again),
        "configuration.json": configuration_file(
            program, tuned.chosen, default, spec["workload"], spec["hardware"]["id"]
        ),
        "listing.txt": listing(program, tuned.chosen),
        "difference.txt": difference(program, default, tuned.chosen),
    }


def default_configuration(groups: np.ndarray, found: ProgramKernels, target: Target) -> Configuration:
    """The kernels of a fusion configuration (`groups` int32[n]), each with its default tile.

    Raises NoTileFits, and ValueError for a kernel class that is not known and where the target can't run a kernel.
    """
    check_kernel_classes(found)
    for fingerprint, members in found.first_members(groups).items():
        target.occurs(fingerprint, members.tolist())
    schedules = target.default_schedule(found)
    measured = target.measure(found.kernels, schedules)
    failing = np.flatnonzero(measured.reason != Reason.OK)
    if len(failing):
        k = int(failing[0])
        raise ValueError(
            f"the target can't run the default tile of {len(failing)} of {found.kernels.number} kernels, first "
            f"'{found.roots[k]}': {Reason(measured.reason[k]).name}; without it there is nothing to compare with: "
            "leave the workload out, or give timeout_s more"
        )
    tile, counts = schedules.tile, target.tile_counts(found.kernels)
    return Configuration(groups, found, tile, measured.seconds, tile, measured.seconds, counts)


def check_kernel_classes(found: ProgramKernels) -> None:
    """Raise ValueError for a kernel whose class is not in the table: no model knows what it does."""
    unknown = np.flatnonzero(found.kernels.kernel_class >= len(KERNEL_CLASSES))
    if len(unknown):
        k = int(unknown[0])
        raise ValueError(
            f"kernel '{found.roots[k]}' is of the unknown class {found.kernels.kernel_class[k]}; known are "
            + ", ".join(f"{number} {name}" for number, name in enumerate(KERNEL_CLASSES))
        )


def _tuned(
    spec: Mapping[str, Any],
    program: Program,
    default: Configuration,
    trained: TrainedModels,
    target: Target,
    journal: Journal | None,
) -> Tuned:
    tile_models = strategies(spec["tile_models"], trained, spec["seeds"])
    if spec["task"] == "tiles":
        return tune_tiles(spec, default, tile_models, target)
    fused = tune_fusion(spec, program, strategies(spec["fusion_models"], trained, spec["seeds"]), target, journal)
    if spec["task"] == "fusion":
        return fused
    return _both(fused, tune_tiles(spec, fused.chosen, tile_models, target))


def tune_fusion(
    spec: Mapping[str, Any],
    program: Program,
    models: Mapping[str, Mapping[int, CostModel]],
    target: Target,
    journal: Journal | None = None,
) -> Tuned:
    """All strategies of the fusion autotuner; `models`: strategy to seed to model, the first one is the headline."""
    tuner, found = all_fusion_runs(spec, program, models, target, journal)
    results, headline = result_rows(found), next(iter(models), "analytical")
    best = best_result(results, headline)
    groups = tuner.space.group(found[int(best.name)].fuse)
    chosen = default_configuration(groups, extract(program, groups), target)
    skipped = skipped_rows(tuner, found, target)
    return Tuned(results, trace_rows(found), skipped, chosen, best, headline)


def _both(fused: Tuned, tiled: Tuned) -> Tuned:
    """Fusion first, then the tiles of the kernels that it chose; a strategy of tiles is named FUSION+TILES.

    The trace of the tiles begins at the target seconds where fusion has ended, which depend on the compile cost.
    """

    def named(table: pd.DataFrame) -> pd.DataFrame:
        strategy = table["strategy"]
        return table.assign(strategy=strategy.where(strategy == "exhaustive", fused.headline + "+" + strategy))

    dearer_s = tiled.trace["compile_cost_s"] - fused.best["compile_cost_s"]
    fusion_s = fused.best["target_s"] + dearer_s * fused.best["configurations"]
    trace = named(tiled.trace.assign(target_s=tiled.trace["target_s"] + fusion_s))
    best = tiled.best.copy()
    best["target_s"] += fused.best["target_s"]
    return Tuned(
        pd.concat([fused.results, named(tiled.results)], ignore_index=True),
        pd.concat([fused.trace, trace], ignore_index=True),
        pd.concat([fused.skipped, tiled.skipped], ignore_index=True).drop_duplicates(),
        tiled.chosen,
        best,
        f"{fused.headline}+{tiled.headline}",
    )


def _summary(
    spec: Mapping[str, Any],
    default: Configuration,
    tuned: Tuned,
    results: pd.DataFrame,
    notes: list[str],
    again: Remeasured | None,
) -> AutotuneSummary:
    best = results.loc[results["runtime_s"].idxmin()]
    sampled = int((default.tiles > spec["tiles_per_kernel"]).sum()) if spec["task"] != "fusion" else 0
    return AutotuneSummary(
        workload=spec["workload"],
        hardware=spec["hardware"]["id"],
        default_s=default.runtime_s,
        best_known_s=min(float(best["runtime_s"]), default.runtime_s),
        kernels=default.found.kernels.number,
        one_tile_kernels=int((default.tiles == 1).sum()),
        sampled_kernels=sampled,
        headline=tuned.headline,
        chosen_runtime_s=program_s(tuned.chosen.seconds, tuned.chosen.found.executions),
        chosen_target_s=float(tuned.best["target_s"]),
        best_known_by=str(best["strategy"]),
        remeasured=again,
        notes=[*notes, *result_notes(spec, default.tiles, sampled, tuned.skipped, results)],
    )
