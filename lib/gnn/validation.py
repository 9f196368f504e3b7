"""The figures by which training is stopped: over validation programs only."""

import numpy as np

from lib.gnn.examples import Examples

SMALLEST_APE_PCT = 0.1
"""APE is floored at this in geometric means."""
FUSION_FLOOR_S = 5e-6
"""Kernels below this add little to a program's time and are left out of MAPE (Kaufman et al. 2021)."""


def tile_ape_pct(examples: Examples, score: np.ndarray) -> float:
    """Tile-size APE: geometric mean over shards of how much longer the picked tiles take than the best.

    Kernels count as often as the default fusion runs them. `score`: [r], lower means faster.
    """
    first = examples.row_offset[:-1]
    filled = np.flatnonzero(np.diff(examples.row_offset) > 0)
    starts = first[filled]
    best = np.minimum.reduceat(examples.runtime_s, starts)
    lowest = np.repeat(np.minimum.reduceat(score, starts), np.diff(examples.row_offset)[filled])
    picked = np.flatnonzero(score == lowest)
    row_kernel = examples.row_kernel[picked]
    picked = picked[np.flatnonzero(np.diff(row_kernel, prepend=-1))]
    weight = np.maximum(examples.executions[filled], 1)
    shard = examples.shard[filled]
    lost = np.bincount(shard, weight * (examples.runtime_s[picked] - best))
    least = np.bincount(shard, weight * best)
    ape = 100.0 * lost[least > 0] / least[least > 0]
    return float(np.exp(np.log(np.maximum(ape, SMALLEST_APE_PCT)).mean()))


def fusion_mape_pct(examples: Examples, predicted_s: np.ndarray) -> float:
    """Geometric mean over shards of the mean absolute error of kernels of 5 us and more (of all, without any)."""
    long = examples.runtime_s >= FUSION_FLOOR_S
    if not long.any():
        long[:] = True
    error = 100.0 * np.abs(predicted_s - examples.runtime_s) / examples.runtime_s
    shard = examples.shard[examples.row_kernel]
    count = np.bincount(shard[long])
    mape = np.bincount(shard[long], error[long])[count > 0] / count[count > 0]
    return float(np.exp(np.log(np.maximum(mape, SMALLEST_APE_PCT)).mean()))
