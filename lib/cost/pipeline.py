"""The double-buffered pipeline over tile steps, in closed form.

    T = launch + load(0) + sum over s of max(compute(s), load(s + 1) + store(s - 1)) + store(last)

What a step costs depends only on which loops are at their last index (the edge tile) and on the transitions into
and out of it: the *outgoing* level is the innermost loop that is not at its last index, the *incoming* level the
innermost one that is not at its first. One of the two is always the innermost loop, so the steps fall into at most
2 d + 1 groups for d loops that are really cut, and within a group every loop runs over intervals of indices that
cost the same. The sum takes one representative step of each and counts the rest.
"""

import numpy as np
from numba import njit

from lib.cost.dma import contiguous_run, transfer_seconds
from lib.cost.matrix_unit import accumulates_on_pe, matrix_work
from lib.cost.simulator_constants import ACCUMULATOR_BYTES, DMA_LATENCY_S, KERNEL_LAUNCH_S, STEP_CYCLES
from lib.cost.vector_unit import ARITHMETIC, LOAD, STORE, vector_cycles, vector_pipes
from lib.hardware.datapath import processing_elements
from lib.program.kernels import IN_C, KERNEL_CLASSES, OUTPUT
from lib.schedule.footprint import tile_elements
from lib.schedule.loops import LOOP_ORDERS

PART_NAMES = (
    "matrix_s",
    "vector_s",
    "spill_s",
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
"""Over all steps: busy matrix and vector unit; the vector unit's load and store slots taken by values that went to
the buffer in between (already in vector_s as far as that pipe decides); control of the steps; DMA in and out; what
no compute hides (time minus compute minus launch); launch; number of steps; DRAM bytes by role."""
MATRIX_S, VECTOR_S, SPILL_S, STEP_S, LOAD_S, STORE_S, EXPOSED_S, LAUNCH_S, STEPS, BYTES = range(10)

FREE, FIRST, LAST, NOT_FIRST, NOT_LAST, BETWEEN = range(6)
"""What a group of steps says about the index of a loop."""

_DOT = KERNEL_CLASSES.index("dot")
_SLOT_ORDER = np.arange(8, dtype=np.int64)


@njit(cache=True, error_model="numpy")
def compute_step(kernels, plan, k, tile, complete, dataflow, array, datapath, pipes, out) -> None:
    """Fill float64[4] `out` with seconds (compute, matrix, vector, spill) of one step on a tile (int64[8]).

    Matrix and vector unit run side by side; control of the step comes on top.
    """
    pipes[:] = 0.0
    spilled = vector_pipes(kernels, plan, k, tile, complete, datapath, pipes)
    matrix = 0.0
    if plan.matrix[k]:
        work = matrix_work(
            tile, kernels.loops[k, IN_C], kernels.base_dilation[k], kernels.kernel_class[k] == _DOT, dataflow, array,
            datapath, True,
        )  # fmt: skip
        pes = processing_elements(datapath)
        matrix = work.cycles / datapath.clock_hz
        pipes[LOAD] += pes * work.elements_read * datapath.element_bytes / 4
        pipes[ARITHMETIC] += pes * work.elements_accumulated
        if not accumulates_on_pe(array):
            pipes[LOAD] += pes * work.elements_accumulated * (ACCUMULATOR_BYTES / 4)
            pipes[STORE] += pes * work.elements_accumulated * (ACCUMULATOR_BYTES / 4)
    vector = vector_cycles(pipes, datapath) / datapath.clock_hz
    out[0] = max(matrix, vector) + STEP_CYCLES / datapath.clock_hz
    out[1] = matrix
    out[2] = vector
    out[3] = spilled / (datapath.vector_lanes * processing_elements(datapath) * datapath.clock_hz)


@njit(cache=True, error_model="numpy")
def operand_transfer(kernels, k, operand, tile, element_bytes, datapath) -> tuple[float, float]:
    """(seconds, bytes) to move the tile of an operand, latency left out."""
    stride, kind, dilation = kernels.operand_stride[operand], kernels.loop_kind[k], kernels.base_dilation[k]
    elements = tile_elements(stride, kind, dilation, tile, kernels.operand_elements[operand])
    run = contiguous_run(stride, kernels.operand_order[operand], kind, dilation, tile, kernels.loops[k])
    return transfer_seconds(elements, run, element_bytes, datapath.dram_bytes_per_s), float(elements * element_bytes)


@njit(cache=True)
def _intervals(role, trips, edge_differs, zero_differs, next_is_edge, low, count) -> int:
    """Cut the indices that `role` admits into intervals that cost the same: fill `low` and `count`, int64[4]."""
    first = 1 if role == NOT_FIRST or role == BETWEEN else 0
    last = trips - 2 if role == NOT_LAST or role == BETWEEN else trips - 1
    if role == FIRST:
        last = 0
    elif role == LAST:
        first = trips - 1
    used = 0
    start = first
    for index in (1, trips - 2, trips - 1):
        cut = (index == 1 and zero_differs) or (index == trips - 2 and next_is_edge) or (
            index == trips - 1 and edge_differs
        )  # fmt: skip
        if cut and start < index <= last:
            low[used], count[used] = start, index - start
            used += 1
            start = index
    if start <= last:
        low[used], count[used] = start, last - start + 1
        used += 1
    return used


@njit(cache=True, error_model="numpy")
def price_row(kernels, plan, k, whole_tile, dataflow, order, array, datapath, workspace, parts) -> float:
    """Seconds of kernel `k` under one schedule row; fills `parts` (see PART_NAMES).

    `whole_tile`: int64[8]; `workspace`: :func:`make_workspace`.
    """
    loops = kernels.loops[k]
    compute_of, load_of, store_of, tile, pipes, low, count, role, used, digit = workspace
    first_operand, output = kernels.operand_offset[k], kernels.operand_offset[k + 1] - 1
    nest = LOOP_ORDERS[order] if plan.nested[k] else _SLOT_ORDER

    # The loops that are cut, outermost first, and how they touch the output.
    depth = 0
    slot_at = np.empty(8, dtype=np.int64)
    trips = np.empty(8, dtype=np.int64)
    edge_bit = np.zeros(8, dtype=np.int64)
    reduces = np.zeros(8, dtype=np.bool_)
    edge_bits = 0
    steps = 1.0
    output_level = -1
    for level in range(8):
        slot = nest[level]
        trip = -(-loops[slot] // whole_tile[slot])
        if trip == 1:
            continue
        slot_at[depth], trips[depth] = slot, trip
        if loops[slot] % whole_tile[slot] != 0:
            edge_bit[depth] = 1 << edge_bits
            edge_bits += 1
        reduces[depth] = kernels.operand_stride[output, slot] == 0
        if not reduces[depth]:
            output_level = depth
        steps *= trip
        depth += 1
    partial_sums = False
    for level in range(output_level):
        partial_sums |= reduces[level]
    compute_of[: 2 << edge_bits, 0] = -1.0
    load_of[: depth + 1, : 1 << edge_bits, 0] = -1.0
    store_of[: 2 << edge_bits, 0] = -1.0

    parts[:] = 0.0
    first_load = _load(
        kernels, k, -1, 0, False, slot_at, depth, edge_bit, output_level, whole_tile, datapath, tile, load_of,
        store_of, parts, 1.0,
    )  # fmt: skip
    seconds = first_load
    if depth == 0:
        tile[:] = whole_tile
        compute_step(kernels, plan, k, tile, True, dataflow, array, datapath, pipes, compute_of[1])
        seconds += compute_of[1, 0]
        _add_compute(compute_of[1], 1.0, parts)
    # Groups of steps: 0 .. depth - 1 enter at that level (depth - 1: in the middle of the innermost loop), depth the
    # very first step, depth + 1 + p leave at level p, 2 depth the very last one.
    inner = depth - 1
    for group in range(2 * depth + 1 if depth > 0 else 0):
        incoming, outgoing = inner, inner
        for level in range(depth):
            role[level] = FREE
        if group < inner:
            incoming = group
            role[group] = NOT_FIRST
            for level in range(group + 1, depth):
                role[level] = FIRST
        elif group == inner:
            role[inner] = BETWEEN
        elif group == depth:
            incoming = -1
            for level in range(depth):
                role[level] = FIRST
        elif group < 2 * depth:
            outgoing = group - depth - 1
            role[outgoing] = NOT_LAST
            for level in range(outgoing + 1, depth):
                role[level] = LAST
        else:
            outgoing = -1
            for level in range(depth):
                role[level] = LAST
        empty = False
        for level in range(depth):
            used[level] = _intervals(
                role[level], trips[level], edge_bit[level] > 0 or reduces[level], partial_sums and reduces[level],
                level == outgoing and edge_bit[level] > 0, low[level], count[level],
            )  # fmt: skip
            empty |= used[level] == 0
            digit[level] = 0
        while not empty:
            # The representative step: its edge tiles, those of its neighbours, and how many steps are like it.
            times = 1.0
            mask = next_mask = previous_mask = 0
            complete = previous_complete = True
            resumes = False
            for level in range(depth):
                index = low[level, digit[level]]
                times *= count[level, digit[level]]
                at_last = index == trips[level] - 1
                if at_last:
                    mask |= edge_bit[level]
                elif reduces[level]:
                    complete = False
                next_index = index if level < outgoing else (index + 1 if level == outgoing else 0)
                if next_index == trips[level] - 1:
                    next_mask |= edge_bit[level]
                resumes |= reduces[level] and next_index > 0
                previous_last = at_last if level < incoming else level > incoming
                if previous_last:
                    previous_mask |= edge_bit[level]
                elif reduces[level]:
                    previous_complete = False
            entry = compute_of[2 * mask + complete]
            if entry[0] < 0:
                _tile_at(mask, whole_tile, loops, slot_at, depth, edge_bit, tile)
                compute_step(kernels, plan, k, tile, complete, dataflow, array, datapath, pipes, entry)
            moving = 0.0
            if outgoing >= 0:
                resumes &= output_level >= outgoing
                moving += _load(
                    kernels, k, outgoing, next_mask, resumes, slot_at, depth, edge_bit, output_level, whole_tile,
                    datapath, tile, load_of, store_of, parts, times,
                )  # fmt: skip
            if incoming >= 0 and output_level >= incoming:
                moving += _store(
                    kernels, k, previous_mask, previous_complete, slot_at, depth, edge_bit, whole_tile, datapath,
                    tile, store_of, parts, times,
                )  # fmt: skip
            seconds += times * max(entry[0], moving)
            _add_compute(entry, times, parts)
            level = inner
            while level >= 0:
                digit[level] += 1
                if digit[level] < used[level]:
                    break
                digit[level] = 0
                level -= 1
            empty = level < 0
    seconds += _store(
        kernels, k, (1 << edge_bits) - 1, True, slot_at, depth, edge_bit, whole_tile, datapath, tile, store_of,
        parts, 1.0,
    )  # fmt: skip
    parts[EXPOSED_S] += seconds
    parts[LAUNCH_S] = KERNEL_LAUNCH_S
    parts[STEPS] = steps
    parts[STEP_S] = steps * STEP_CYCLES / datapath.clock_hz
    return seconds + KERNEL_LAUNCH_S


@njit(cache=True)
def _add_compute(entry, times, parts) -> None:
    parts[EXPOSED_S] -= times * entry[0]
    parts[MATRIX_S] += times * entry[1]
    parts[VECTOR_S] += times * entry[2]
    parts[SPILL_S] += times * entry[3]


@njit(cache=True)
def _tile_at(mask, whole_tile, loops, slot_at, depth, edge_bit, tile) -> None:
    """The tile (int64[8]) of a step whose loops in `mask` are at their edge."""
    tile[:] = whole_tile
    for level in range(depth):
        if edge_bit[level] & mask:
            slot = slot_at[level]
            tile[slot] = loops[slot] % whole_tile[slot]


@njit(cache=True, error_model="numpy")
def _load(
    kernels, k, level, mask, resumes, slot_at, depth, edge_bit, output_level, whole_tile, datapath, tile, load_of,
    store_of, parts, times,
) -> float:  # fmt: skip
    """Seconds to load what changes when loop `level` advances (-1: everything), counted `times` in `parts`.

    `resumes`: the output tile has partial sums from before, which come back too.
    """
    entry = load_of[level + 1, mask]
    if entry[0] < 0:
        _tile_at(mask, whole_tile, kernels.loops[k], slot_at, depth, edge_bit, tile)
        entry[:] = 0.0
        for operand in range(kernels.operand_offset[k], kernels.operand_offset[k + 1] - 1):
            changes = level < 0
            for inside in range(max(level, 0), depth):
                changes |= kernels.operand_stride[operand, slot_at[inside]] > 0
            if changes:
                seconds, moved = operand_transfer(
                    kernels, k, operand, tile, kernels.operand_element_bytes[operand], datapath
                )  # fmt: skip
                entry[0] += seconds
                entry[1 + kernels.operand_role[operand]] += moved
        if entry[0] > 0:
            entry[0] += DMA_LATENCY_S
    seconds = entry[0]
    for role in range(OUTPUT):
        parts[BYTES + role] += times * entry[1 + role]
    parts[LOAD_S] += times * seconds
    if resumes:
        partial = _output_entry(kernels, k, mask, False, slot_at, depth, edge_bit, whole_tile, datapath, tile, store_of)
        back = partial[0] if seconds == 0 else partial[0] - DMA_LATENCY_S
        parts[LOAD_S] += times * back
        parts[BYTES + OUTPUT] += times * partial[1]
        seconds += back
    return seconds


@njit(cache=True, error_model="numpy")
def _store(
    kernels, k, mask, complete, slot_at, depth, edge_bit, whole_tile, datapath, tile, store_of, parts, times
) -> float:
    """Seconds to store the output tile, or its partial sums where it is not `complete`, counted `times` in `parts`."""
    entry = _output_entry(kernels, k, mask, complete, slot_at, depth, edge_bit, whole_tile, datapath, tile, store_of)
    parts[STORE_S] += times * entry[0]
    parts[BYTES + OUTPUT] += times * entry[1]
    return entry[0]


@njit(cache=True, error_model="numpy")
def _output_entry(kernels, k, mask, complete, slot_at, depth, edge_bit, whole_tile, datapath, tile, store_of):
    entry = store_of[2 * mask + complete]
    if entry[0] < 0:
        _tile_at(mask, whole_tile, kernels.loops[k], slot_at, depth, edge_bit, tile)
        output = kernels.operand_offset[k + 1] - 1
        size = np.int64(kernels.operand_element_bytes[output])
        if not complete:
            size = max(size, ACCUMULATOR_BYTES)
        seconds, moved = operand_transfer(kernels, k, output, tile, size, datapath)
        entry[0] = seconds + DMA_LATENCY_S
        entry[1] = moved
    return entry


@njit(cache=True)
def make_workspace():
    """Arrays that one call of :func:`price_row` after another reuses: step costs by edge mask and phase, and the
    odometer over intervals."""
    return (
        np.empty((512, 4)), np.empty((9, 256, 4)), np.empty((512, 2)), np.empty(8, dtype=np.int64), np.empty(4),
        np.empty((8, 4), dtype=np.int64), np.empty((8, 4), dtype=np.int64), np.empty(8, dtype=np.int64),
        np.empty(8, dtype=np.int64), np.empty(8, dtype=np.int64),
    )  # fmt: skip
