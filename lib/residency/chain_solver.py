"""Chain dynamic programme with a Lagrange bound.

Only neighbours share a tensor, so activations are one bit an edge. Weights compete for what the activations leave: fix
the activation budget A (the most that any kernel takes with its resident activations), price a byte of weights at x
seconds, and the rest is a two-state dynamic programme over the chain:

    L(A, x) = min over placements with need <= A of sum(objective + x weight_bytes) - x (capacity - A)

No placement of budget A is better than L(A, x) for any x >= 0, and only the values that `need` takes matter for A. So
min over A of max over x of L(A, x) is a bound, and placements met on the way, their weights filled up, are solutions.
Where kernels have a choice of schedules, each takes the best that keeps to the budget. Many values of A that are close
together are looked at as one: what is allowed by the largest, the room that the smallest leaves.
"""

import numpy as np
from numba import njit

PRICES = 30
"""Most prices of a byte that are tried at each activation budget."""
PRUNED_GAP = 1e-6
"""A budget whose bound lies within this share of the best solution is not looked at further."""
MOST_BUDGETS = 512
"""Where there are more, those that lie within this fraction of the capacity of each other are looked at as one."""


@njit(cache=True)
def _chain_minimum(objective, weight_bytes, may_stay, price, best, decision, placement) -> float:
    """Minimum of sum(objective + price * weight_bytes) and its uint8[n] `placement`; float64[n, 8] `objective` is
    infinite where a placement is not allowed. `best` (float64[n + 1, 2]), `decision` (uint8[n, 2]): working space.

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
                    decision[i, stays] = bits
    incoming = np.int64(0)
    for i in range(n):
        placement[i] = decision[i, incoming]
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
    """int64[b, 2] activation budgets worth a look, falling: the largest and smallest of each group of values of `need`
    (int64[n, 8, r]) that leave every kernel a placement."""
    least = np.int64(0)
    for i in range(len(need)):
        least = max(least, need[i].min())
    values = np.unique(need)
    values = values[(values >= least) & (values <= capacity)][::-1]
    width = capacity // MOST_BUDGETS if len(values) > MOST_BUDGETS else 0
    budgets = np.empty((len(values), 2), dtype=np.int64)
    count = 0
    for value in values:
        if count > 0 and budgets[count - 1, 0] - value <= width:
            budgets[count - 1, 1] = value
        else:
            budgets[count] = value
            count += 1
    return budgets[:count]


@njit(cache=True)
def _best_choices(objective, need, weight_bytes, budget, work, row) -> None:
    """Fill float64[n, 8] `work` with the least objective within the budget (infinite: none), `row` with its choice."""
    for i in range(len(objective)):
        for bits in range(8):
            work[i, bits] = np.inf
            if bits & 2 and weight_bytes[i] == 0:
                continue
            for choice in range(objective.shape[2]):
                if need[i, bits, choice] <= budget and objective[i, bits, choice] < work[i, bits]:
                    work[i, bits] = objective[i, bits, choice]
                    row[i, bits] = choice


@njit(cache=True)
def _chosen(row, placement, choice) -> None:
    """Fill int64[n] `choice` from int64[n, 8] `row`, the choice by placement."""
    for i in range(len(placement)):
        choice[i] = row[i, placement[i]]


@njit(cache=True)
def _room(placement, choice, need, capacity) -> np.int64:
    """Bytes that the activations of a placement leave for weights."""
    most = np.int64(0)
    for i in range(len(placement)):
        most = max(most, need[i, placement[i], choice[i]])
    return capacity - most


@njit(cache=True)
def solve_chain(objective, need, weight_bytes, may_stay, capacity) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Placement (uint8[n]), choice of schedule (int64[n]), their objective and a lower bound of every other's.

    For a checked problem; `objective` float64[n, 8, r] and `need` int64[n, 8, r], the other arrays as in
    :class:`lib.residency.problem.ResidencyProblem`.
    """
    n = len(objective)
    work, best, density = np.empty((n, 8)), np.empty((n + 1, 2)), np.empty(n)
    row = np.zeros((n, 8), dtype=np.int64)
    decision, placement = np.zeros((n, 2), dtype=np.uint8), np.zeros(n, dtype=np.uint8)
    incumbent, incumbent_choice = np.zeros(n, dtype=np.uint8), np.zeros(n, dtype=np.int64)
    choice = np.zeros(n, dtype=np.int64)
    _best_choices(objective, need, weight_bytes, capacity, work, row)
    value = work[:, 0].sum()
    _chosen(row, incumbent, incumbent_choice)
    bound = np.inf
    warm = 0.0
    for largest, smallest in _budgets(need, capacity):
        _best_choices(objective, need, weight_bytes, largest, work, row)
        room = capacity - smallest
        relaxed = _chain_minimum(work, weight_bytes, may_stay, 0.0, best, decision, placement)
        if relaxed >= value:  # a smaller budget relaxes to more
            break
        pinned = _pinned_bytes(placement, weight_bytes)
        _chosen(row, placement, choice)
        if pinned <= _room(placement, choice, need, capacity):
            value = relaxed
            incumbent[:] = placement
            _chosen(row, incumbent, incumbent_choice)
            break
        filled = _fill_weights(work, weight_bytes, capacity - largest, placement, density)
        if filled < value:
            value = filled
            incumbent[:] = placement
            _chosen(row, incumbent, incumbent_choice)
        # L is concave in the price: the tangents at a price that is too low and one too high meet at the next to try.
        highest = relaxed
        low, low_value, low_slope = 0.0, relaxed, float(pinned - room)
        high, high_value, high_slope = np.inf, 0.0, 0.0
        price = warm if warm > 0 else relaxed / max(1, capacity)
        for _ in range(PRICES if low_slope > 0 else 0):
            lagrangian = _chain_minimum(work, weight_bytes, may_stay, price, best, decision, placement) - price * room
            slope = float(_pinned_bytes(placement, weight_bytes) - room)
            highest = max(highest, lagrangian)
            if highest >= value * (1 - PRUNED_GAP):
                break
            filled = _fill_weights(work, weight_bytes, capacity - largest, placement, density)
            if filled < value:
                value = filled
                incumbent[:] = placement
                _chosen(row, incumbent, incumbent_choice)
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
    # Weights once more in the very room that the best activations leave.
    room = _room(incumbent, incumbent_choice, need, capacity)
    _best_choices(objective, need, weight_bytes, capacity - room, work, row)
    placement[:] = incumbent
    filled = _fill_weights(work, weight_bytes, room, placement, density)
    if filled < value:
        value = filled
        incumbent[:] = placement
        _chosen(row, incumbent, incumbent_choice)
    return incumbent, incumbent_choice, value, min(bound, value)
