"""The double-buffered pipeline over tile steps, in closed form.

    T = launch + load(0) + sum over s of max(compute(s), load(s + 1) + store(s - 1)) + store(last)

What a step costs depends only on which loops are at their last index (the edge tile) and on the transitions into
and out of it: the *outgoing* level is the innermost loop that is not at its last index, the *incoming* level the
innermost one that is not at its first. One of the two is always the innermost loop, so the steps fall into
2 d + 1 groups for d loops that are really cut, and within a group every loop runs over a few intervals of indices
that cost the same. The sum takes one representative step of each combination and counts the rest.
"""

from typing import NamedTuple

import numpy as np

from lib.cost.tile_nest import DIGIT, EDGE_BIT, REDUCES, ROLE, TRIPS, USED, edge_tiles, innermost_output_loop, loops_cut
from lib.cost.tile_step import (
    PLACEMENTS,
    StepCosts,
    compute_step,
    fits_beside_residents,
    room_for_step_costs,
    set_load_costs,
    set_output_costs,
)
from lib.program.kernels import OUTPUT
from lib.schedule.loops import LOOP_ORDERS
from lib.schedule.node_table import LOOPS_WALKED
from lib.schedule.uncounted import uncounted

PART_NAMES = (
    "matrix_s",
    "vector_s",
    "mesh_s",
    "buffered_s",
    "step_overhead_s",
    "load_s",
    "store_s",
    "exposed_s",
    "launch_s",
    "steps",
    "array_inputs",
    "array_weights",
    "array_sums",
    "bytes_in",
    "bytes_weight",
    "bytes_out",
)
"""Over all steps: busy matrix unit, vector unit and mesh; load and store slots taken by values that went to the buffer
in between (in vector_s as far as that pipe decides); control of the steps; DMA in and out; what no compute hides (time
minus compute minus launch); launch; number of steps; elements that the arrays take from and give to L1; DRAM bytes
by role."""
MATRIX_S, VECTOR_S, MESH_S, BUFFERED_S, OVERHEAD_S, LOAD_S, STORE_S, EXPOSED_S, LAUNCH_S, STEPS, ARRAY = range(11)
BYTES = ARRAY + 3

ANY, FIRST, LAST, NOT_FIRST, NOT_LAST, BETWEEN = range(6)
"""Roles: what a group of steps says about the index of a loop."""

_SLOT_ORDER = np.arange(8, dtype=np.int64)


@uncounted(forceinline=True)
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


@uncounted(forceinline=True)
def _intervals(loop, partial_sums, outgoing, low, length) -> int:
    """Cut the indices that the role of `loop` (int64[7]) admits into intervals that cost the same.

    Fills `low` and `length` (int64[4]) and returns their number. Cuts: before index 1 where returning partial sums
    differ from a fresh start; before the last index but one where the next step, at the edge, loads less; before the
    last one where the tile is smaller or completes the output.
    """
    trips, role = loop[TRIPS], loop[ROLE]
    start = trips - 1 if role == LAST else (1 if role in (NOT_FIRST, BETWEEN) else 0)
    last = 0 if role == FIRST else (trips - 2 if role in (NOT_LAST, BETWEEN) else trips - 1)
    used = 0
    for cut in range(3):
        if cut == 0:
            wanted, index = partial_sums and loop[REDUCES] == 1, 1
        elif cut == 1:
            wanted, index = outgoing and loop[EDGE_BIT] > 0, trips - 2
        else:
            wanted, index = loop[EDGE_BIT] > 0 or loop[REDUCES] == 1, trips - 1
        if wanted and start < index <= last:
            low[used], length[used] = start, index - start
            used += 1
            start = index
    if start <= last:
        low[used], length[used] = start, last - start + 1
        used += 1
    return used


class Workspace(NamedTuple):
    """Arrays that one row after another fills anew."""

    tile: np.ndarray
    """int64[9] the row's tile; the ninth extent of 1 stands for dimensions that no loop walks."""
    padded: np.ndarray
    """int64[8] the row's padded loop extents; 0 where a loop is not padded."""
    extents: np.ndarray
    """int64[2, 8] extents of the loops, without padding and with it."""
    nest: np.ndarray
    """int64[8, 7] see :mod:`lib.cost.tile_nest`."""
    interval_low: np.ndarray
    """int64[8, 4] first index of each interval of a loop."""
    interval_length: np.ndarray
    """int64[8, 4]"""
    costs: StepCosts
    seconds: np.ndarray
    """float64[8] by placement of `costs.resident`."""


def make_workspace() -> Workspace:
    """Room for :func:`price_row`."""
    return Workspace(
        np.ones(9, dtype=np.int64), np.zeros(8, dtype=np.int64), np.empty((2, 8), dtype=np.int64),
        np.empty((8, 7), dtype=np.int64), np.empty((8, 4), dtype=np.int64), np.empty((8, 4), dtype=np.int64),
        room_for_step_costs(), np.empty(PLACEMENTS),
    )  # fmt: skip


class LaidOut(NamedTuple):
    """What the loops of a schedule row say before anything is priced."""

    depth: int
    """Loops that are cut; they are in the workspace's nest."""
    edge_bits: int
    """Of them, those with a smaller last tile."""
    output_level: int
    """Innermost loop of the nest that the output extends along; -1: none."""
    partial_sums: bool
    """A reducing loop lies outside of it."""
    padding: bool


@uncounted(forceinline=True)
def price_row(model, k, dataflow, order, splits, resident, array, limits, datapath, workspace, parts) -> float:
    """Seconds of kernel `k` under one schedule row, infinite where it does not fit on chip; fills `parts` (float64[16],
    see PART_NAMES) where it does.

    `model`: :class:`lib.cost.tile_step.StepModel`; `splits`: :func:`lib.cost.matrix_unit.pe_splits`; `resident`: int64
    bits of the operand roles that are neither loaded nor stored; `array`: :class:`lib.cost.pe_memory.UsableArray`;
    `limits`: :class:`lib.schedule.node_table.TileLimits`; `workspace`: :class:`Workspace` with the row's tile and
    padding.
    """
    laid_out = lay_out_row(model, k, order, workspace)
    if not fits_beside_residents(model, k, workspace.tile, resident, laid_out.partial_sums, limits):
        return np.inf
    compute_row(model, k, dataflow, splits, array, datapath, laid_out, workspace)
    return move_row(model, k, resident, datapath, laid_out, workspace, parts)


@uncounted(forceinline=True)
def lay_out_row(model, k, order, workspace) -> LaidOut:
    """Find the loops that the tile of `workspace` cuts."""
    nest, loops, computed = workspace.nest, workspace.extents[0], workspace.extents[1]
    padding = False
    for slot in range(8):
        loops[slot] = model.loops[k, slot]
        computed[slot] = max(loops[slot], workspace.padded[slot])
        padding = padding or computed[slot] > loops[slot]
    output_loops = model.operands.node[model.operands.offset[k + 1] - 1, LOOPS_WALKED]
    slots = LOOP_ORDERS[order] if model.nested[k] else _SLOT_ORDER
    depth, edge_bits = loops_cut(loops, workspace.tile, slots, output_loops, nest)
    output_level, partial_sums = innermost_output_loop(nest, depth)
    return LaidOut(depth, edge_bits, output_level, partial_sums, padding)


@uncounted(forceinline=True)
def compute_row(model, k, dataflow, splits, array, datapath, laid_out, workspace) -> None:
    """Fill `workspace.costs` with what the steps compute, whatever they move, and with their tiles."""
    set_step_tiles(laid_out, workspace)
    for mask in range(1 << laid_out.edge_bits):
        compute_mask(model, k, mask, dataflow, splits, array, datapath, workspace)


@uncounted(forceinline=True)
def set_step_tiles(laid_out, workspace) -> None:
    """Fill the tiles of `workspace.costs` by edge mask."""
    costs = workspace.costs
    edge_tiles(workspace.extents[1], workspace.tile, workspace.nest, laid_out.depth, costs.tile)
    if laid_out.padding:
        edge_tiles(workspace.extents[0], workspace.tile, workspace.nest, laid_out.depth, costs.moved_tile)


@uncounted(forceinline=True)
def compute_mask(model, k, mask, dataflow, splits, array, datapath, workspace) -> None:
    """Fill `workspace.costs` with what the steps of one edge mask compute; 0: those away from all edges."""
    costs = workspace.costs
    compute_step(model, k, costs.tile[mask], dataflow, splits, array, datapath, costs.room, costs.compute[mask])


@uncounted(forceinline=True)
def move_row(model, k, resident, datapath, laid_out, workspace, parts) -> float:
    """Seconds of a row whose compute is known (:func:`compute_row`) with the operands `resident` on chip; fills `parts`
    unless they are None. Whether they fit is not asked."""
    workspace.costs.resident[0] = resident
    _move(model, k, np.int64(1), datapath, laid_out, workspace, parts)
    return workspace.seconds[0]


@uncounted(forceinline=True)
def move_row_everywhere(model, k, datapath, laid_out, workspace, parts) -> None:
    """Fill `workspace.seconds` with what :func:`move_row` says of each placement, by its bits; `parts` are those with
    nothing resident."""
    for place in range(PLACEMENTS):
        workspace.costs.resident[place] = place
    _move(model, k, np.int64(PLACEMENTS), datapath, laid_out, workspace, parts)


@uncounted(forceinline=True)
def _move(model, k, placements, datapath, laid_out, workspace, parts) -> None:
    """Fill `workspace.seconds` for the first `placements` of `workspace.costs.resident`, and the `parts` of the first
    unless they are None.

    Where loops and edges lie is the same for all of them, and so is what an operand takes that moves.
    """
    nest, costs, constants, seconds = workspace.nest, workspace.costs, model.constants, workspace.seconds
    depth, edge_bits = laid_out.depth, laid_out.edge_bits
    moved_tile = costs.moved_tile if laid_out.padding else costs.tile
    set_load_costs(model, k, nest, depth, edge_bits, placements, moved_tile, datapath, costs)
    set_output_costs(model, k, edge_bits, placements, moved_tile, datapath, costs)
    if parts is not None:
        parts[:] = 0.0
    sum_over_steps(
        nest, depth, laid_out.output_level, laid_out.partial_sums, placements, costs, constants.dma_latency_s,
        workspace.interval_low, workspace.interval_length, seconds, parts,
    )  # fmt: skip
    if parts is not None:
        steps = 1.0
        for level in range(depth):
            steps *= nest[level, TRIPS]
        parts[EXPOSED_S] += seconds[0]
        parts[LAUNCH_S] = constants.kernel_launch_s
        parts[STEPS] = steps
        parts[OVERHEAD_S] = steps * constants.step_cycles / datapath.clock_hz
    for place in range(placements):
        seconds[place] += constants.kernel_launch_s


@uncounted()
def sum_over_steps(
    nest, depth, output_level, partial_sums, placements, costs, latency_s, low, length, seconds, parts
) -> None:  # fmt: skip
    """Fill `seconds` (float64[8]) with the seconds of all tile steps, launch left out, under each of the first
    `placements` of `costs.resident`; what they consist of under the first one is added to `parts`, unless
    those are None.

    `output_level`: innermost loop of the nest that the output extends along (-1: none); `partial_sums`: a reducing loop
    lies outside of it.
    """
    for place in range(placements):
        seconds[place] = 0.0
    inner = depth - 1
    for group in range(2 * depth + 1):
        incoming, outgoing = _set_roles(group, depth, nest)
        more = True
        for level in range(depth):
            nest[level, USED] = _intervals(nest[level], partial_sums, level == outgoing, low[level], length[level])
            nest[level, DIGIT] = 0
            more = more and nest[level, USED] > 0
        while more:
            # A representative step: which tiles are at an edge in it, in the next and in the previous one.
            times = 1.0
            mask = next_mask = previous_mask = 0
            complete = previous_complete = 1
            resumes = False
            for level in range(depth):
                index = low[level, nest[level, DIGIT]]
                times *= length[level, nest[level, DIGIT]]
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
            compute_s = costs.compute[mask, complete, 0]
            resumes = resumes and output_level >= outgoing >= 0
            stores = 0 <= incoming <= output_level
            # The first placement comes last: what is left of it makes the parts.
            first_s = load_s = back_s = store_s = last_s = 0.0
            for place in range(placements - 1, -1, -1):
                if incoming < 0:
                    first_s = _with_latency(costs.load[place, depth, 0, 0], latency_s)
                if outgoing >= 0:
                    load_s = _with_latency(costs.load[place, outgoing, next_mask, 0], latency_s)
                if resumes:
                    back_s = costs.output[place, next_mask, 0, 0]
                    if load_s == 0 and back_s > 0:
                        back_s += latency_s
                if stores:
                    store_s = _with_latency(costs.output[place, previous_mask, previous_complete, 0], latency_s)
                if outgoing < 0:
                    last_s = _with_latency(costs.output[place, mask, complete, 0], latency_s)
                seconds[place] += first_s
                seconds[place] += times * max(compute_s, load_s + back_s + store_s)
                seconds[place] += last_s
            if parts is not None:
                _add_compute(costs.compute[mask, complete], times, parts)
                parts[LOAD_S] += times * first_s
                parts[LOAD_S] += times * load_s
                parts[LOAD_S] += times * back_s
                parts[STORE_S] += times * store_s
                parts[STORE_S] += times * last_s
                for role in range(OUTPUT):
                    if incoming < 0:
                        parts[BYTES + role] += times * costs.load[0, depth, 0, 1 + role]
                    if outgoing >= 0:
                        parts[BYTES + role] += times * costs.load[0, outgoing, next_mask, 1 + role]
                if resumes:
                    parts[BYTES + OUTPUT] += times * costs.output[0, next_mask, 0, 1]
                if stores:
                    parts[BYTES + OUTPUT] += times * costs.output[0, previous_mask, previous_complete, 1]
                if outgoing < 0:
                    parts[BYTES + OUTPUT] += times * costs.output[0, mask, complete, 1]
            level = inner
            while level >= 0:
                nest[level, DIGIT] += 1
                if nest[level, DIGIT] < nest[level, USED]:
                    break
                nest[level, DIGIT] = 0
                level -= 1
            more = level >= 0


@uncounted(forceinline=True)
def _add_compute(step, times, parts) -> None:
    parts[EXPOSED_S] -= times * step[0]
    parts[MATRIX_S] += times * step[1]
    parts[VECTOR_S] += times * step[2]
    parts[MESH_S] += times * step[3]
    parts[BUFFERED_S] += times * step[4]
    for role in range(3):
        parts[ARRAY + role] += times * step[5 + role]


@uncounted(forceinline=True)
def _with_latency(seconds, latency_s) -> float:
    """Seconds of a transfer, 0 where nothing moves."""
    return seconds + latency_s if seconds > 0 else 0.0
