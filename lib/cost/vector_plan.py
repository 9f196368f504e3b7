"""What a kernel asks of the vector unit, as items that only wait for a tile.

An item is a shape (dimensions walked by loops, the register tile that pads them) and what each of its elements costs
on every pipe, in steps of either phase. All nodes of a kernel with the same shape share one item.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.fused_ops import (
    COMPLETE_STEP,
    EVERY_STEP,
    MATRIX,
    REDUCTION,
    STREAMED,
    WINDOW_OP,
    count_relayouts,
    layouts,
    live_ranges,
    phases,
)
from lib.cost.simulator_constants import DIVIDE_INSTRUCTIONS, TRANSCENDENTAL_INSTRUCTIONS
from lib.program.kernels import NO_LOOP, WINDOW, Kernels
from lib.program.op_kinds import OP_CLASSES, op_class_numbers, op_kind_table
from lib.schedule.candidates import compiled_view
from lib.schedule.node_table import NO_EXTENT, add_dimension, add_plain_dimension
from lib.schedule.register_layout import register_loops

INSTRUCTIONS = {
    "free": 0.0,
    "matrix": 0.0,
    "reduction": 1.0,
    "window": 1.0,
    "simple": 1.0,
    "divide": DIVIDE_INSTRUCTIONS,
    "transcendental": TRANSCENDENTAL_INSTRUCTIONS,
    "movement": 1.0,
}
"""Vector instructions for one register of elements, by cost class."""
_INSTRUCTIONS = np.array([INSTRUCTIONS[name] for name in OP_CLASSES])

ARITHMETIC, LOAD, STORE, CROSS_LANE, BUFFERED = range(5)
"""Pipes, and the part of LOAD and STORE that values take that went to the buffer in between."""


class VectorPlan(NamedTuple):
    """i items of k kernels with d dimensions."""

    offset: np.ndarray
    """int64[k + 1]"""
    dimensions: np.ndarray
    """int64[i, 2] first and end of an item's dimensions."""
    weight: np.ndarray
    """float64[i, 2, 5] lane-words an element, in phase EVERY_STEP and (added) COMPLETE_STEP, by pipe. A lane-word is
    one 32-bit element an instruction, or 4 bytes loaded or stored."""
    dimension: np.ndarray
    """int64[d, 6] as in :class:`lib.schedule.node_table.NodeTable`."""
    crossing: np.ndarray
    """uint8[o] when the vector unit takes each operand from the buffer: EVERY_STEP, COMPLETE_STEP or, where the matrix
    unit alone reads it, STREAMED."""
    matrix_input: np.ndarray
    """int64[k] the operand that streams through the matrix unit; -1 where an op makes it, or there is no matrix op."""


def vector_plan(kernels: Kernels, register_sublanes: int, register_lanes: int) -> VectorPlan:
    """Plan every kernel for registers of `register_sublanes` x `register_lanes` 32-bit elements.

    Raises ValueError naming an op kind that the simulator does not know, or a second matrix op of a kernel.
    """
    table, classes = op_kind_table(), op_class_numbers()
    unknown = np.flatnonzero(kernels.op_kind >= len(classes))
    if len(unknown):
        raise ValueError(
            f"{_place(kernels, unknown[0])}: op kind {kernels.op_kind[unknown[0]]} is not one of the "
            f"{len(classes)} in the table"
        )
    op_class = classes[kernels.op_kind]
    second = np.flatnonzero(op_class == MATRIX)
    second = second[~np.isin(second, kernels.hero)]
    if len(second):
        raise ValueError(
            f"{_place(kernels, second[0])}: {table[kernels.op_kind[second[0]]][0]} is a matrix op beside the kernel's "
            "main one; a kernel has one at most"
        )
    return VectorPlan(
        *_plan(compiled_view(kernels), op_class, _INSTRUCTIONS[op_class], register_sublanes, register_lanes)
    )


def _place(kernels: Kernels, op: int) -> str:
    kernel = int(np.searchsorted(kernels.op_offset, op, side="right")) - 1
    return f"kernel {kernel} ({kernels.fingerprint[kernel]}), op {op - kernels.op_offset[kernel]}"


@njit(cache=True)
def _plan(kernels, op_class, op_instructions, sublanes, lanes):
    count = len(kernels.loops)
    nodes = len(kernels.operand_role) + 2 * len(kernels.op_kind) + 2 * count
    offset = np.zeros(count + 1, dtype=np.int64)
    dimensions = np.zeros((nodes, 2), dtype=np.int64)
    weight = np.zeros((nodes, 2, 5))
    dimension = np.zeros((nodes * 8, 6), dtype=np.int64)
    items = used = np.int64(0)
    own, passing = np.zeros((2, 5)), np.zeros((2, 5))
    output_layout = np.empty(2, dtype=np.uint8)
    crossing = np.full(len(kernels.operand_role), COMPLETE_STEP, dtype=np.uint8)
    matrix_input = np.full(count, -1, dtype=np.int64)
    for k in range(count):
        first_operand, output = kernels.operand_offset[k], kernels.operand_offset[k + 1] - 1
        first_op = kernels.op_offset[k]
        inputs = output - first_operand
        local = inputs + kernels.op_offset[k + 1] - first_op
        hero = kernels.hero[k] - first_op + inputs
        hero_class = op_class[kernels.hero[k]]
        edges = kernels.edge[kernels.edge_offset[k] : kernels.edge_offset[k + 1]]
        node_class = np.zeros(local, dtype=np.uint8)
        for node in range(inputs, local):
            node_class[node] = op_class[first_op + node - inputs]
        phase = np.zeros(local, dtype=np.uint8)
        layout = np.full((local, 2), NO_LOOP, dtype=np.uint8)
        relayouts = np.zeros((local, 2))
        reloads = np.zeros((local, 2))
        stores = np.zeros(local)
        phases(edges, inputs, hero, hero_class, phase)
        layouts(kernels, k, edges, inputs, hero, phase, node_class, lanes, layout)
        count_relayouts(kernels, k, edges, hero, hero_class, phase, lanes, layout, relayouts)
        live_ranges(edges, inputs, node_class, phase, reloads, stores)
        for node in range(inputs):
            streamed = phase[node] == STREAMED and hero_class == MATRIX
            crossing[first_operand + node] = phase[node] if streamed or phase[node] == COMPLETE_STEP else EVERY_STEP
        if hero_class == MATRIX:
            matrix_input[k] = _first_source(edges, hero, inputs, first_operand)

        kind, dilation = kernels.loop_kind[k], kernels.base_dilation[k]
        output_stride = kernels.operand_stride[output]
        output_layout[0], output_layout[1] = register_loops(kernels.operand_order[output], kernels.loops[k], lanes)
        start = items
        for node in range(local):
            if node < inputs:
                stride = kernels.operand_stride[first_operand + node]
                size = kernels.operand_element_bytes[first_operand + node]
            else:
                op = first_op + node - inputs
                stride, size = kernels.op_stride[op], kernels.op_element_bytes[op]
            when = COMPLETE_STEP if phase[node] == COMPLETE_STEP else EVERY_STEP
            swept = node_class[node] in (REDUCTION, WINDOW_OP)
            if node_class[node] == MATRIX:
                stride = output_stride
            own[:] = 0.0
            if node < inputs and phase[node] != STREAMED:
                own[when, LOAD] += size / 4
            elif node >= inputs:
                own[when, ARITHMETIC] += op_instructions[op]
            if node_class[node] == WINDOW_OP:
                own[when, LOAD] += size / 4
            result = passing if swept else own  # a swept op passes its result on, not the points that it visits
            passing[:] = 0.0
            for phase_of_use in range(2):
                result[phase_of_use, CROSS_LANE] += relayouts[node, phase_of_use]
                result[phase_of_use, LOAD] += reloads[node, phase_of_use] * size / 4
                result[phase_of_use, BUFFERED] += reloads[node, phase_of_use] * size / 4
            result[when, STORE] += stores[node] * size / 4
            result[when, BUFFERED] += stores[node] * size / 4
            if own.any():
                if swept:
                    end = _swept_dimensions(dimension, used, stride, layout[node], size, sublanes, lanes)
                else:
                    end = _dimensions(dimension, used, stride, kind, dilation, layout[node], size, sublanes, lanes)
                items, used = _add(dimensions, weight, dimension, start, items, used, end, own)
            if not swept:
                continue
            if passing.any():
                end = _dimensions(
                    dimension, used, output_stride, kind, dilation, output_layout, size, sublanes, lanes
                )  # fmt: skip
                items, used = _add(dimensions, weight, dimension, start, items, used, end, passing)
            end = _fold_ends(dimension, used, stride, output_stride, layout[node], sublanes, lanes, passing)
            if passing.any():
                items, used = _add(dimensions, weight, dimension, start, items, used, end, passing)
        size = kernels.operand_element_bytes[output]
        own[:] = 0.0
        own[COMPLETE_STEP, STORE] = size / 4
        end = _dimensions(dimension, used, output_stride, kind, dilation, output_layout, size, sublanes, lanes)
        items, used = _add(dimensions, weight, dimension, start, items, used, end, own)
        offset[k + 1] = items
    return offset, dimensions[:items].copy(), weight[:items].copy(), dimension[:used].copy(), crossing, matrix_input


@njit(cache=True)
def _first_source(edges, target, inputs, first_operand) -> int:
    """The operand that is the first source of `target`; -1 if an op is."""
    for edge in range(len(edges)):
        if edges[edge, 1] == target:
            return first_operand + edges[edge, 0] if edges[edge, 0] < inputs else -1
    return -1


@njit(cache=True)
def _dimensions(dimension, used, stride, kind, dilation, layout, size, sublanes, lanes) -> np.int64:
    """Write the dimensions of a node and return their end.

    The dimension on lanes (`layout`) is rounded up to `lanes`, the one on sublanes to `sublanes * 4 / size`.
    """
    covered = 0
    for loop in range(8):
        if stride[loop] == 0 or (covered >> loop) & 1 or (kind[loop] == WINDOW and stride[loop - 4] > 0):
            continue
        multiple = _multiple(loop, layout, size, sublanes, lanes)
        covered |= add_dimension(dimension, used, loop, stride, kind, dilation, multiple)
        used += 1
    return _at_least_one_register(dimension, used, stride, layout, lanes)


@njit(cache=True)
def _swept_dimensions(dimension, used, stride, layout, size, sublanes, lanes) -> np.int64:
    """The same for a swept op, which visits every point of its iteration space: a dimension a loop."""
    for loop in range(8):
        if stride[loop] > 0:
            multiple = _multiple(loop, layout, size, sublanes, lanes)
            add_plain_dimension(dimension, used, loop, np.int64(1), multiple)
            used += 1
    return _at_least_one_register(dimension, used, stride, layout, lanes)


@njit(cache=True)
def _multiple(loop, layout, size, sublanes, lanes) -> int:
    """What the extent along `loop` is rounded up to, for elements of `size` bytes."""
    if loop == layout[0]:
        return lanes
    return max(1, sublanes * 4 // size) if loop == layout[1] else 1


@njit(cache=True)
def _at_least_one_register(dimension, used, stride, layout, lanes) -> np.int64:
    """A node that does not extend along the lanes takes all of them."""
    if layout[0] == NO_LOOP or stride[layout[0]] == 0:
        add_plain_dimension(dimension, used, np.int64(NO_EXTENT), np.int64(0), lanes)
        used += 1
    return used


@njit(cache=True)
def _fold_ends(dimension, used, stride, output_stride, layout, sublanes, lanes, ends) -> np.int64:
    """The end of a reduction over lanes or sublanes: what is left lies across one register, and is summed by the
    cross-lane unit (lanes) or by log2(sublanes) rotations and additions (sublanes). Fills float64[2, 5] `ends` with the
    weights and returns the end of the dimensions.
    """
    ends[:] = 0.0
    minor, second = layout[0], layout[1]
    if minor != NO_LOOP and stride[minor] > 0 and output_stride[minor] == 0:
        ends[COMPLETE_STEP, CROSS_LANE] = 1.0
    if second != NO_LOOP and stride[second] > 0 and output_stride[second] == 0:
        ends[COMPLETE_STEP, ARITHMETIC] = 2 * math.log2(max(2, sublanes))
    for position in range(2):
        walked = layout[position] != NO_LOOP and output_stride[layout[position]] > 0
        register_loop = np.int64(layout[position]) if walked else np.int64(NO_EXTENT)
        add_plain_dimension(dimension, used, register_loop, np.int64(walked), lanes if position == 0 else sublanes)
        used += 1
    for loop in range(8):
        if output_stride[loop] > 0 and loop != minor and loop != second:
            add_plain_dimension(dimension, used, loop, np.int64(1), np.int64(1))
            used += 1
    return used


@njit(cache=True)
def _add(dimensions, weight, dimension, start, items, used, end, own) -> tuple[np.int64, np.int64]:
    """Give `own` to the kernel's item with the dimensions `used:end`, or to a new one; new counts of items and rows."""
    place = start
    while place < items and not _alike(dimension, dimensions[place, 0], dimensions[place, 1], used, end):
        place += 1
    for phase in range(2):
        for pipe in range(5):
            weight[place, phase, pipe] += own[phase, pipe]
    if place < items:
        return items, used
    dimensions[items, 0], dimensions[items, 1] = used, end
    return items + 1, end


@njit(cache=True)
def _alike(dimension, first, last, used, end) -> bool:
    alike = last - first == end - used
    for row in range(end - used):
        for column in range(6):
            alike = alike and dimension[first + row, column] == dimension[used + row, column]
    return alike


__all__ = ["ARITHMETIC", "BUFFERED", "CROSS_LANE", "LOAD", "STORE", "VectorPlan",
           "vector_plan"]  # fmt: skip
