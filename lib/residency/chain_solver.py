"""Chain dynamic programme with a Lagrange bound.

Only neighbours share a tensor, so activations are one bit an edge. Weights compete for what the activations leave: fix
the activation budget A (the most that any kernel takes with its resident activations), price a byte of weights at x
seconds, and the rest is a two-state dynamic programme over the chain:

    L(A, x) = min over placements with need <= A of sum(objective + x weight_bytes) - x (capacity - A)

No placement of budget A is better than L(A, x) for any x >= 0, and only the values that `need` takes matter for A. So
min over A of max over x of L(A, x) is a bound, and placements met on the way, their weights filled up, are solutions.
"""

import numpy as np
from numba import njit

PRICES = 30
"""Most prices of a byte that are tried at each activation budget."""
PRUNED_GAP = 1e-6
"""A budget whose bound lies within this share of the best solution is not looked at further."""


@njit(cache=True)
def _chain_minimum(objective, weight_bytes, may_stay, price, best, choice, placement) -> float:
    """Minimum of sum(objective + price * weight_bytes) and its uint8[n] `placement`; float64[n, 8] `objective` is
    infinite where a placement is not allowed. `best` (float64[n + 1, 2]) and `choice` (uint8[n, 2]) are working space.

    best[i, s]: kernels from i on, where s tells whether the output before i stays.
    """
    n = len(objective)
    best[n, 0], best[n, 1] = 0.0, np.inf
    for i in range(n - 1, -1, -1):
        pinned = price * weight_bytes[i]
        for stays in range(2):
            best[i, stays] = np.inf
            if stays == 1 and not may_stay[i]:
                continue
            for rest in range(4):
                bits = stays + 2 * rest
                value = objective[i, bits] + best[i + 1, rest >> 1]
                if rest & 1:
                    value += pinned
                if value < best[i, stays]:
                    best[i, stays] = value
                    choice[i, stays] = bits
    incoming = np.int64(0)
    for i in range(n):
        placement[i] = choice[i, incoming]
        incoming = np.int64(placement[i]) >> 2
    return best[0, 0]


@njit(cache=True)
def _pinned_bytes(placement, weight_bytes) -> np.int64:
    total = np.int64(0)
    for i in range(len(placement)):
        if placement[i] & 2:
            total += weight_bytes[i]
    return total


@njit(cache=True)
def _fill_weights(objective, weight_bytes, room, placement, density) -> float:
    """Choose the weights of `placement` anew for `room` bytes, by objective saved a byte; returns the objective.

    The activations stay as they are. `density`: float64[n] working space. After the densest that fit, one that does not
    is tried in place of everything chosen (with that a greedy knapsack is worth at least half). Weights without which
    the kernel would not keep to its budget are chosen first; the result is infinite where those do not fit.
    """
    n = len(placement)
    total = 0.0
    left = np.int64(room)
    for i in range(n):
        without, pinned = objective[i, placement[i] & 5], objective[i, placement[i] | 2]
        placement[i] &= 5
        density[i] = 0.0
        if without == np.inf:
            placement[i] |= 2
            left -= weight_bytes[i]
            total += pinned
        else:
            total += without
            if pinned < without:
                density[i] = (pinned - without) / weight_bytes[i]
    if left < 0:
        return np.inf
    single, single_gain, gain = -1, 0.0, 0.0
    spare = left
    for i in np.argsort(density):
        if density[i] >= 0:
            break
        saved = -density[i] * weight_bytes[i]
        if weight_bytes[i] <= left:
            left -= weight_bytes[i]
            gain += saved
            placement[i] |= 2
        elif weight_bytes[i] <= spare and saved > single_gain:
            single, single_gain = i, saved
    if single_gain > gain:
        for i in range(n):
            if density[i] < 0:
                placement[i] &= 5
        placement[single] |= 2
        gain = single_gain
    return total - gain


@njit(cache=True)
def _budgets(need, capacity) -> np.ndarray:
    """Activation budgets worth a look, falling: values of int64[n, 8] `need` that leave every kernel a placement."""
    least = np.int64(0)
    for i in range(len(need)):
        least = max(least, need[i].min())
    values = np.sort(need.ravel())
    budgets = np.empty(len(values), dtype=np.int64)
    count = 0
    for value in values[::-1]:
        if least <= value <= capacity and (count == 0 or value < budgets[count - 1]):
            budgets[count] = value
            count += 1
    return budgets[:count]


@njit(cache=True)
def solve_chain(objective, need, weight_bytes, may_stay, capacity) -> tuple[np.ndarray, float, float]:
    """Placement (uint8[n]), its objective and a lower bound of every placement's, for a checked problem.

    Arrays as in :class:`lib.residency.problem.ResidencyProblem`; `need` is its `need_bytes`.
    """
    n = len(objective)
    work, best, density = np.empty((n, 8)), np.empty((n + 1, 2)), np.empty(n)
    choice, placement = np.zeros((n, 2), dtype=np.uint8), np.zeros(n, dtype=np.uint8)
    incumbent = np.zeros(n, dtype=np.uint8)
    value = objective[:, 0].sum()
    bound = np.inf
    warm = 0.0
    for budget in _budgets(need, capacity):
        for i in range(n):
            for bits in range(8):
                allowed = need[i, bits] <= budget and (bits & 2 == 0 or weight_bytes[i] > 0)
                work[i, bits] = objective[i, bits] if allowed else np.inf
        room = capacity - budget
        relaxed = _chain_minimum(work, weight_bytes, may_stay, 0.0, best, choice, placement)
        if relaxed >= value:  # a smaller budget relaxes to more
            break
        if _pinned_bytes(placement, weight_bytes) <= room:
            value = relaxed
            incumbent[:] = placement
            break
        # L is concave in the price: the tangents at a price that is too low and one too high meet at the next to try.
        highest = relaxed
        low, low_value, low_slope = 0.0, relaxed, float(_pinned_bytes(placement, weight_bytes) - room)
        high, high_value, high_slope = np.inf, 0.0, 0.0
        price = warm if warm > 0 else relaxed / max(1, capacity)
        for _ in range(PRICES):
            lagrangian = _chain_minimum(work, weight_bytes, may_stay, price, best, choice, placement) - price * room
            slope = float(_pinned_bytes(placement, weight_bytes) - room)
            highest = max(highest, lagrangian)
            if highest >= value * (1 - PRUNED_GAP):
                break
            filled = _fill_weights(work, weight_bytes, room, placement, density)
            if filled < value:
                value = filled
                incumbent[:] = placement
            if slope > 0:
                low, low_value, low_slope = price, lagrangian, slope
            else:
                high, high_value, high_slope = price, lagrangian, slope
            if slope == 0 or highest >= value * (1 - PRUNED_GAP):
                break
            if high == np.inf:
                price *= 4
                continue
            price = (high_value - high_slope * high - low_value + low_slope * low) / (low_slope - high_slope)
            if not low < price < high or low_value + low_slope * (price - low) <= highest * (1 + 1e-12):
                break
        warm = price
        bound = min(bound, highest)
    return incumbent, value, min(bound, value)
