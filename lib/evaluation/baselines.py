"""What stands beside a learned model in every table: the analytical model, the compiler's default tile, chance, and
what no model can beat, the noise of the labels; of measured labels also a roofline and the simulator."""

import numpy as np

from lib.cost.cost_model import Reason
from lib.cost.simulator import Simulator
from lib.dataset.shards import Shard
from lib.evaluation.metrics import TOP_COUNTS, expected_best_of_random
from lib.evaluation.outcomes import Outcome, picking_outcome, ranking_outcome, runtime_outcome
from lib.evaluation.roofline import COLUMNS, Roofline
from lib.schedule.schedules import schedules_for_tiles


def tile_baselines(shard: Shard) -> dict[str, Outcome]:
    """`analytical` ranks by its own estimate, and so does `calibrated-analytical`, as one factor a kernel class changes
    no order within a kernel; `default` picks the default tile; `random` is the expected value over tiles drawn evenly
    without replacement, in closed form; `noise-floor`: see :func:`remeasured_s`; `simulator`: see
    :func:`simulated_s`. Where the hardware has no datapath, those that estimate are missing."""
    rows, offset = shard.rows, shard.row_offset
    runtime_s = rows["runtime_s"].to_numpy()
    chance = {count: expected_best_of_random(offset, runtime_s, count) for count in TOP_COUNTS}
    estimates = {}
    if shard.has_estimate:
        estimated = ranking_outcome(shard, rows["analytical_s"].to_numpy())
        estimates = {"analytical": estimated, "calibrated-analytical": estimated}
        if (seconds := simulated_s(shard)) is not None:
            estimates["simulator"] = ranking_outcome(shard, seconds)
    return {
        **estimates,
        "default": picking_outcome(shard, {1: runtime_s[rows["is_default"].to_numpy()]}),
        "random": picking_outcome(shard, chance),
        "noise-floor": ranking_outcome(shard, remeasured_s(shard)),
    }


def fusion_baselines(shard: Shard, roofline: Roofline | None = None) -> dict[str, Outcome]:
    """The analytical estimate as it is, and with one factor a kernel class in the two ways of :func:`calibrated`;
    `roofline` on XLA's cost analysis; `simulator`: see :func:`simulated_s`; `noise-floor`: see :func:`remeasured_s`.
    There is one tile a kernel, so nothing to pick. Where the hardware has no datapath, those that estimate are missing.

    The calibrated ones have no `program_error_pct`: they are fitted to the very runtimes that it is made of.
    """
    outcomes = _estimates(shard) if shard.has_estimate else {}
    if roofline is not None and set(COLUMNS) <= set(shard.rows):
        outcomes["roofline"] = runtime_outcome(shard, roofline.seconds(shard.rows))
    if (seconds := simulated_s(shard)) is not None:
        outcomes["simulator"] = runtime_outcome(shard, seconds)
    return outcomes | {"noise-floor": runtime_outcome(shard, remeasured_s(shard))}


def _estimates(shard: Shard) -> dict[str, Outcome]:
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
    return outcomes


def simulated_s(shard: Shard) -> np.ndarray | None:
    """float64[r]: what the simulator says of measured rows, on the datapath that is said to be the device's: how far a
    simulator is off that nothing was fitted to. None of labels that are not measured, and without a datapath.

    Rows that it refuses have the longest time of their shard.
    """
    if shard.origin != "measured" or not shard.has_estimate:
        return None
    schedules = schedules_for_tiles(shard.rows["kernel"].to_numpy(np.int32), shard.tiles)
    costs = Simulator().cost(shard.kernels, schedules, shard.datapath)
    fits = costs.reason == Reason.OK
    return np.where(fits, costs.value, costs.value[fits].max()) if fits.any() else None


def remeasured_s(shard: Shard) -> np.ndarray:
    """float64[r]: what a model would say that knew another measurement of each row and nothing else, seconds: of
    measured labels, of which each is the fastest of several passes, the slowest pass; else the mean runtime of the
    other rows of the same kernel and tile.

    A row that was measured once says its own runtime, so where few were repeated the floor is too low. Simulated labels
    have no noise: each row says its own.
    """
    runtime_s = shard.rows["runtime_s"].to_numpy(np.float64)
    if shard.origin == "simulated":
        return runtime_s
    if "repeat_s" in shard.rows:
        return shard.rows["repeat_s"].to_numpy(np.float64)
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
