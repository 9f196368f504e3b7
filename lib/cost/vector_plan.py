"""What the vector unit does for each node of a kernel, whatever the tile: layouts, phases, live ranges.

Made once a kernel; :mod:`lib.cost.vector_unit` weighs it with a tile. This is where the kernel's edges matter: a
value that lives across many ops takes a register from them, and a value that its consumer wants in another layout
passes through the cross-lane unit.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.simulator_constants import (
    DIVIDE_INSTRUCTIONS,
    REGISTERS_IN_FLIGHT,
    TRANSCENDENTAL_INSTRUCTIONS,
    VECTOR_REGISTERS,
)
from lib.program.kernels import ABSENT, GROUP, IN_C, NO_LOOP, OUT_C, Kernels
from lib.program.op_kinds import OP_CLASSES, op_class_numbers, op_kind_table
from lib.schedule.candidates import compiled_view

EVERY_STEP, COMPLETE_STEP, STREAMED = range(3)
"""When a node is worked on: in every tile step; in steps that complete the output tile; never by the vector unit,
because the matrix unit or a window op reads it from the buffer."""

FREE, MATRIX, REDUCTION, WINDOW_OP = (OP_CLASSES.index(c) for c in ("free", "matrix", "reduction", "window"))

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

VALUES_ALIVE = VECTOR_REGISTERS // REGISTERS_IN_FLIGHT


class VectorPlan(NamedTuple):
    """k kernels; nodes of a kernel are its operands but the output, then its ops."""

    node_offset: np.ndarray
    """int64[k + 1]"""
    layout: np.ndarray
    """uint8[nodes, 2] loops along the most minor and the second dimension of the node, NO_LOOP where there is none; of
    a reduction or window, along those of its iteration space."""
    phase: np.ndarray
    """uint8[nodes] EVERY_STEP, COMPLETE_STEP or STREAMED."""
    instructions: np.ndarray
    """float64[nodes] arithmetic instructions an element; 0 for operands."""
    op_class: np.ndarray
    """uint8[nodes] position in OP_CLASSES; FREE for operands."""
    relayouts: np.ndarray
    """uint8[nodes, 2] passes through the cross-lane unit in phase EVERY_STEP and COMPLETE_STEP."""
    reloads: np.ndarray
    """uint8[nodes, 2] loads of a value that gave its register away, by phase."""
    stores: np.ndarray
    """uint8[nodes] 1: the value goes to the buffer, because no register was left or the matrix unit reads it there."""
    matrix: np.ndarray
    """bool[k] the hero is a matrix op."""
    nested: np.ndarray
    """bool[k] loops are nested as a matrix or window op's."""


def vector_plan(kernels: Kernels) -> VectorPlan:
    """Plan every kernel. Raises ValueError naming an op kind that the simulator does not know, or a kernel with a
    second matrix op."""
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
    return VectorPlan(*_plan(compiled_view(kernels), op_class, _INSTRUCTIONS[op_class]))


def _place(kernels: Kernels, op: int) -> str:
    kernel = int(np.searchsorted(kernels.op_offset, op, side="right")) - 1
    return f"kernel {kernel} ({kernels.fingerprint[kernel]}), op {op - kernels.op_offset[kernel]}"


@njit(cache=True)
def _plan(kernels, op_class, op_instructions):
    count = len(kernels.loops)
    node_offset = kernels.operand_offset - np.arange(count + 1) + kernels.op_offset
    nodes = node_offset[-1]
    layout = np.full((nodes, 2), NO_LOOP, dtype=np.uint8)
    phase = np.zeros(nodes, dtype=np.uint8)
    instructions = np.zeros(nodes)
    node_class = np.zeros(nodes, dtype=np.uint8)
    relayouts = np.zeros((nodes, 2), dtype=np.uint8)
    reloads = np.zeros((nodes, 2), dtype=np.uint8)
    stores = np.zeros(nodes, dtype=np.uint8)
    matrix = np.zeros(count, dtype=np.bool_)
    nested = np.zeros(count, dtype=np.bool_)
    for k in range(count):
        first, last = node_offset[k], node_offset[k + 1]
        inputs = kernels.operand_offset[k + 1] - kernels.operand_offset[k] - 1
        for op in range(kernels.op_offset[k], kernels.op_offset[k + 1]):
            node = first + inputs + op - kernels.op_offset[k]
            instructions[node] = op_instructions[op]
            node_class[node] = op_class[op]
        hero = kernels.hero[k] - kernels.op_offset[k] + inputs
        hero_class = op_class[kernels.hero[k]]
        matrix[k] = hero_class == MATRIX
        nested[k] = hero_class == MATRIX or hero_class == WINDOW_OP
        edges = kernels.edge[kernels.edge_offset[k] : kernels.edge_offset[k + 1]]
        _phases(edges, inputs, hero, hero_class, phase[first:last])
        _layouts(kernels, k, edges, inputs, hero, phase[first:last], node_class[first:last], layout[first:last])
        _relayouts(
            kernels, k, edges, hero, hero_class, phase[first:last], layout[first:last], relayouts[first:last]
        )  # fmt: skip
        _live_ranges(
            edges, inputs, node_class[first:last], phase[first:last], reloads[first:last], stores[first:last]
        )  # fmt: skip
    return node_offset, layout, phase, instructions, node_class, relayouts, reloads, stores, matrix, nested


@njit(cache=True)
def _phases(edges, inputs, hero, hero_class, phase) -> None:
    """What the hero needs is made anew in every step (it lives in registers, not in the buffer); what needs the hero,
    or nothing that it needs, waits for the complete tile."""
    split = hero_class == MATRIX or hero_class == REDUCTION or hero_class == WINDOW_OP
    phase[:] = COMPLETE_STEP if split else EVERY_STEP
    if not split:
        return
    phase[hero] = EVERY_STEP
    for target in range(hero, inputs - 1, -1):
        if phase[target] != EVERY_STEP:
            continue
        for edge in range(len(edges)):
            if edges[edge, 1] == target:
                phase[edges[edge, 0]] = EVERY_STEP
    if hero_class == REDUCTION:
        return
    for node in range(inputs):
        loaded = False
        for edge in range(len(edges)):
            loaded |= edges[edge, 0] == node and edges[edge, 1] != hero
        if not loaded:
            phase[node] = STREAMED


@njit(cache=True)
def _layouts(kernels, k, edges, inputs, hero, phase, node_class, layout) -> None:
    """Operands lie as stored and the root as the output; an op in between takes the layout of its largest source, an op
    after the hero that of the output."""
    first_operand, first_op = kernels.operand_offset[k], kernels.op_offset[k]
    output = kernels.operand_offset[k + 1] - 1
    for node in range(len(layout)):
        if node < inputs:
            layout[node] = kernels.operand_order[first_operand + node, :2]
            continue
        layout[node] = kernels.operand_order[output, :2]
        swept = node_class[node] == REDUCTION or node_class[node] == WINDOW_OP
        if node_class[node] == MATRIX or (node == len(layout) - 1 and not swept):
            continue
        if phase[node] == COMPLETE_STEP and node != hero and not swept:
            continue
        largest = np.int64(0)
        for edge in range(len(edges)):
            source = edges[edge, 0]
            if edges[edge, 1] == node:
                if source < inputs:
                    elements = kernels.operand_elements[first_operand + source]
                else:
                    elements = kernels.op_elements[first_op + source - inputs]
                if elements > largest:
                    largest = elements
                    layout[node] = layout[source]


@njit(cache=True)
def _relayouts(kernels, k, edges, hero, hero_class, phase, layout, relayouts) -> None:
    """Count the edges whose source lies along another minor dimension than its target wants.

    A matrix op wants its first source along the contracted channels (the groups of a depthwise one) and takes weights
    either way; it gives its result along the output channels.
    """
    output = kernels.operand_offset[k + 1] - 1
    kind = kernels.loop_kind[k]
    streamed = False
    for edge in range(len(edges)):
        source, target = edges[edge, 0], edges[edge, 1]
        have, want = layout[source, 0], layout[target, 0]
        if source == hero and hero_class == MATRIX:
            have = OUT_C if kind[OUT_C] != ABSENT else GROUP
        if target == hero and hero_class == MATRIX:
            if streamed:
                continue
            streamed = True
            want = IN_C if kind[IN_C] != ABSENT else GROUP
        if have != want and have != NO_LOOP and want != NO_LOOP and kernels.loops[k, have] > 1:
            when = COMPLETE_STEP if phase[target] == COMPLETE_STEP else EVERY_STEP
            relayouts[source, when] += 1
    root = len(layout) - 1
    have, want = layout[root, 0], kernels.operand_order[output, 0]
    if root == hero and hero_class == MATRIX:
        have = OUT_C if kind[OUT_C] != ABSENT else GROUP
    if have != want and have != NO_LOOP and want != NO_LOOP and kernels.loops[k, have] > 1:
        relayouts[root, COMPLETE_STEP if hero_class >= MATRIX and hero_class <= WINDOW_OP else EVERY_STEP] += 1


@njit(cache=True)
def _next_use(edges, node, after) -> int:
    """First op after `after` that reads `node`; a number beyond all nodes where there is none."""
    first = 1 << 30
    for edge in range(len(edges)):
        if edges[edge, 0] == node and edges[edge, 1] > after:
            first = min(first, edges[edge, 1])
    return first


@njit(cache=True)
def _live_ranges(edges, inputs, node_class, phase, reloads, stores) -> None:
    """Linear scan over the ops in order with VALUES_ALIVE registers: the value used furthest from now gives way
    (Belady; Poletto and Sarkar, "Linear Scan Register Allocation", 1999). An operand is simply loaded again; the
    result of an op is stored first. Sources of a matrix op stream through and take no register."""
    nodes = len(phase)
    held = np.zeros(nodes, dtype=np.bool_)
    seen = np.zeros(nodes, dtype=np.bool_)
    alive = 0
    for target in range(inputs, nodes):
        when = COMPLETE_STEP if phase[target] == COMPLETE_STEP else EVERY_STEP
        for edge in range(len(edges)):
            source = edges[edge, 0]
            if edges[edge, 1] != target:
                continue
            if node_class[target] == MATRIX:
                if source >= inputs:
                    stores[source] = 1
            elif not held[source]:
                if seen[source]:
                    reloads[source, when] += 1
                held[source] = True
                seen[source] = True
                alive += 1
        held[target] = True
        seen[target] = True
        alive += 1
        for node in range(target + 1):
            if held[node] and _next_use(edges, node, target) > nodes:
                held[node] = False
                alive -= 1
        while alive > VALUES_ALIVE:
            furthest, victim = -1, -1
            for node in range(target + 1):
                if held[node] and _next_use(edges, node, target) > furthest:
                    furthest, victim = _next_use(edges, node, target), node
            held[victim] = False
            alive -= 1
            if victim >= inputs:
                stores[victim] = 1
