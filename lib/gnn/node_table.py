"""Nodes of all kernels in one table: operands but the output, then ops, as edges number them."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.program.kernels import ABSENT, GROUP, IN_C, NO_LOOP, OUT_C, REDUCTION, WINDOW, Kernels
from lib.program.op_kinds import OP_CLASSES, SWEPT_CLASSES, op_class_numbers, op_kind_numbers
from lib.schedule.register_layout import is_narrow, register_loops

OPERAND = 255
"""Op class of an operand in `NodeTable.op_class`."""
MATRIX = OP_CLASSES.index("matrix")


class NodeTable(NamedTuple):
    """N nodes of k kernels. The root stands for the output operand as well."""

    offset: np.ndarray
    """int64[k + 1]"""
    op_kind: np.ndarray
    """int32[N] number of the op kind; operands are parameters."""
    op_class: np.ndarray
    """uint8[N] position in OP_CLASSES, OPERAND for operands."""
    role: np.ndarray
    """uint8[N] INPUT or WEIGHT for operands, OUTPUT for the root, NO_LOOP for the other ops."""
    is_hero: np.ndarray
    """bool[N]"""
    stride: np.ndarray
    """int32[N, 8] of what the node holds: the operand, or the op's result."""
    swept: np.ndarray
    """bool[N] whether it is an op of a class in SWEPT_CLASSES."""
    iterates: np.ndarray
    """uint8[N, 8] 1 where the op runs over the loop; operands: where they extend along it."""
    order: np.ndarray
    """uint8[N, 8] loops from the minor dimension to the major one; an op lies like the operand (or output)
    that extends along the same loops, or else along the most similar ones."""
    elements: np.ndarray
    """int64[N]"""
    element_bytes: np.ndarray
    """int64[N]"""
    form: np.ndarray
    """uint8[N] bits of FORMS of a matrix op, else 0."""
    alike: np.ndarray
    """int64[N] first node of the kernel (itself, if there is none before) with the same stride, swept, iterates,
    order, elements and element_bytes, as in a chain of elementwise ops: what a tile means for the one it means
    for the other."""


def node_table(kernels: Kernels) -> NodeTable:
    """The node table of `kernels`."""
    inputs = np.diff(kernels.operand_offset) - 1
    offset = np.concatenate([[0], np.cumsum(inputs + np.diff(kernels.op_offset))]).astype(np.int64)
    nodes = int(offset[-1])
    table = NodeTable(
        offset=offset,
        op_kind=np.full(nodes, op_kind_numbers()["parameter"], np.int32),
        op_class=np.full(nodes, OPERAND, np.uint8),
        role=np.full(nodes, NO_LOOP, np.uint8),
        is_hero=np.zeros(nodes, np.bool_),
        stride=np.zeros((nodes, 8), np.int32),
        swept=np.zeros(nodes, np.bool_),
        iterates=np.zeros((nodes, 8), np.uint8),
        order=np.full((nodes, 8), NO_LOOP, np.uint8),
        elements=np.zeros(nodes, np.int64),
        element_bytes=np.zeros(nodes, np.int64),
        form=np.zeros(nodes, np.uint8),
        alike=np.arange(nodes),
    )
    _fill_nodes(
        table, kernels.loop_kind, kernels.hero, kernels.operand_offset, kernels.operand_role, kernels.operand_stride,
        kernels.operand_order, kernels.operand_elements, kernels.operand_element_bytes, kernels.op_offset,
        kernels.op_kind, kernels.op_stride, kernels.op_elements, kernels.op_element_bytes, kernels.op_form,
        op_class_numbers(),
    )  # fmt: skip
    kernel = np.repeat(np.arange(kernels.number), np.diff(offset))
    columns = (kernel, table.stride, table.swept, table.iterates, table.order, table.elements, table.element_bytes)
    _, first, place = np.unique(np.column_stack(columns), axis=0, return_index=True, return_inverse=True)
    table.alike[:] = first[place]
    return table


@njit(cache=True)
def _fill_nodes(
    table, loop_kind, hero, operand_offset, operand_role, operand_stride, operand_order, operand_elements,
    operand_element_bytes, op_offset, op_kind, op_stride, op_elements, op_element_bytes, op_form, class_of_kind,
):  # fmt: skip
    for k in range(len(loop_kind)):
        node = table.offset[k]
        output = operand_offset[k + 1] - 1
        for o in range(operand_offset[k], output):
            table.role[node] = operand_role[o]
            table.elements[node] = operand_elements[o]
            table.element_bytes[node] = operand_element_bytes[o]
            for slot in range(8):
                table.stride[node, slot] = operand_stride[o, slot]
                table.iterates[node, slot] = operand_stride[o, slot] > 0
                table.order[node, slot] = operand_order[o, slot]
            node += 1
        for n in range(op_offset[k], op_offset[k + 1]):
            op_class = class_of_kind[op_kind[n]]
            is_hero = n == hero[k]
            is_root = n == op_offset[k + 1] - 1
            table.op_kind[node] = op_kind[n]
            table.op_class[node] = op_class
            table.is_hero[node] = is_hero
            table.elements[node] = op_elements[n]
            table.element_bytes[node] = op_element_bytes[n]
            table.form[node] = op_form[n]
            if is_root:
                table.role[node] = operand_role[output]
            table.swept[node] = SWEPT_CLASSES[op_class]
            reduces = is_hero and SWEPT_CLASSES[op_class]
            for slot in range(8):
                table.iterates[node, slot] = op_stride[n, slot] > 0
                kind = loop_kind[k, slot]
                if is_root:
                    table.stride[node, slot] = operand_stride[output, slot]
                elif not (reduces and kind in (REDUCTION, WINDOW)):
                    table.stride[node, slot] = op_stride[n, slot]
            order = operand_order[
                output if is_root else _lies_like(table.stride[node], operand_stride, operand_offset[k], output)
            ]
            position = 0
            for p in range(8):
                slot = order[p]
                if slot != NO_LOOP and (is_root or table.stride[node, slot] > 0):
                    table.order[node, position] = slot
                    position += 1
            node += 1


@njit(cache=True)
def _lies_like(stride, operand_stride, first, output) -> int:
    """The operand that extends along the loops of an op and along few others; of equal ones the output."""
    best, most = output, -1
    for place in range(output - first + 1):
        o = output - place
        agreeing = 0
        for slot in range(8):
            agreeing += (stride[slot] > 0) == (operand_stride[o, slot] > 0)
        if agreeing > most:
            best, most = o, agreeing
    return best


def turned_nodes(kernels: Kernels, nodes: NodeTable, kernel_limits: np.ndarray) -> np.ndarray:
    """bool[N]: whether a consumer wants the node along other lanes than it lies on, so that it has to be turned.

    A matrix op wants its first source along the contracted channels and gives its result along the output channels,
    where these are wide enough to lie on lanes. `kernel_limits`: int64[k, ...] as from `hardware_limits`.
    """
    turned = np.zeros(len(nodes.op_kind), np.bool_)
    _find_turned(
        turned, nodes.offset, nodes.op_class, nodes.is_hero, nodes.order, kernels.loops, kernels.loop_kind,
        kernels.edge_offset, kernels.edge, np.asarray(kernel_limits),
    )  # fmt: skip
    return turned


@njit(cache=True)
def _find_turned(turned, offset, op_class, is_hero, order, loops, loop_kind, edge_offset, edge, limits):
    for k in range(len(loops)):
        first, lanes = offset[k], limits[k, 0]
        streamed = False
        for e in range(edge_offset[k], edge_offset[k + 1]):
            source, target = first + edge[e, 0], first + edge[e, 1]
            have = _lane_loop(source, op_class, is_hero, order, loops[k], loop_kind[k], lanes)
            want = register_loops(order[target], loops[k], lanes)[0]
            if is_hero[target] and op_class[target] == MATRIX:
                want = NO_LOOP if streamed else _channels(IN_C, loops[k], loop_kind[k], lanes)
                streamed = True
            turned[source] |= have != want and have != NO_LOOP and want != NO_LOOP and loops[k, have] > 1
        root = offset[k + 1] - 1
        have = _lane_loop(root, op_class, is_hero, order, loops[k], loop_kind[k], lanes)
        want = register_loops(order[root], loops[k], lanes)[0]
        turned[root] |= have != want and have != NO_LOOP and want != NO_LOOP and loops[k, have] > 1


@njit(cache=True)
def _lane_loop(node, op_class, is_hero, order, loops, loop_kind, lanes) -> int:
    if is_hero[node] and op_class[node] == MATRIX:
        return _channels(OUT_C, loops, loop_kind, lanes)
    return register_loops(order[node], loops, lanes)[0]


@njit(cache=True)
def _channels(loop, loops, loop_kind, lanes) -> int:
    """The loop that the matrix unit has on lanes: channels, or groups if there are none; NO_LOOP where it is narrow."""
    channels = loop if loop_kind[loop] != ABSENT else GROUP
    return NO_LOOP if is_narrow(loops[channels], lanes) else channels


@njit(cache=True)
def fill_of(extent, width) -> float:
    """Share of `width`-wide registers that `extent` elements fill."""
    return extent / (-(-extent // width) * width)
