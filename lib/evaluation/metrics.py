"""Metrics of predictions: pure functions of arrays.

Rows are sorted by kernel; `offset` (int64[k + 1]) cuts them into kernels of at least one row each. A *score*
orders the rows of a kernel, lower is faster; seconds are a score too. Equal scores are taken in row order.
Sources: Kaufman et al., "A Learned Performance Model for Tensor Processing Units", MLSys 2021 (APE, MAPE,
Kendall's tau); Phothilimthana et al., "TpuGraphs", NeurIPS 2023 (top-K regret).
"""

from collections.abc import Sequence

import numpy as np
from numba import njit

TOP_COUNTS = (1, 5, 10)
"""How many tiles a tuner may try, for the regret."""
SHORT_S = 5e-6
"""Kernels below it, seconds, are reported apart: they add little to a program's time (MLSys 2021, section 5.2)."""
APART = 0.01
"""Relative difference above which two runtimes count as different for Kendall's tau (a ratio)."""
MINIMUM_PAIRS = 2
"""Fewer pairs that differ say nothing about an order."""
FLOOR_PCT = 0.1
"""Errors below it count as this much in geometric means, percent: a perfect program would make the mean 0."""


def is_error(metric: str) -> bool:
    """Whether less is better: errors in percent. The others are rank correlations."""
    return metric.endswith("_pct")


def tile_ape_pct(picked_s: np.ndarray, best_s: np.ndarray, executions: np.ndarray) -> float:
    """Tile-size APE of a program, percent: how much longer it runs with the picked tiles than with the best.

    100 * sum_k n_k |t_k(picked) - t_k(best)| / sum_k n_k t_k(best), from float64[k] seconds of each kernel
    and the times that the program executes it (MLSys 2021, section 5.1; the paper's sum runs over the
    kernels of the program, ours over the distinct ones, hence n_k). NaN without kernels.
    """
    if not len(best_s):
        return float("nan")
    return float(100 * np.sum(executions * np.abs(picked_s - best_s)) / np.sum(executions * best_s))


def regret_pct(picked_s: np.ndarray, best_s: np.ndarray) -> float:
    """Mean over kernels of how much slower the picked tile is than the best one, percent (TpuGraphs, section
    4.1: best of the top K / best - 1). Every kernel counts alike, however short. NaN without kernels."""
    if not len(best_s):
        return float("nan")
    return float(100 * np.mean(picked_s / best_s - 1))


def mape_pct(runtime_s: np.ndarray, predicted_s: np.ndarray) -> float:
    """Mean absolute percentage error over kernels, percent. NaN without kernels."""
    if not len(runtime_s):
        return float("nan")
    return float(100 * np.mean(np.abs(predicted_s - runtime_s) / runtime_s))


def program_error_pct(runtime_s: np.ndarray, predicted_s: np.ndarray, executions: np.ndarray) -> float:
    """Absolute error of the program's runtime (sum over kernels of seconds x executions), percent.

    NaN without kernels, or where one that runs has no prediction.
    """
    runs = executions > 0
    runtime_s, predicted_s, executions = runtime_s[runs], predicted_s[runs], executions[runs]
    if not len(runtime_s):
        return float("nan")
    actual = np.sum(executions * runtime_s)
    return float(100 * abs(np.sum(executions * predicted_s) - actual) / actual)


def geometric_mean_pct(errors_pct: Sequence[float]) -> float:
    """Geometric mean of errors in percent, each floored at `FLOOR_PCT`; at least one."""
    return float(np.exp(np.log(np.maximum(errors_pct, FLOOR_PCT)).mean()))


@njit(cache=True)
def best_of_top(offset: np.ndarray, runtime_s: np.ndarray, score: np.ndarray, count: int) -> np.ndarray:
    """float64[k]: least runtime among the `count` rows of each kernel that the score puts first."""
    best = np.empty(len(offset) - 1)
    for kernel in range(len(best)):
        rows = slice(offset[kernel], offset[kernel + 1])
        first = np.argsort(score[rows], kind="mergesort")[:count]
        best[kernel] = runtime_s[rows][first].min()
    return best


@njit(cache=True)
def expected_best_of_random(offset: np.ndarray, runtime_s: np.ndarray, count: int) -> np.ndarray:
    """float64[k]: expected least runtime among `count` distinct rows of each kernel drawn at random.

    With runtimes t_0 <= ... <= t_(n-1), t_i is the least of the draw with probability
    C(n - 1 - i, count - 1) / C(n, count); one draw gives the mean.
    """
    expected = np.empty(len(offset) - 1)
    for kernel in range(len(expected)):
        ascending = np.sort(runtime_s[offset[kernel] : offset[kernel + 1]])
        n = len(ascending)
        if n <= count:
            expected[kernel] = ascending[0]
            continue
        probability, total = count / n, 0.0
        for i in range(n - count + 1):
            if i > 0:
                probability *= (n - count - i + 1) / (n - i)
            total += probability * ascending[i]
        expected[kernel] = total
    return expected


@njit(cache=True)
def kendall(runtime_s: np.ndarray, score: np.ndarray) -> tuple[float, float, int]:
    """(tau, tau-b, pairs) of one group of rows.

    tau = (concordant - discordant) / pairs over the pairs whose true runtimes differ by more than `APART` of
    the smaller one; a pair with equal scores is neither. tau-b = (concordant - discordant) /
    sqrt((all - tied runtimes) * (all - tied scores)) over all pairs (Kendall 1945), 0 where all runtimes or
    all scores are equal. Without pairs tau is NaN.
    """
    rows = len(runtime_s)
    apart, order_apart, order, tied_runtime, tied_score = 0, 0, 0, 0, 0
    for i in range(rows):
        for j in range(i):
            difference = runtime_s[i] - runtime_s[j]
            agreement = np.sign(difference) * np.sign(score[i] - score[j])
            order += agreement
            tied_runtime += difference == 0
            tied_score += score[i] == score[j]
            if abs(difference) > APART * min(runtime_s[i], runtime_s[j]):
                apart += 1
                order_apart += agreement
    pairs = rows * (rows - 1) // 2
    untied = float(pairs - tied_runtime) * float(pairs - tied_score)
    tau_b = order / np.sqrt(untied) if untied > 0 else 0.0
    tau = order_apart / apart if apart else np.nan
    return tau, tau_b, apart


@njit(cache=True)
def kendall_by_kernel(
    offset: np.ndarray, runtime_s: np.ndarray, score: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """float64[k] tau, float64[k] tau-b, int64[k] pairs of each kernel, see :func:`kendall`."""
    kernels = len(offset) - 1
    tau, tau_b, pairs = np.empty(kernels), np.empty(kernels), np.empty(kernels, dtype=np.int64)
    for kernel in range(kernels):
        rows = slice(offset[kernel], offset[kernel + 1])
        tau[kernel], tau_b[kernel], pairs[kernel] = kendall(runtime_s[rows], score[rows])
    return tau, tau_b, pairs
