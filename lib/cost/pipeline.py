"""The double-buffered pipeline over tile steps, in closed form.

    T = launch + load(0) + sum over s of max(compute(s), load(s + 1) + store(s - 1)) + store(last)

What a step costs depends only on which loops are at their last index (the edge tile) and on the transitions into
and out of it: the *outgoing* level is the innermost loop that is not at its last index, the *incoming* level the
innermost one that is not at its first. One of the two is always the innermost loop, so the steps fall into
2 d + 1 groups for d loops that are really cut, and within a group every loop runs over a few intervals of indices
that cost the same. The sum takes one representative step of each combination and counts the rest.
"""

import numpy as np
from numba import njit

from lib.cost.tile_step import compute_step, fits_beside_residents, load_step, output_step
from lib.program.kernels import OUTPUT
from lib.schedule.loops import LOOP_ORDERS
from lib.schedule.node_table import LOOPS_WALKED, set_extents

PART_NAMES = (
    "matrix_s",
    "vector_s",
    "buffered_s",
    "step_overhead_s",
    "load_s",
    "store_s",
    "exposed_s",
    "launch_s",
    "steps",
    "bytes_in",
    "bytes_weight",
    "bytes_out",
)
"""Over all steps: busy matrix and vector unit; load and store slots taken by values that went to the buffer in between
(in vector_s as far as that pipe decides); control of the steps; DMA in and out; what no compute hides (time minus
compute minus launch); launch; number of steps; DRAM bytes by role."""
MATRIX_S, VECTOR_S, BUFFERED_S, OVERHEAD_S, LOAD_S, STORE_S, EXPOSED_S, LAUNCH_S, STEPS, BYTES = range(10)

SLOT, TRIPS, EDGE_BIT, REDUCES, ROLE, USED, DIGIT = range(7)
"""Columns of a loop of the nest: canonical loop; number of tiles; its bit among the loops whose last tile is smaller, 0
if it is not; 1 where the output does not extend along it; what the current group says about its index; number of
intervals and the one that the odometer is at."""

ANY, FIRST, LAST, NOT_FIRST, NOT_LAST, BETWEEN = range(6)
"""Roles: what a group of steps says about the index of a loop."""

_SLOT_ORDER = np.arange(8, dtype=np.int64)


@njit(cache=True, error_model="numpy")
def loops_cut(loops, whole_tile, slots, output_loops, nest) -> tuple[int, int]:
    """Fill `nest` (int64[8, 7]) with the loops that have more than one tile, outermost first.

    Returns their number and the number of edge bits.
    """
    depth = edge_bits = 0
    for level in range(8):
        slot = slots[level]
        if whole_tile[slot] >= loops[slot]:
            continue
        trips = (loops[slot] + whole_tile[slot] - 1) // whole_tile[slot]
        nest[depth, SLOT], nest[depth, TRIPS], nest[depth, EDGE_BIT] = slot, trips, 0
        if trips * whole_tile[slot] != loops[slot]:
            nest[depth, EDGE_BIT] = 1 << edge_bits
            edge_bits += 1
        nest[depth, REDUCES] = 1 - ((output_loops >> slot) & 1)
        depth += 1
    return depth, edge_bits


@njit(cache=True)
def _set_roles(group, depth, nest) -> tuple[int, int]:
    """Roles of the loops in a group of steps; returns its incoming and outgoing level (-1: first or last step).

    Groups: 0 .. depth - 2 enter at that level, depth - 1 lies in the middle of the innermost loop, depth is the very
    first step, depth + 1 + p leaves at level p, 2 depth is the very last step.
    """
    inner = depth - 1
    for level in range(depth):
        if group < depth:
            inside = FIRST
            pivot = group
        else:
            inside = LAST if group > depth else FIRST
            pivot = group - depth - 1 if depth < group < 2 * depth else -1
        nest[level, ROLE] = ANY if level < pivot else inside
    if group < inner:
        nest[group, ROLE] = NOT_FIRST
        return group, inner
    if group == inner:
        nest[inner, ROLE] = BETWEEN
        return inner, inner
    if group == depth:
        return -1, inner
    if group < 2 * depth:
        nest[group - depth - 1, ROLE] = NOT_LAST
        return inner, group - depth - 1
    return inner, -1


@njit(cache=True)
def _intervals(loop, partial_sums, outgoing, low, count) -> int:
    """Cut the indices that the role of `loop` (int64[7]) admits into intervals that cost the same.

    Fills `low` and `count` (int64[4]) and returns their number. Cuts: before index 1 where returning partial sums
    differ from a fresh start; before the last index but one where the next step, at the edge, loads less; before the
    last one where the tile is smaller or completes the output.
    """
    trips, role = loop[TRIPS], loop[ROLE]
    start = trips - 1 if role == LAST else (1 if role in (NOT_FIRST, BETWEEN) else 0)
    last = 0 if role == FIRST else (trips - 2 if role in (NOT_LAST, BETWEEN) else trips - 1)
    used = 0
    for cut in range(3):
        if cut == 0:
            wanted, index = partial_sums == 1 and loop[REDUCES] == 1, 1
        elif cut == 1:
            wanted, index = outgoing and loop[EDGE_BIT] > 0, trips - 2
        else:
            wanted, index = loop[EDGE_BIT] > 0 or loop[REDUCES] == 1, trips - 1
        if wanted and start < index <= last:
            low[used], count[used] = start, index - start
            used += 1
            start = index
    if start <= last:
        low[used], count[used] = start, last - start + 1
        used += 1
    return used


@njit(cache=True)
def _tile_at(mask, loops, whole_tile, nest, depth, tile) -> None:
    """Fill `tile` (int64[9]) with the extents of a step whose loops in `mask` are at their smaller last tile."""
    set_extents(tile, whole_tile)
    for level in range(depth):
        if nest[level, EDGE_BIT] & mask:
            slot = nest[level, SLOT]
            tile[slot] = loops[slot] - (nest[level, TRIPS] - 1) * whole_tile[slot]


@njit(cache=True, error_model="numpy")
def price_row(model, k, whole_tile, dataflow, order, resident, array, limits, datapath, workspace, parts) -> float:
    """Seconds of kernel `k` under one schedule row, infinite where it does not fit on chip; fills `parts` (float64[12],
    see PART_NAMES) where it does.

    `model`: :class:`lib.cost.tile_step.StepModel`; `whole_tile`: int64[9], the last 1; `resident`: int64 bits of the
    operand roles that are neither loaded nor stored; `array`: :class:`lib.cost.matrix_unit.UsableArray`; `limits`:
    :class:`lib.schedule.node_table.TileLimits`; `workspace`: :func:`make_workspace`.
    """
    compute_of, load_of, output_of, tile, pipes, low, count, nest = workspace
    loops = model.loops[k]
    output_loops = model.operands.node[model.operands.offset[k + 1] - 1, LOOPS_WALKED]
    slots = LOOP_ORDERS[order] if model.nested[k] else _SLOT_ORDER
    depth, edge_bits = loops_cut(loops, whole_tile, slots, output_loops, nest)
    output_level = -1
    partial_sums = reducing = np.int64(0)
    steps = 1.0
    for level in range(depth):
        steps *= nest[level, TRIPS]
        if nest[level, REDUCES]:
            reducing = nest[level, REDUCES]
        else:
            output_level = level
            partial_sums = reducing
    if not fits_beside_residents(model, k, whole_tile, resident, partial_sums == 1, limits):
        return np.inf
    # Costs by edge mask, computed when first met. The first load has the place after the last level's. Whole numbers
    # and truth values go to compiled functions as variables: each constant makes Numba compile one more version.
    for entry in range(2 << edge_bits):
        compute_of[entry, 0] = output_of[entry, 0] = -1.0
    for level in range(depth):
        for entry in range(1 << edge_bits):
            load_of[level, entry, 0] = -1.0

    parts[:] = 0.0
    seconds = 0.0
    inner = depth - 1
    for group in range(2 * depth + 1):
        incoming, outgoing = _set_roles(group, depth, nest)
        more = True
        for level in range(depth):
            nest[level, USED] = _intervals(nest[level], partial_sums, level == outgoing, low[level], count[level])
            nest[level, DIGIT] = 0
            more = more and nest[level, USED] > 0
        changing = np.int64(0)
        for level in range(max(outgoing, 0), depth):
            changing |= 1 << nest[level, SLOT]
        while more:
            # A representative step: which tiles are at an edge in it, in the next and in the previous one.
            times = 1.0
            mask = next_mask = previous_mask = np.int64(0)
            complete = previous_complete = 1
            resumes = False
            for level in range(depth):
                index = low[level, nest[level, DIGIT]]
                times *= count[level, nest[level, DIGIT]]
                last = nest[level, TRIPS] - 1
                bit, reduces = nest[level, EDGE_BIT], nest[level, REDUCES] == 1
                if index == last:
                    mask |= bit
                elif reduces:
                    complete = 0
                next_index = index if level < outgoing else (index + 1 if level == outgoing else 0)
                if next_index == last:
                    next_mask |= bit
                if reduces and next_index > 0:
                    resumes = True
                if level > incoming or (level < incoming and index == last):
                    previous_mask |= bit
                elif reduces:
                    previous_complete = 0
            step = compute_of[2 * mask + complete]
            if step[0] < 0:
                _tile_at(mask, loops, whole_tile, nest, depth, tile)
                compute_step(model, k, tile, complete == 1, dataflow, array, datapath, pipes, step)
            _add_compute(step, times, parts)
            if incoming < 0:
                load = load_of[depth, mask]
                load_step(model, k, np.int64(-1), resident, whole_tile, datapath, load)
                _add_load(load, times, parts)
                seconds += load[0]
            moving = 0.0
            if outgoing >= 0:
                load = load_of[outgoing, next_mask]
                if load[0] < 0:
                    _tile_at(next_mask, loops, whole_tile, nest, depth, tile)
                    load_step(model, k, changing, resident, tile, datapath, load)
                _add_load(load, times, parts)
                moving = load[0]
                if resumes and output_level >= outgoing:
                    back = output_of[2 * next_mask]
                    if back[0] < 0:
                        _tile_at(next_mask, loops, whole_tile, nest, depth, tile)
                        output_step(model, k, tile, not resumes, resident, datapath, back)  # partial sums
                    back_s = back[1] if load[0] > 0 else back[0]
                    moving += back_s
                    parts[LOAD_S] += times * back_s
                    parts[BYTES + OUTPUT] += times * back[2]
            if 0 <= incoming <= output_level:
                store = output_of[2 * previous_mask + previous_complete]
                if store[0] < 0:
                    _tile_at(previous_mask, loops, whole_tile, nest, depth, tile)
                    output_step(model, k, tile, previous_complete == 1, resident, datapath, store)
                moving += store[0]
                _add_store(store, times, parts)
            seconds += times * max(step[0], moving)
            if outgoing < 0:
                store = output_of[2 * mask + complete]
                if store[0] < 0:
                    _tile_at(mask, loops, whole_tile, nest, depth, tile)
                    output_step(model, k, tile, complete == 1, resident, datapath, store)
                _add_store(store, times, parts)
                seconds += store[0]
            level = inner
            while level >= 0:
                nest[level, DIGIT] += 1
                if nest[level, DIGIT] < nest[level, USED]:
                    break
                nest[level, DIGIT] = 0
                level -= 1
            more = level >= 0
    parts[EXPOSED_S] += seconds
    parts[LAUNCH_S] = model.constants.kernel_launch_s
    parts[STEPS] = steps
    parts[OVERHEAD_S] = steps * model.constants.step_cycles / datapath.clock_hz
    return seconds + model.constants.kernel_launch_s


@njit(cache=True)
def _add_compute(step, times, parts) -> None:
    parts[EXPOSED_S] -= times * step[0]
    parts[MATRIX_S] += times * step[1]
    parts[VECTOR_S] += times * step[2]
    parts[BUFFERED_S] += times * step[3]


@njit(cache=True)
def _add_load(load, times, parts) -> None:
    parts[LOAD_S] += times * load[0]
    for role in range(OUTPUT):
        parts[BYTES + role] += times * load[1 + role]


@njit(cache=True)
def _add_store(store, times, parts) -> None:
    parts[STORE_S] += times * store[0]
    parts[BYTES + OUTPUT] += times * store[2]


@njit(cache=True)
def make_workspace():
    """Arrays that one call of :func:`price_row` after another reuses: compute, load and output costs by edge mask, the
    tile of a step, the pipes, the intervals of each loop's indices, the nest with the odometer over them; and the tile
    of the row, whose ninth extent of 1 stands for dimensions that no loop walks."""
    return (
        np.empty((512, 4)), np.empty((9, 256, 3)), np.empty((512, 3)), np.ones(9, dtype=np.int64), np.empty(5),
        np.empty((8, 4), dtype=np.int64), np.empty((8, 4), dtype=np.int64), np.empty((8, 7), dtype=np.int64),
        np.ones(9, dtype=np.int64),
    )  # fmt: skip
