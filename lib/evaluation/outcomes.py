"""What one model's predictions for one test program come to: every metric, and the runtimes behind it."""

from typing import NamedTuple

import numpy as np

from lib.dataset.shards import Shard
from lib.evaluation.metrics import (
    MINIMUM_PAIRS,
    SHORT_S,
    TOP_COUNTS,
    best_of_top,
    kendall,
    kendall_by_kernel,
    mape_pct,
    program_error_pct,
    regret_pct,
    tile_ape_pct,
)


class Metric(NamedTuple):
    """One number about one program."""

    value: float
    """NaN where no kernel counts."""
    kernels: int
    """Kernels that count."""
    left_out: int
    """Kernels that should count but cannot: without a prediction, or with too few pairs to order."""


class Outcome(NamedTuple):
    """All metrics of a model on a shard."""

    metrics: dict[str, Metric]
    predicted_s: np.ndarray
    """float64[k]. Tile task: true runtime of the tile that the model picks. Fusion task: predicted runtime,
    NaN where the model has none."""


def best_tiles_s(shard: Shard) -> np.ndarray:
    """float64[k]: runtime of each kernel's best tile among the shard's rows, seconds."""
    return np.minimum.reduceat(shard.rows["runtime_s"].to_numpy(), shard.row_offset[:-1])


def ranking_outcome(shard: Shard, score: np.ndarray) -> Outcome:
    """Tile task: what a score (float64[r], lower is faster) of every row comes to."""
    score = checked_predictions(score, len(shard.rows))
    offset, runtime_s = shard.row_offset, shard.rows["runtime_s"].to_numpy()
    picks = {count: best_of_top(offset, runtime_s, score, count) for count in TOP_COUNTS}
    picked = picking_outcome(shard, picks)
    tau, tau_b, pairs = kendall_by_kernel(offset, runtime_s, score)
    counts = pairs >= MINIMUM_PAIRS
    kernels, left_out = int(counts.sum()), int((~counts).sum())
    orders = {
        "kendall_tau": Metric(_mean(tau[counts]), kernels, left_out),
        "tau_b": Metric(_mean(tau_b[counts]), kernels, left_out),
    }
    return Outcome(picked.metrics | orders, picked.predicted_s)


def picking_outcome(shard: Shard, picks_s: dict[int, np.ndarray]) -> Outcome:
    """Tile task: what picking tiles comes to, without an order of the rest.

    `picks_s`: float64[k] true runtime of the best of the first N tiles picked, by N; N = 1 must be there.
    """
    best_s = best_tiles_s(shard)
    executions = shard.table["default_executions"].to_numpy()
    kernels = len(best_s)
    metrics = {"ape_pct": Metric(tile_ape_pct(picks_s[1], best_s, executions), kernels, 0)}
    for count, picked_s in picks_s.items():
        metrics[f"top{count}_regret_pct"] = Metric(regret_pct(picked_s, best_s), kernels, 0)
    return Outcome(metrics, picks_s[1])


def runtime_outcome(shard: Shard, predicted_s: np.ndarray) -> Outcome:
    """Fusion task: what predicted runtimes (float64[k] seconds, NaN: none) come to.

    Kernels of `SHORT_S` or longer make `mape_pct` and the rank correlations, shorter ones `mape_short_pct`;
    the program's error is that of the default fusion, all kernels.
    """
    runtime_s = shard.rows["runtime_s"].to_numpy()
    executions = shard.table["default_executions"].to_numpy()
    known = np.isfinite(predicted_s)
    metrics = {}
    for name, group in (("mape_pct", runtime_s >= SHORT_S), ("mape_short_pct", runtime_s < SHORT_S)):
        used = group & known
        value = mape_pct(runtime_s[used], predicted_s[used])
        metrics[name] = Metric(value, int(used.sum()), int((group & ~known).sum()))
    long = (runtime_s >= SHORT_S) & known
    tau, tau_b, pairs = kendall(runtime_s[long], predicted_s[long])
    enough = pairs >= MINIMUM_PAIRS
    kernels, left_out = metrics["mape_pct"].kernels, metrics["mape_pct"].left_out
    metrics["kendall_tau"] = Metric(tau if enough else np.nan, kernels, left_out)
    metrics["tau_b"] = Metric(tau_b if enough else np.nan, kernels, left_out)
    runs = executions > 0
    metrics["program_error_pct"] = Metric(
        program_error_pct(runtime_s, predicted_s, executions), int((runs & known).sum()), int((runs & ~known).sum())
    )
    return Outcome(metrics, predicted_s)


def checked_predictions(values: np.ndarray, rows: int) -> np.ndarray:
    """The values as float64[rows]. Raises ValueError where a row has no finite prediction."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (rows,):
        raise ValueError(f"{rows} rows to predict, got predictions of shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"the prediction of row {int((~np.isfinite(values)).argmax())} is not finite")
    return values


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
