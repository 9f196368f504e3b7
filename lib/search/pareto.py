"""Designs that no other design beats in everything."""

import numpy as np
from numba import njit


@njit(cache=True)
def dominated_by(costs: np.ndarray, others: np.ndarray) -> np.ndarray:
    """bool[n]: whether some row of `others` (float64[m, d], all to be made small) is as good as the row of `costs`
    (float64[n, d]) in every column and better in one. Rows of `others` with NaN dominate nothing."""
    beaten = np.zeros(len(costs), dtype=np.bool_)
    for i in range(len(costs)):
        for j in range(len(others)):
            as_good, better = True, False
            for c in range(costs.shape[1]):
                if not others[j, c] <= costs[i, c]:
                    as_good = False
                    break
                if others[j, c] < costs[i, c]:
                    better = True
            if as_good and better:
                beaten[i] = True
                break
    return beaten


def non_dominated(costs: np.ndarray) -> np.ndarray:
    """bool[n]: whether no other row of `costs` (float64[n, d], all to be made small) is as good in every column
    and better in one. Rows with NaN are False and dominate nothing; equal rows are all kept."""
    kept = ~np.isnan(costs).any(axis=1)
    usable = np.ascontiguousarray(costs[kept], dtype=np.float64)
    kept[kept] = ~dominated_by(usable, usable)
    return kept
