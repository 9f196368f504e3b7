"""Good schedules without looking at the whole space, for searches that price thousands of designs.

The whole mapper (:mod:`lib.schedule.best`) prices the rows that its bounds can't rule out; this one starts from a few
tiles and changes one loop at a time, or two where the tiles fill the buffer (one held smaller so that another may be
held larger: what fits is a boundary along which the best tiles lie), as long as that makes the kernel faster by the
simulator itself. Dataflows and loop orders are compared at the first tile and again at the last. Nothing is priced
whose lower bound (:mod:`lib.schedule.lower_bound`) is above the best so far.
"""

from typing import Any, NamedTuple

import numpy as np

from lib.cost.matrix_unit import pe_splits
from lib.cost.pe_memory import usable_arrays
from lib.cost.pipeline import make_workspace
from lib.cost.simulator_constants import SimulatorConstants
from lib.cost.tile_step import PLACEMENTS, step_model
from lib.hardware.datapath import Datapath, on_chip_bytes, processing_elements
from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, OUT_H, OUT_W, Kernels
from lib.schedule.best import ANY_DATAFLOW, DATAFLOWS, cut_loops, met_before
from lib.schedule.borrowed import borrowed
from lib.schedule.candidates import tile_candidates
from lib.schedule.descent_row import (
    PreparedKernels,
    Setting,
    make_descent_room,
    room_of_tile,
    seconds_if_faster,
    set_tile,
)
from lib.schedule.found_schedules import FoundSchedules, nothing_found, price_rows
from lib.schedule.loops import LOOP_ORDERS
from lib.schedule.lower_bound import matrix_products
from lib.schedule.node_table import LOOPS_WALKED, TileLimits, tile_bytes, tile_limits
from lib.schedule.row_front import fastest_first, set_row
from lib.schedule.uncounted import uncounted

ROUNDS = 2
"""Most rounds of changes from a start."""
PATIENCE = 2
"""Candidates of one loop that may be slower, one after the other, before that direction is given up."""
ENOUGH = 5e-3
"""Share of the time that a change must save to be made."""
STARTS = np.array(
    [
        [BATCH, OUT_H, OUT_W, GROUP, OUT_C, IN_C, KERNEL_H, KERNEL_W],
        [OUT_C, BATCH, OUT_H, OUT_W, GROUP, IN_C, KERNEL_H, KERNEL_W],
        [BATCH, GROUP, IN_C, OUT_C, OUT_H, OUT_W, KERNEL_H, KERNEL_W],
    ]
)
"""Orders in which the loops of the whole kernel are cut until it fits, each to its end before the next."""
BUDGETS = np.array([1 / 8, 1 / 64])
"""Shares of the buffer that tiles may take, where residency wants the rest."""
SMALL_SHARE = 0.002
"""Kernels that make up less of the whole time than this are not worth more than a round."""
WAITS = 0.01
"""Share of its time that a kernel must wait for DRAM to get a row for operands that stay on chip."""
STEP_S = 0.5e-6
"""What a step costs beside compute and bytes, roughly; for the number of steps to start from."""


def prepared(kernels: Kernels, datapath: Datapath, constants: SimulatorConstants | None = None) -> PreparedKernels:
    """Depends on the register tile of the datapath alone. Raises ValueError for an op kind that is not known."""
    candidates = tile_candidates(kernels, datapath)
    return PreparedKernels(
        step_model(kernels, datapath, constants or SimulatorConstants()), candidates.offset, candidates.extent
    )


class Enough(NamedTuple):
    """When a search may stop: with the kernels so far and bounds of the others the sum is more than this."""

    seconds: float
    executions: np.ndarray
    """float64[k]"""
    least_s: np.ndarray
    """float64[k] lower bound of one execution."""


def found_schedules(
    kernels: PreparedKernels, datapath: Datapath, *, several: bool = False, dataflows: int = ANY_DATAFLOW,
    enough: Enough | None = None,
) -> FoundSchedules:  # fmt: skip
    """Good rows of every kernel: one, or with `several` those that residency may choose from, with their seconds for
    every placement. `dataflows`: bits of those that matrix ops may use.

    With `enough` the search stops after the kernel with which it is sure that all of them take longer, whatever stays
    on chip; those with the longest bounds come first.
    """
    count = len(kernels.model.loops)
    room = make_descent_room(int(np.diff(kernels.model.operands.offset).max(initial=0)))
    found = nothing_found(count, room.tried)
    if enough is None:
        enough = Enough(np.inf, np.ones(count), np.zeros(count))
    order = np.argsort(-enough.executions * enough.least_s, kind="stable")
    _find(kernels, datapath, order, enough, np.int64(dataflows), several, make_workspace(), room, found)
    return found


@uncounted()
def _cut_to_fit(kernels, setting, most_bytes, order, workspace, room) -> bool:
    """Cut the loops of `room.digits` in turn, each to its end, until the tiles take at most `most_bytes` and fit."""
    operands, k, tile, digits = kernels.model.operands, setting.k, workspace.tile, room.digits
    for slot in order:
        set_tile(kernels, k, digits, tile)
        if room_of_tile(operands, k, tile, setting.resident, setting.limits) <= most_bytes:
            return True
        if _as_little_as_fits(kernels, setting, most_bytes, slot, workspace, room):
            return True
    return False


@uncounted()
def _as_little_as_fits(kernels, setting, most_bytes, slot, workspace, room) -> bool:
    """Cut one loop of `room.digits`, by at least one candidate, until the tiles take at most `most_bytes` and fit; to
    its end where they never do."""
    operands, k, tile, digits = kernels.model.operands, setting.k, workspace.tile, room.digits
    low, high = digits[slot], room.counts[slot] - 1  # the first that fits lies above low
    digits[slot] = high
    if low == high:
        return False
    set_tile(kernels, k, digits, tile)
    if room_of_tile(operands, k, tile, setting.resident, setting.limits) > most_bytes:
        return False
    while high - low > 1:
        middle = (low + high) // 2
        digits[slot] = middle
        set_tile(kernels, k, digits, tile)
        if room_of_tile(operands, k, tile, setting.resident, setting.limits) <= most_bytes:
            high = middle
        else:
            low = middle
    digits[slot] = high
    return True


@uncounted()
def _copy(source, target) -> None:
    for slot in range(8):
        target[slot] = source[slot]


@uncounted()
def _same(one, other) -> bool:
    same = True
    for slot in range(8):
        same = same and one[slot] == other[slot]
    return same


@uncounted()
def _descend(kernels, setting, dataflow, order, best, rounds, arrays, datapath, workspace, room) -> float:
    """Improve the tile `room.best`, which takes `best` seconds; returns what the better one takes."""
    digits, counts, current, k = room.digits, room.counts, room.best, setting.k
    operands, tile = kernels.model.operands, workspace.tile
    for _ in range(rounds):
        before = best
        for slot in range(8):
            if counts[slot] == 1:
                continue
            for direction in (-1, 1):
                step, misses = 1, 0
                while misses < PATIENCE:
                    place = current[slot] + direction * step
                    if not 0 <= place < counts[slot]:
                        break
                    _copy(current, digits)
                    digits[slot] = place
                    seconds = seconds_if_faster(
                        kernels, setting, dataflow, order, (1.0 - ENOUGH) * best, arrays, datapath, workspace, room
                    )
                    if seconds < (1.0 - ENOUGH) * best:
                        best, current[slot] = seconds, place
                        step, misses = 2 * step, 0
                    elif step > 2:
                        step = 1
                    else:
                        step, misses = step + 1, misses + 1
        for larger in range(8):
            if current[larger] == 0:
                continue
            _copy(current, digits)
            digits[larger] -= 1
            set_tile(kernels, k, digits, tile)
            if room_of_tile(operands, k, tile, setting.resident, setting.limits) <= setting.budget:
                continue
            for smaller in range(8):
                if smaller == larger or current[larger] == 0 or current[smaller] == counts[smaller] - 1:
                    continue
                _copy(current, digits)
                digits[larger] -= 1
                if not _as_little_as_fits(kernels, setting, setting.budget, smaller, workspace, room):
                    continue
                seconds = seconds_if_faster(
                    kernels, setting, dataflow, order, (1.0 - ENOUGH) * best, arrays, datapath, workspace, room
                )
                if seconds < (1.0 - ENOUGH) * best:
                    best = seconds
                    _copy(digits, current)
        if best == before:
            break
    return best


@uncounted()
def _best_choice(kernels, setting, dataflow, order, best, dataflows, arrays, datapath, workspace, room):
    """The fastest dataflow and loop order for the tile `room.best`: (dataflow, order, seconds)."""
    model, k = kernels.model, setting.k
    chosen_dataflow, chosen_order = dataflow, order
    for other_order in range(len(LOOP_ORDERS) if model.nested[k] else 1):
        set_tile(kernels, k, room.best, workspace.tile)
        depth = cut_loops(model.nested[k], other_order, model.loops[k], workspace.tile, room.nest[other_order])
        if met_before(room.nest, other_order, depth):
            continue
        for other in range(DATAFLOWS if model.matrix[k] else 1):
            if (other == dataflow and other_order == order) or (model.matrix[k] and not dataflows >> other & 1):
                continue
            _copy(room.best, room.digits)
            seconds = seconds_if_faster(
                kernels, setting, other, other_order, (1.0 - ENOUGH) * best, arrays, datapath, workspace, room
            )
            if seconds < (1.0 - ENOUGH) * best:
                best, chosen_dataflow, chosen_order = seconds, other, other_order
    return chosen_dataflow, chosen_order, best


@uncounted()
def _search(kernels, setting, most_s, rounds, dataflow, order, dataflows, arrays, datapath, workspace, room):
    """The fastest row within the budget: (dataflow, order, seconds), its tile in `room.best`; without `rounds` the best
    start. Infinite seconds where no start fits or takes less than `most_s`.

    Starts are the tile `room.best` cut to the budget, and to the size at which first load and last store take about as
    long as the control of all steps.
    """
    model, k, digits = kernels.model, setting.k, room.digits
    start = room.start
    _copy(room.best, start)
    for slot in range(8):
        digits[slot] = 0
    set_tile(kernels, k, digits, workspace.tile)
    inputs, weights, output = tile_bytes(model.operands, k, workspace.tile)
    whole = 2.0 * (inputs + weights + output)
    steps = max(1.0, np.sqrt(whole / 2.0 / datapath.dram_bytes_per_s / STEP_S))
    best, any_start = most_s, False
    for number in range(2 * len(STARTS)):
        most = setting.budget if number < len(STARTS) else whole / steps
        _copy(start, digits)
        if setting.resident != 0:  # nothing to fit: from where it starts and from the whole kernel
            if number == 2:
                break
            for slot in range(8):
                digits[slot] *= 1 - number
        elif number >= len(STARTS) and most >= setting.budget:
            break
        fits = _cut_to_fit(kernels, setting, most, STARTS[number % len(STARTS)], workspace, room)
        if fits and not (any_start and _same(digits, room.best)):
            seconds = seconds_if_faster(kernels, setting, dataflow, order, best, arrays, datapath, workspace, room)
            if seconds < best:
                best, any_start = seconds, True
                _copy(digits, room.best)
    if not any_start:
        return dataflow, order, np.inf
    for turn in range(min(2, rounds)):
        chosen_dataflow, chosen_order, best = _best_choice(
            kernels, setting, dataflow, order, best, dataflows, arrays, datapath, workspace, room
        )
        if turn == 1 and chosen_dataflow == dataflow and chosen_order == order:
            break
        dataflow, order = chosen_dataflow, chosen_order
        best = _descend(kernels, setting, dataflow, order, best, rounds, arrays, datapath, workspace, room)
    return dataflow, order, best


@uncounted()
def _find_rows(kernels, k, large_s, several, dataflows, limits, arrays, datapath, workspace, room):
    """Fill the front of `room` for kernel `k`, the fastest alone first; returns how many rows there are.

    A kernel that takes less than `large_s` has fewer rounds.
    """
    model, front = kernels.model, room.front
    for slot in range(8):
        room.counts[slot] = kernels.candidate_offset[8 * k + slot + 1] - kernels.candidate_offset[8 * k + slot]
        room.best[slot] = 0
    splits: Any = pe_splits(datapath, np.int64(model.loops[k, GROUP]), np.int64(0), np.int64(0))
    peak = processing_elements(datapath) * datapath.systolic_rows * datapath.systolic_columns * datapath.clock_hz
    whole = 2.0 * limits.whole
    nothing: Any = np.int64(0)
    products, control_s = matrix_products(model, k), model.constants.step_cycles / datapath.clock_hz
    output_loops = model.operands.node[model.operands.offset[k + 1] - 1, LOOPS_WALKED]
    front.rows[0] = 0
    dataflow = nothing
    while model.matrix[k] and not dataflows >> dataflow & 1:
        dataflow += 1
    setting = Setting(k, limits, whole, nothing, splits, products, peak, control_s, output_loops, several)
    dataflow, order, best = _search(
        kernels, setting, np.inf, np.int64(1), dataflow, nothing, dataflows, arrays, datapath, workspace, room
    )
    large = best >= large_s
    if large and best < np.inf:
        best = _descend(
            kernels, setting, dataflow, order, best, np.int64(ROUNDS - 1), arrays, datapath, workspace, room
        )
        chosen_dataflow, chosen_order, best = _best_choice(
            kernels, setting, dataflow, order, best, dataflows, arrays, datapath, workspace, room
        )
        if chosen_dataflow != dataflow or chosen_order != order:
            dataflow, order = chosen_dataflow, chosen_order
            best = _descend(kernels, setting, dataflow, order, best, np.int64(1), arrays, datapath, workspace, room)
    if best == np.inf:
        return 0
    if not several:
        set_row(front, 0, room.best, dataflow, order, best, 0.0)
        return 1
    alone = room.alone
    _copy(room.best, alone)
    set_tile(kernels, k, alone, workspace.tile)
    taken = room_of_tile(model.operands, k, workspace.tile, nothing, limits)
    rounds = np.int64(0)
    for share in BUDGETS:
        if taken > share * whole:
            small = Setting(k, limits, share * whole, nothing, splits, products, peak, control_s, output_loops, several)
            _copy(alone, room.best)
            _search(kernels, small, np.inf, rounds, dataflow, order, dataflows, arrays, datapath, workspace, room)
    fastest_first(front)
    if not large:
        return front.rows[0]
    endless: Any = np.int64(1 << 60)
    everything: Any = np.int64(PLACEMENTS - 1)
    roomy = TileLimits(endless, endless, endless, endless)
    stays = Setting(k, roomy, whole, everything, splits, products, peak, control_s, output_loops, not several)
    _copy(alone, room.best)
    dataflow, order, best = _search(
        kernels, stays, best * (1.0 - WAITS), np.int64(1), dataflow, order, dataflows, arrays, datapath, workspace, room
    )
    if best == np.inf:
        return front.rows[0]
    set_row(front, front.rows[0], room.best, dataflow, order, best, 0.0)
    return front.rows[0] + 1


@uncounted()
def _find(
    owned_kernels, datapath, kernel_order, enough, dataflows, several, owned_workspace, owned_room, owned_found
) -> None:
    """`owned_...`: arrays that the caller keeps alive."""
    kernels, workspace, room, found = borrowed((owned_kernels, owned_workspace, owned_room, owned_found))
    if on_chip_bytes(datapath)[0] <= 0:
        return
    limits, arrays = tile_limits(datapath), usable_arrays(datapath)
    least_s = 0.0
    for k in kernel_order:
        least_s += enough.executions[k] * enough.least_s[k]
    least_of_all_s = least_s
    for k in kernel_order:
        large_s = SMALL_SHARE * least_of_all_s / enough.executions[k]
        rows = _find_rows(kernels, k, large_s, several, dataflows, limits, arrays, datapath, workspace, room)
        price_rows(kernels, k, rows, several, arrays, datapath, workspace, room, found)
        fastest = np.inf
        for row in range(rows):
            for bits in range(PLACEMENTS if several else 1):
                fastest = min(fastest, found.seconds[k, row, bits])
        if rows > 0:
            least_s += enough.executions[k] * max(0.0, fastest - enough.least_s[k])
        if least_s > enough.seconds:
            found.least_s[0] = least_s
            return
