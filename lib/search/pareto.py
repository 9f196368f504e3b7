"""Designs that no other design beats in everything."""

import numpy as np
from numba import njit


@njit(cache=True)
def non_dominated(costs: np.ndarray) -> np.ndarray:
    """bool[n]: whether no other row of `costs` (float64[n, d], all to be made small) is as good in every column
    and better in one. Rows with NaN are False and dominate nothing; equal rows are all kept."""
    count, columns = costs.shape
    kept = np.ones(count, dtype=np.bool_)
    for i in range(count):
        kept[i] = not np.isnan(costs[i]).any()
    usable = kept.copy()
    for i in range(count):
        if not usable[i]:
            continue
        for j in range(count):
            if i == j or not usable[j]:
                continue
            as_good, better = True, False
            for c in range(columns):
                if costs[j, c] > costs[i, c]:
                    as_good = False
                    break
                if costs[j, c] < costs[i, c]:
                    better = True
            if as_good and better:
                kept[i] = False
                break
    return kept
