"""Nodes of all kernels in one table: operands but the output, then ops, as edges number them."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.program.kernels import NO_LOOP, REDUCTION, WINDOW, Kernels
from lib.program.op_kinds import OP_CLASSES, op_class_numbers, op_kind_numbers

OPERAND = 255
"""Op class of an operand in `NodeTable.op_class`."""


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
    iterates: np.ndarray
    """uint8[N, 8] 1 where the op runs over the loop; operands: where they extend along it."""
    order: np.ndarray
    """uint8[N, 8] loops from the minor dimension to the major one; an op's are the output's that it has."""
    elements: np.ndarray
    """int64[N]"""
    element_bytes: np.ndarray
    """int64[N]"""
    repeats: np.ndarray
    """bool[N] whether stride, iterates, order, elements and element_bytes are those of the kernel's previous
    node, as in a chain of elementwise ops: what a tile means for the one it means for the other."""


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
        iterates=np.zeros((nodes, 8), np.uint8),
        order=np.full((nodes, 8), NO_LOOP, np.uint8),
        elements=np.zeros(nodes, np.int64),
        element_bytes=np.zeros(nodes, np.int64),
        repeats=np.zeros(nodes, np.bool_),
    )
    heroes = np.array([OP_CLASSES.index(name) for name in ("matrix", "reduction", "window")], np.uint8)
    _fill_nodes(
        table, kernels.loop_kind, kernels.hero, kernels.operand_offset, kernels.operand_role, kernels.operand_stride,
        kernels.operand_order, kernels.operand_elements, kernels.operand_element_bytes, kernels.op_offset,
        kernels.op_kind, kernels.op_stride, kernels.op_elements, kernels.op_element_bytes, op_class_numbers(), heroes,
    )  # fmt: skip
    same = np.ones(max(nodes - 1, 0), np.bool_)
    for values in (table.stride, table.iterates, table.order, table.elements[:, None], table.element_bytes[:, None]):
        same &= (values[1:] == values[:-1]).all(axis=1)
    table.repeats[1:] = same
    table.repeats[offset[:-1]] = False
    return table


@njit(cache=True)
def _fill_nodes(
    table, loop_kind, hero, operand_offset, operand_role, operand_stride, operand_order, operand_elements,
    operand_element_bytes, op_offset, op_kind, op_stride, op_elements, op_element_bytes, class_of_kind, reducing,
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
            if is_root:
                table.role[node] = operand_role[output]
            reduces = is_hero and (op_class == reducing[0] or op_class == reducing[1] or op_class == reducing[2])
            for slot in range(8):
                table.iterates[node, slot] = op_stride[n, slot] > 0
                kind = loop_kind[k, slot]
                if is_root:
                    table.stride[node, slot] = operand_stride[output, slot]
                elif not (reduces and kind in (REDUCTION, WINDOW)):
                    table.stride[node, slot] = op_stride[n, slot]
            position = 0
            for p in range(8):
                slot = operand_order[output, p]
                if slot != NO_LOOP and (is_root or table.stride[node, slot] > 0):
                    table.order[node, position] = slot
                    position += 1
            node += 1


@njit(cache=True)
def fill_of(extent, width) -> float:
    """Share of `width`-wide registers that `extent` elements fill."""
    return extent / (-(-extent // width) * width)
