"""A programme over time with a Lagrange bound: :mod:`lib.residency.chain_solver`, for tensors that stay longer.

As there, weights meet the tensors only by what they take in sum. Let kernels and the tensors that stay take at most A
and price a byte of weights at x seconds; then what is left is a dynamic programme over the states of
:mod:`lib.residency.lives`, whose minimum

    L(A, x) = min over placements with need <= A of sum(objective + x weight_bytes) - x (capacity - A)

bounds everything that uses at most A. Of all A from `low` to `high`, the programme of `high` with the room for weights
that `low` leaves is a bound. Intervals of A are halved, that of the least bound first, until the best placement met on
the way is proven to be good enough.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.residency.lifetime_options import OUTCOMES, STAYS, STAYS_AND_WRITTEN, WRITTEN, Options
from lib.residency.lifetime_problem import NOWHERE, LifetimePlacement, LifetimeProblem
from lib.residency.lives import Reads, States
from lib.schedule.borrowed import borrowed

PRICES = 12
"""Most prices of a byte that are tried in an interval."""
MOST_INTERVALS = 64
"""That are looked at; each halving adds two."""
PRICED_WELL = 1e-7
"""A price is good enough where a better one would raise the bound by less than this share."""


class Bounded(NamedTuple):
    """The best placement met and what no placement can be better than."""

    placement: LifetimePlacement | None
    """None: none better than `objective_s` as given was met."""
    objective_s: float
    bound_s: float


def solve_over_time(
    problem: LifetimeProblem, reads: Reads, states: States, options: Options, *, objective_s: float,
    accepted_gap: float = 1e-3, enough_s: float = np.inf,
) -> Bounded:  # fmt: skip
    """A placement whose objective is below `objective_s` (that of one already known), if one is met.

    Ends where bound and objective lie within `accepted_gap`, or the bound passes `enough_s`: nobody wants to know more
    then. The bound holds for the reads that are looked at and what `options` allow.
    """
    n, size = len(problem.seconds), int(states.offset[-1])
    until, pinned, choice = np.full(n, NOWHERE), np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int64)
    by_state, by_kernel = np.zeros((3, size), dtype=np.int64), np.zeros((3, n), dtype=np.int64)
    room = _Room(
        np.empty(size), by_state[0], by_state[1], by_state[2], by_kernel[0], by_kernel[1], by_kernel[2],
        np.zeros(n, dtype=np.bool_), np.empty(n),
    )  # fmt: skip
    value, bound = _solve(
        ((reads, states), options, room), problem.weight_bytes, problem.capacity_bytes, objective_s, accepted_gap,
        enough_s, until, pinned, choice,
    )  # fmt: skip
    better = value < objective_s
    return Bounded(LifetimePlacement(until, pinned, choice) if better else None, value, min(bound, value))


class _Room(NamedTuple):
    """Working space."""

    best: np.ndarray
    """float64[N] least objective from each state on."""
    option: np.ndarray
    """int64[N] the option that it takes next."""
    chosen: np.ndarray
    """int64[N] and the schedule's place in :class:`Options`."""
    ahead: np.ndarray
    """int64[N] and how many readers will find the output on chip."""
    state: np.ndarray
    """int64[n] the states of the placement at hand, as places in :class:`lib.residency.lives.States`."""
    taken: np.ndarray
    """int64[n] its options without weights."""
    row: np.ndarray
    """int64[n] its schedules' places in :class:`Options`."""
    pins: np.ndarray
    """bool[n] whether weights stay."""
    density: np.ndarray
    """float64[n]"""


@njit(cache=True)
def _minimum(lives, options, weight_bytes, price, most, room) -> float:
    """The least sum(objective + price * weight_bytes) of placements that take at most `most` beside pinned weights."""
    n = len(weight_bytes)
    best = room.best
    best[lives[1].offset[n]] = 0.0
    for kernel in range(n - 1, -1, -1):
        first, following = lives[1].offset[kernel], lives[1].offset[kernel + 1]
        step, readers = lives[1].step[kernel], lives[0].looked_at[kernel]
        pinning = price * weight_bytes[kernel]
        own = options.offset[kernel]
        stays = options.rows[own + STAYS] > 0
        for place in range(first, following):
            space = most - lives[1].passing_bytes[place]
            start = own + lives[1].found[place] * 2 * OUTCOMES
            after = following + lives[1].after[place]
            best[place] = np.inf
            for outcome in range(OUTCOMES if readers > 0 else 1):
                if outcome == STAYS and not stays:
                    continue
                local, option, row = np.inf, 0, 0
                for weights in range(2):
                    one = start + weights * OUTCOMES + outcome
                    added = pinning if weights else 0.0
                    for c in range(options.rows[one]):
                        if options.need_bytes[one, c] <= space:
                            if options.cost[one, c] + added < local:
                                local, option, row = options.cost[one, c] + added, one, c
                            break
                if local == np.inf:
                    continue
                least, most_ahead = np.inf, 0
                low = readers if outcome == STAYS else (1 if outcome == STAYS_AND_WRITTEN else 0)
                high = 0 if outcome == WRITTEN else (readers - 1 if outcome == STAYS_AND_WRITTEN and stays else readers)
                for ahead in range(low, high + 1):
                    if best[after + ahead * step] < least:
                        least, most_ahead = best[after + ahead * step], ahead
                if local + least < best[place]:
                    best[place] = local + least
                    room.option[place], room.chosen[place], room.ahead[place] = option, row, most_ahead
    return best[0]


@njit(cache=True)
def _trace(lives, options, weight_bytes, room) -> tuple[np.int64, np.int64]:
    """Fill the placement in `room` from the minimum; the bytes of its weights, and the most that the rest takes."""
    pinned = most = np.int64(0)
    place = np.int64(0)
    for kernel in range(len(weight_bytes)):
        option, row = room.option[place], room.chosen[place]
        most = max(most, options.need_bytes[option, row] + lives[1].passing_bytes[place])
        weights = (option - options.offset[kernel]) // OUTCOMES & 1
        room.pins[kernel] = weights == 1
        if weights:
            pinned += weight_bytes[kernel]
        room.state[kernel], room.taken[kernel], room.row[kernel] = place, option - weights * OUTCOMES, row
        place = lives[1].offset[kernel + 1] + lives[1].after[place] + room.ahead[place] * lives[1].step[kernel]
    return pinned, most


@njit(cache=True, inline="always")
def _first_that_fits(options, option, space) -> int:
    for c in range(options.rows[option]):
        if options.need_bytes[option, c] <= space:
            return c
    return -1


@njit(cache=True)
def _fill_weights(lives, options, weight_bytes, most, capacity, room) -> float:
    """Choose weights and schedules of the placement in `room` anew where the rest may take `most`; its objective.

    Weights come by objective saved a byte, as in the chain solver. Those without which the kernel would not keep to
    `most` come first; infinite where they don't fit.
    """
    n = len(weight_bytes)
    left = capacity - most
    total = 0.0
    for kernel in range(n):
        space = most - lives[1].passing_bytes[room.state[kernel]]
        without, pinned = room.taken[kernel], room.taken[kernel] + OUTCOMES
        loaded = _first_that_fits(options, without, space)
        kept = _first_that_fits(options, pinned, space)
        room.density[kernel] = 0.0
        room.pins[kernel] = False
        if loaded < 0:
            if kept < 0:
                return np.inf
            room.pins[kernel] = True
            room.row[kernel] = kept
            left -= weight_bytes[kernel]
            total += options.cost[pinned, kept]
            continue
        room.row[kernel] = loaded
        total += options.cost[without, loaded]
        if kept >= 0 and options.cost[pinned, kept] < options.cost[without, loaded]:
            saved = options.cost[pinned, kept] - options.cost[without, loaded]
            room.density[kernel] = saved / weight_bytes[kernel]
    if left < 0:
        return np.inf
    for kernel in np.argsort(room.density):
        if room.density[kernel] >= 0:
            break
        if weight_bytes[kernel] <= left:
            left -= weight_bytes[kernel]
            total += room.density[kernel] * weight_bytes[kernel]
            room.pins[kernel] = True
            space = most - lives[1].passing_bytes[room.state[kernel]]
            room.row[kernel] = _first_that_fits(options, room.taken[kernel] + OUTCOMES, space)
    return total


@njit(cache=True)
def _most(lives, options, room) -> np.int64:
    """What the placement in `room` takes at most beside weights."""
    most = np.int64(0)
    for kernel in range(len(room.taken)):
        option = room.taken[kernel] + (OUTCOMES if room.pins[kernel] else 0)
        need = options.need_bytes[option, room.row[kernel]] + lives[1].passing_bytes[room.state[kernel]]
        most = max(most, need)
    return most


@njit(cache=True)
def _keep(lives, options, room, until, pinned, choice) -> None:
    """Write the placement in `room` to the arrays of a :class:`LifetimePlacement`."""
    n = len(until)
    for kernel in range(n):
        option = room.taken[kernel] + (OUTCOMES if room.pins[kernel] else 0)
        pinned[kernel] = room.pins[kernel]
        choice[kernel] = options.choice[option, room.row[kernel]]
        following = room.state[kernel + 1] if kernel + 1 < n else lives[1].offset[n]
        ahead = np.int64(0)
        if lives[1].step[kernel] > 0:
            without = lives[1].offset[kernel + 1] + lives[1].after[room.state[kernel]]
            ahead = (following - without) // lives[1].step[kernel]
        until[kernel] = lives[0].reader[lives[0].reader_offset[kernel] + ahead - 1] if ahead > 0 else NOWHERE


@njit(cache=True)
def _try(lives, options, weight_bytes, most, capacity, value, room, until, pinned, choice) -> float:
    """Fill the weights of the placement in `room`, for `most` and then for what it really takes; keep it if better."""
    filled = _fill_weights(lives, options, weight_bytes, most, capacity, room)
    if filled == np.inf:
        return value
    if filled < value:
        value = filled
        _keep(lives, options, room, until, pinned, choice)
    tight = _most(lives, options, room)
    if tight < most:
        filled = _fill_weights(lives, options, weight_bytes, tight, capacity, room)
        if filled < value:
            value = filled
            _keep(lives, options, room, until, pinned, choice)
    return value


@njit(cache=True)
def _solve(owned, weight_bytes, capacity, value, accepted_gap, enough, until, pinned, choice) -> tuple[float, float]:
    """`owned`: (reads, states), options and working space, which the caller keeps alive."""
    lives, options, room = borrowed(owned)
    low, high = np.zeros(MOST_INTERVALS, dtype=np.int64), np.full(MOST_INTERVALS, capacity, dtype=np.int64)
    bounds, price = np.full(MOST_INTERVALS, np.inf), np.zeros(MOST_INTERVALS)
    value, bounds[0], price[0] = _bound(
        lives, options, weight_bytes, capacity, low[0], high[0], 0.0, -np.inf, value, accepted_gap, enough, room, until,
        pinned, choice,
    )  # fmt: skip
    count = 1
    while count < MOST_INTERVALS:
        worst = np.int64(np.argmin(bounds[:count]))
        if bounds[worst] >= value * (1 - accepted_gap) or bounds[worst] > enough or high[worst] <= low[worst]:
            break
        middle = (low[worst] + high[worst] + 1) // 2
        low[count], high[count], bounds[count], price[count] = middle, high[worst], bounds[worst], price[worst]
        high[worst] = middle - 1
        for one in (worst, np.int64(count)):
            value, bounds[one], price[one] = _bound(
                lives, options, weight_bytes, capacity, low[one], high[one], price[one], bounds[one], value,
                accepted_gap, enough, room, until, pinned, choice,
            )  # fmt: skip
        count += 1
    return value, bounds[:count].min()


@njit(cache=True)
def _bound(
    lives, options, weight_bytes, capacity, low, high, warm, known, value, accepted_gap, enough, room, until, pinned,
    choice,
):  # fmt: skip
    """The best objective met, the bound of an interval of A and its last price.

    `warm`: a price to begin with, 0 for none; `known`: a bound of the interval.
    """
    left = capacity - low
    relaxed = _minimum(lives, options, weight_bytes, 0.0, high, room)
    highest = max(known, relaxed)
    if relaxed == np.inf or highest >= value * (1 - PRICED_WELL) or highest > enough:
        return value, highest, warm
    bytes_pinned, most = _trace(lives, options, weight_bytes, room)
    if bytes_pinned + most <= capacity:
        _keep(lives, options, room, until, pinned, choice)
        return relaxed, relaxed, warm
    slope = float(bytes_pinned - left)
    value = _try(lives, options, weight_bytes, most, capacity, value, room, until, pinned, choice)
    # L is concave in the price: the tangents at a price that is too low and one too high meet at the next to try.
    low_price, low_value, low_slope = 0.0, relaxed, slope
    high_price, high_value, high_slope = np.inf, 0.0, 0.0
    price = warm if warm > 0 else relaxed / max(1, capacity)
    for _ in range(PRICES if slope > 0 else 0):
        lagrangian = _minimum(lives, options, weight_bytes, price, high, room) - price * left
        bytes_pinned, most = _trace(lives, options, weight_bytes, room)
        slope = float(bytes_pinned - left)
        highest = max(highest, lagrangian)
        if highest >= value * (1 - accepted_gap) or highest > enough:
            break
        value = _try(lives, options, weight_bytes, most, capacity, value, room, until, pinned, choice)
        if slope > 0:
            low_price, low_value, low_slope = price, lagrangian, slope
        else:
            high_price, high_value, high_slope = price, lagrangian, slope
        if slope == 0 or highest >= value * (1 - accepted_gap):
            break
        if high_price == np.inf:
            price *= 4
            continue
        price = (high_value - high_slope * high_price - low_value + low_slope * low_price) / (low_slope - high_slope)
        meet = low_value + low_slope * (price - low_price)
        if not low_price < price < high_price or meet <= highest + PRICED_WELL * abs(highest):
            break
    return value, highest, price
