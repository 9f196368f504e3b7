"""What an autotuner of either kind returns, and how its rows get their speedup and regret."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.autotune.configuration import Configuration
from lib.cost.cost_model import Reason
from lib.program.kernels import KERNEL_CLASSES, Kernels
from schemas.autotune_artifact import RESULT_COLUMNS, SKIPPED_COLUMNS, TRACE_COLUMNS
from schemas.dataset_artifact import TILE_COLUMNS

ROUNDING_PCT = 1e-9
"""Runtimes that are sums of the same kernels in another order differ by less."""


class Tuned(NamedTuple):
    """Tables with the columns of `schemas.autotune_artifact`, but for those that :func:`compared` adds."""

    results: pd.DataFrame
    """RESULT_COLUMNS without `speedup` and `regret_pct`."""
    trace: pd.DataFrame
    """TRACE_COLUMNS without `speedup`."""
    skipped: pd.DataFrame
    """SKIPPED_COLUMNS, each configuration once."""
    chosen: Configuration
    """Of the headline strategy."""
    best: pd.Series
    """The row of `results` that it is of; its `target_s` are of all stages."""
    headline: str
    """The headline strategy."""


def run_key(stage: str, strategy: str, start: str, seed: int, compile_cost_s: float, budget_s: float) -> dict[str, Any]:
    """The columns that tell one run of a strategy from another; `budget_s` NaN: not limited."""
    return {
        "stage": stage,
        "strategy": strategy,
        "start": start,
        "seed": seed,
        "compile_cost_s": compile_cost_s,
        "budget_s": budget_s,
    }


def best_result(results: pd.DataFrame, strategy: str) -> pd.Series:
    """The row of a strategy with the least runtime at the first compile cost; of equal ones that with the fewest target
    seconds, then the first."""
    rows = results[results["strategy"] == strategy]
    first_cost = rows[rows["compile_cost_s"] == rows["compile_cost_s"].iloc[0]]
    return first_cost.sort_values(["runtime_s", "target_s"], kind="stable").iloc[0]


def compared(tuned: Tuned, default_s: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`results` and `trace` with all columns: speedup over the default configuration (runtime `default_s`), and regret
    to the least runtime of the stage."""
    best = tuned.results.groupby("stage")["runtime_s"].transform("min")
    regret_pct = (tuned.results["runtime_s"] / best - 1.0) * 100.0
    regret_pct = regret_pct.where(regret_pct > ROUNDING_PCT, 0.0)
    results = tuned.results.assign(speedup=default_s / tuned.results["runtime_s"], regret_pct=regret_pct)
    trace = tuned.trace.assign(speedup=default_s / tuned.trace["runtime_s"])
    return typed(results, RESULT_COLUMNS), typed(trace, TRACE_COLUMNS)


def typed(table: pd.DataFrame, columns: dict) -> pd.DataFrame:
    """The table with exactly these columns, in their order and types."""
    return pd.DataFrame(
        {
            name: table[name].astype(object if column.dtype == "string" else np.dtype(column.dtype))
            for name, column in columns.items()
        }
    )


def skipped_table(
    kernels: Kernels, root: Sequence[str], kernel: np.ndarray, tile: np.ndarray, reason: np.ndarray
) -> pd.DataFrame:
    """SKIPPED_COLUMNS of the r configurations that the target could not run.

    `root`: name of each kernel's root; `kernel`: int[r]; `tile`: int32[r, 8]; `reason`: uint8[r].
    """
    columns = {
        "root": [root[k] for k in kernel],
        "kernel_class": [KERNEL_CLASSES[kernels.kernel_class[k]] for k in kernel],
        "fingerprint": [kernels.fingerprint[k] for k in kernel],
        **{name: tile[:, slot] for slot, name in enumerate(TILE_COLUMNS)},
        "reason": [Reason(number).name for number in reason],
    }
    return typed(pd.DataFrame(columns), SKIPPED_COLUMNS)
