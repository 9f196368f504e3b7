"""What stands beside a learned model in every table and needs no training: the analytical model, the compiler's
default tile, chance, and what no model can beat, the noise of the labels."""

import numpy as np

from lib.dataset.shards import Shard
from lib.evaluation.metrics import TOP_COUNTS, expected_best_of_random
from lib.evaluation.outcomes import Outcome, picking_outcome, ranking_outcome, runtime_outcome


def tile_baselines(shard: Shard) -> dict[str, Outcome]:
    """`analytical` ranks by its own estimate, and so does `calibrated-analytical`, as one factor a kernel class changes
    no order within a kernel; `default` picks the default tile; `random` is the expected value over tiles drawn evenly
    without replacement, in closed form; `noise-floor`: see :func:`remeasured_s`."""
    rows, offset = shard.rows, shard.row_offset
    runtime_s = rows["runtime_s"].to_numpy()
    chance = {count: expected_best_of_random(offset, runtime_s, count) for count in TOP_COUNTS}
    estimated = ranking_outcome(shard, rows["analytical_s"].to_numpy())
    return {
        "analytical": estimated,
        "calibrated-analytical": estimated,
        "default": picking_outcome(shard, {1: runtime_s[rows["is_default"].to_numpy()]}),
        "random": picking_outcome(shard, chance),
        "noise-floor": ranking_outcome(shard, remeasured_s(shard)),
    }


def fusion_baselines(shard: Shard) -> dict[str, Outcome]:
    """The analytical estimate as it is, and with one factor a kernel class in the two ways of :func:`calibrated`;
    `noise-floor`: see :func:`remeasured_s`. There is one tile a kernel, so nothing to pick.

    The calibrated ones have no `program_error_pct`: they are fitted to the very runtimes that it is made of.
    """
    estimated_s = shard.rows["analytical_s"].to_numpy()
    actual_s = shard.rows["runtime_s"].to_numpy()
    kernel_class = shard.table["kernel_class"].to_numpy()
    executions = shard.table["default_executions"].to_numpy()
    outcomes = {"analytical": runtime_outcome(shard, estimated_s)}
    for name, logarithmic in (("calibrated-analytical", False), ("log-calibrated-analytical", True)):
        outcome = runtime_outcome(
            shard, calibrated(estimated_s, actual_s, kernel_class, executions, logarithmic=logarithmic)
        )
        del outcome.metrics["program_error_pct"]
        outcomes[name] = outcome
    return outcomes | {"noise-floor": runtime_outcome(shard, remeasured_s(shard))}


def remeasured_s(shard: Shard) -> np.ndarray:
    """float64[r]: what a model would say that knew all measurements but the row's own: the mean runtime of the other
    rows of the same kernel and tile, seconds.

    A row that was measured once says its own runtime, so where few were repeated the floor is too low. Simulated labels
    have no noise: each row says its own.
    """
    runtime_s = shard.rows["runtime_s"].to_numpy(np.float64)
    if shard.origin == "simulated":
        return runtime_s
    key = np.column_stack([shard.rows["kernel"].to_numpy(), shard.tiles])
    _, group = np.unique(key, axis=0, return_inverse=True)
    group = group.ravel()
    count = np.bincount(group)[group]
    others = np.bincount(group, weights=runtime_s)[group] - runtime_s
    return np.where(count > 1, others / np.maximum(count - 1, 1), runtime_s)


def calibrated(
    estimated_s: np.ndarray,
    actual_s: np.ndarray,
    kernel_class: np.ndarray,
    executions: np.ndarray,
    *,
    logarithmic: bool = False,
) -> np.ndarray:
    """float64[k] seconds: the estimates times one factor a kernel class.

    The factor comes from one run of the test program under its default fusion, in which kernel k runs
    `executions[k]` times: sum(actual) / sum(estimated) over the runs of the class (MLSys 2021, section 5.2),
    or with `logarithmic` the geometric mean of actual / estimated, which a few long kernels do not decide.
    NaN for kernels of a class that the default fusion does not have.
    """
    predicted_s = np.full(len(estimated_s), np.nan)
    for name in np.unique(kernel_class):
        members = kernel_class == name
        weight = executions[members]
        if not weight.any():
            continue
        estimated, actual = estimated_s[members], actual_s[members]
        if logarithmic:
            factor = np.exp(np.sum(weight * np.log(actual / estimated)) / np.sum(weight))
        else:
            factor = np.sum(weight * actual) / np.sum(weight * estimated)
        predicted_s[members] = factor * estimated
    return predicted_s
