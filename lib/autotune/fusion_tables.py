"""The fusion autotuner's part of an entry of `autotune:`: all strategies, their tables and the configuration chosen."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib.autotune.fusion import FusionRun, FusionTuner, fusion_runs
from lib.autotune.fusion_kernels import DefaultTilePrice
from lib.autotune.fusion_target import runs_on
from lib.autotune.target import Prices, Target, failed
from lib.autotune.tuned import run_key, skipped_table
from lib.cost.analytical import Analytical
from lib.cost.cost_model import CostModel, Reason
from lib.journal import Journal
from lib.program.program import Program
from lib.schedule.default import default_tiles
from schemas.dataset_artifact import TILE_COLUMNS


def all_fusion_runs(
    spec: Mapping[str, Any],
    program: Program,
    models: Mapping[str, Mapping[int, CostModel]],
    target: Target,
    journal: Journal | None = None,
) -> tuple[FusionTuner, list[FusionRun]]:
    """Every strategy with every seed, start, budget and compile cost of the resolved entry `spec`.

    `models`: strategy to seed to model. The analytical model is a strategy too. Raises ValueError for a model that
    gives no seconds, and where the target can't run a start.
    """
    analytical = DefaultTilePrice(Analytical(), target.datapath)
    kept = journal.folder / "fusion" if journal is not None else None
    tuner = FusionTuner(program, runs_on(target), kept, target.occurs)
    charges = [Prices(cost, spec["repeats"], spec["timeout_s"]) for cost in spec["compile_costs_s"]]
    found: list[FusionRun] = []
    for seed in spec["seeds"]:
        priced = [(name, DefaultTilePrice(of_seed[seed], target.datapath)) for name, of_seed in models.items()]
        found += fusion_runs(
            tuner, [*priced, ("analytical", analytical)], starts=spec["starts"], seed=seed,
            budgets_s=spec["budgets_s"], prices=charges, chains=spec["chains"], rounds=spec["rounds"],
        )  # fmt: skip
    return tuner, found


def result_rows(found: Sequence[FusionRun]) -> pd.DataFrame:
    """RESULT_COLUMNS without those that compare, a row a run."""
    return pd.DataFrame(
        [
            {
                **_key(run),
                "top": 0,
                "runtime_s": run.seconds,
                "ranked_regret_pct": np.nan,
                "configurations": len(run.compiled),
                "target_runs": sum(one.runs for one in run.compiled),
                "target_s": run.target_s,
                "failed": int(failed(np.array([one.reason for one in run.compiled], dtype=np.uint8)).sum()),
                "timed_out": sum(one.reason == Reason.TIMED_OUT for one in run.compiled),
                "moves": run.moves,
            }
            for run in found
        ]
    )


def trace_rows(found: Sequence[FusionRun]) -> pd.DataFrame:
    """TRACE_COLUMNS without those that compare: each improvement of a run, and its end."""
    return pd.DataFrame(
        [
            {**_key(run), "target_s": target_s, "runtime_s": runtime_s}
            for run in found
            for target_s, runtime_s in [
                *((i.target_s, i.seconds) for i in run.improvements),
                (run.target_s, run.seconds),
            ]
        ]
    )


def skipped_rows(tuner: FusionTuner, found: Sequence[FusionRun], target: Target) -> pd.DataFrame:
    """SKIPPED_COLUMNS: kernels, with their default tiles, that the target could not run."""
    reasons = {one.number: one.reason for run in found for one in run.compiled if one.reason != Reason.OK}
    numbers = list(reasons)
    kernels = tuner.kernels.kernels(numbers)
    tile = default_tiles(kernels, target.datapath)[0] if numbers else np.empty((0, len(TILE_COLUMNS)), dtype=np.int32)
    root, reason = [tuner.kernels.root[number] for number in numbers], np.array([*reasons.values()], dtype=np.uint8)
    return skipped_table(kernels, root, np.arange(len(numbers)), tile, reason)


def _key(run: FusionRun) -> dict[str, Any]:
    return run_key("fusion", run.strategy, run.start, run.seed, run.compile_cost_s, run.budget_s)
