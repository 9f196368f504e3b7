"""How fused ops share the vector unit: when each runs, how its value lies in registers and how long it lives.

Here the edges of a kernel matter: a value that lives across many ops takes a register from them, and one that its
consumer wants in another layout passes through the cross-lane unit. Nodes of a kernel are its operands but the
output, then its ops; all arrays here are one kernel's.
"""

import numpy as np
from numba import njit

from lib.cost.simulator_constants import REGISTERS_IN_FLIGHT, VECTOR_REGISTERS
from lib.program.kernels import ABSENT, GROUP, IN_C, NO_LOOP, OUT_C
from lib.program.op_kinds import OP_CLASSES
from lib.schedule.register_layout import is_narrow, register_loops

EVERY_STEP, COMPLETE_STEP, STREAMED = range(3)
"""When a node is worked on: in every tile step; in steps that complete the output tile; never by the vector unit,
because the matrix unit or a window op reads it from the buffer."""

FREE, MATRIX, REDUCTION, WINDOW_OP = (OP_CLASSES.index(c) for c in ("free", "matrix", "reduction", "window"))

VALUES_ALIVE = VECTOR_REGISTERS // REGISTERS_IN_FLIGHT


@njit(cache=True)
def phases(edges, inputs, hero, hero_class, phase) -> None:
    """What the hero needs is made anew in every step (it lives in registers, not in the buffer); what needs the hero,
    or nothing that it needs, waits for the complete tile."""
    split = MATRIX <= hero_class <= WINDOW_OP
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
def layouts(kernels, k, edges, inputs, hero, phase, node_class, lanes, layout) -> None:
    """Fill uint8[nodes, 2] `layout` with the loops along lanes and sublanes.

    Operands lie as :func:`lib.schedule.register_layout.register_loops` says. Ops of a phase lie as what decides it: the
    output, or before the hero the largest operand that the vector unit loads for it (that streams past it, if there is
    none). One that does not extend along those lanes takes the layout of its largest source. A matrix op's result lies
    as the array gives it, see :func:`_given`.
    """
    first_operand, first_op = kernels.operand_offset[k], kernels.op_offset[k]
    output = kernels.operand_offset[k + 1] - 1
    loops = kernels.loops[k]
    reference = output
    if MATRIX <= node_class[hero] <= WINDOW_OP:
        largest = np.int64(0)
        for wanted in (STREAMED, EVERY_STEP):
            for node in range(inputs):
                if phase[node] == wanted and kernels.operand_elements[first_operand + node] > largest:
                    largest = kernels.operand_elements[first_operand + node]
                    reference = first_operand + node
            largest = np.int64(0)
    for node in range(len(layout)):
        if node < inputs:
            order = kernels.operand_order[first_operand + node]
            layout[node, 0], layout[node, 1] = register_loops(order, loops, lanes)
            continue
        op = first_op + node - inputs
        if node_class[node] == MATRIX:
            _given(kernels, k, lanes, layout[node])
            continue
        order = kernels.operand_order[output if phase[node] == COMPLETE_STEP else reference]
        minor, second = register_loops(order, loops, lanes)
        layout[node, 0], layout[node, 1] = minor, second
        if minor == NO_LOOP or kernels.op_stride[op, minor] > 0:
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
                    layout[node, 0], layout[node, 1] = layout[source, 0], layout[source, 1]


@njit(cache=True)
def _given(kernels, k, lanes, layout) -> None:
    """Fill uint8[2] `layout` of a matrix op's result: output channels on lanes, or what the output has there where
    they are narrow; on sublanes the output's most minor other loop."""
    output = kernels.operand_offset[k + 1] - 1
    order, loops = kernels.operand_order[output], kernels.loops[k]
    layout[0], layout[1] = register_loops(order, loops, lanes)
    channel = _channel(OUT_C, loops, kernels.loop_kind[k], lanes)
    if channel != NO_LOOP and channel != layout[0]:
        layout[0], layout[1] = channel, layout[0]


@njit(cache=True)
def count_relayouts(kernels, k, edges, hero, hero_class, phase, lanes, layout, relayouts) -> None:
    """Count the edges whose source lies along other lanes than its target wants.

    A matrix op wants its first source along the contracted channels (the groups of a depthwise one) and takes weights
    either way; it gives its result along the output channels. Where those channels are narrow, so that nobody lays
    them on lanes, it takes and gives what there is.
    """
    output = kernels.operand_offset[k + 1] - 1
    loops, kind = kernels.loops[k], kernels.loop_kind[k]
    matrix_in = _channel(IN_C, loops, kind, lanes)
    matrix_out = _channel(OUT_C, loops, kind, lanes)
    streamed = False
    for edge in range(len(edges)):
        source, target = edges[edge, 0], edges[edge, 1]
        have, want = layout[source, 0], layout[target, 0]
        if source == hero and hero_class == MATRIX:
            have = matrix_out
        if target == hero and hero_class == MATRIX:
            if streamed:
                continue
            streamed = True
            want = matrix_in
        if have != want and have != NO_LOOP and want != NO_LOOP and loops[have] > 1:
            when = COMPLETE_STEP if phase[target] == COMPLETE_STEP else EVERY_STEP
            relayouts[source, when] += 1
    root = len(layout) - 1
    have, want = layout[root, 0], register_loops(kernels.operand_order[output], loops, lanes)[0]
    if root == hero and hero_class == MATRIX:
        have = matrix_out
    if have != want and have != NO_LOOP and want != NO_LOOP and loops[have] > 1:
        relayouts[root, COMPLETE_STEP if MATRIX <= hero_class <= WINDOW_OP else EVERY_STEP] += 1


@njit(cache=True)
def _channel(loop, loops, kind, lanes) -> int:
    """The loop that the matrix unit has on lanes: the channels `loop`, or the groups if there are none; NO_LOOP where
    it is narrow."""
    channel = loop if kind[loop] != ABSENT else GROUP
    return NO_LOOP if is_narrow(loops[channel], lanes) else channel


@njit(cache=True)
def _next_use(edges, node, after) -> int:
    """First op after `after` that reads `node`; a number beyond all nodes where there is none."""
    first = 1 << 30
    for edge in range(len(edges)):
        if edges[edge, 0] == node and edges[edge, 1] > after:
            first = min(first, edges[edge, 1])
    return first


@njit(cache=True)
def live_ranges(edges, inputs, node_class, phase, reloads, stores) -> None:
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
