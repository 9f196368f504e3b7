"""What a kernel gives the vector unit to do, ops with the same iteration space taken together."""

import numpy as np
from numba import njit

from lib.program.kernels import Kernels
from lib.program.op_kinds import OP_CLASSES, op_class_numbers
from lib.schedule.candidates import compiled_view
from lib.schedule.node_table import (
    END,
    FIRST,
    LOOPS_WALKED,
    NO_EXTENT,
    WHOLE,
    NodeTable,
    add_dimension,
    add_plain_dimension,
    loops_walked,
    node_elements,
    set_extents,
)
from lib.schedule.register_layout import register_loops

INSTRUCTIONS = {
    "free": 0.0,
    "matrix": 0.0,
    "reduction": 1.0,
    "window": 1.0,
    "simple": 1.0,
    "divide": 4.0,
    "transcendental": 3.0,
    "movement": 1.0,
}
"""Arithmetic instructions for one element by cost class: a reciprocal estimate and two Newton steps for a divide; for a
transcendental one that starts the unit for such functions, and scaling before and after."""

_INSTRUCTIONS = np.array([INSTRUCTIONS[name] for name in OP_CLASSES])
_SWEPT = np.array([name in ("reduction", "window") for name in OP_CLASSES])


UNBOUNDED = np.iinfo(np.int64).max
"""Whole size of a node whose tiles are never cut short: they all lie within it."""


def vector_work(kernels: Kernels, register_sublanes: int, register_lanes: int) -> NodeTable:
    """Groups of ops of each kernel: a node's weight is the arithmetic instructions for one element.

    A reduction or window works at every point of its loops; any other op once an element of its result. An op lies in
    registers as the kernel's output does or, where it has a loop that the output has not, as the kernel's largest
    operand does; its dimensions on lanes and sublanes fill whole registers. Raises ValueError for an op kind that is
    not in the table.
    """
    classes = op_class_numbers()
    unknown = np.flatnonzero(kernels.op_kind >= len(classes))
    if len(unknown):
        kernel = int(np.searchsorted(kernels.op_offset, unknown[0], side="right")) - 1
        raise ValueError(
            f"kernel {kernel} ({kernels.fingerprint[kernel]}): op kind {kernels.op_kind[unknown[0]]} is not in the "
            f"table of {len(classes)} op kinds"
        )
    op_class = classes[kernels.op_kind]
    return NodeTable(
        *_group(
            compiled_view(kernels), _INSTRUCTIONS[op_class], _SWEPT[op_class], register_sublanes, register_lanes
        )
    )  # fmt: skip


@njit(cache=True)
def _group(kernels, op_instructions, swept, sublanes, lanes):
    count, ops = len(kernels.loops), len(op_instructions)
    offset = np.zeros(count + 1, dtype=np.int64)
    first_op = np.empty(ops, dtype=np.int64)
    node = np.zeros((ops, 5), dtype=np.int64)
    instructions = np.zeros(ops)
    dimension = np.empty((ops * 8, 6), dtype=np.int64)
    whole = np.ones(NO_EXTENT + 1, dtype=np.int64)
    used, dimensions = 0, np.int64(0)
    for k in range(count):
        output = kernels.operand_offset[k + 1] - 1
        largest = kernels.operand_offset[k] + np.argmax(
            kernels.operand_elements[kernels.operand_offset[k] : output + 1]
        )
        for op in range(kernels.op_offset[k], kernels.op_offset[k + 1]):
            if op_instructions[op] == 0.0:
                continue
            place = offset[k]
            while place < used and not _alike(kernels, swept, first_op[place], op):
                place += 1
            if place == used:
                stride = kernels.op_stride[op]
                walked = loops_walked(stride)
                lies_as = largest if walked & ~loops_walked(kernels.operand_stride[output]) else output
                lane, sublane = register_loops(kernels.operand_order[lies_as], kernels.loops[k], lanes)
                rows = max(1, sublanes * 4 // kernels.op_element_bytes[op])
                first_op[used] = op
                node[used, LOOPS_WALKED], node[used, FIRST] = walked, dimensions
                dimensions = _op_dimensions(
                    kernels, k, stride, swept[op], lane, lanes, sublane, rows, dimension, dimensions
                )
                node[used, END], node[used, WHOLE] = dimensions, UNBOUNDED
                set_extents(whole, kernels.loops[k])
                if node_elements(node, dimension, used, whole) > kernels.op_elements[op] and not swept[op]:
                    node[used, WHOLE] = kernels.op_elements[op]
                used += 1
            instructions[place] += op_instructions[op]
        offset[k + 1] = used
    return offset, node[:used].copy(), instructions[:used].copy(), dimension[:dimensions].copy()


@njit(cache=True)
def _alike(kernels, swept, a, b) -> bool:
    alike = swept[a] == swept[b] and kernels.op_elements[a] == kernels.op_elements[b]
    alike = alike and kernels.op_element_bytes[a] == kernels.op_element_bytes[b]
    for loop in range(8):
        alike = alike and kernels.op_stride[a, loop] == kernels.op_stride[b, loop]
    return alike


@njit(cache=True)
def _op_dimensions(kernels, k, stride, swept, lane, lanes, sublane, rows, dimension, row) -> np.int64:
    """Write the dimensions of an op from `row` on, along loop `lane` in multiples of `lanes` and along `sublane` in
    multiples of `rows`; returns the row after the last."""
    covered = 0
    for loop in range(8):
        if stride[loop] == 0 or covered >> loop & 1:
            continue
        multiple = lanes if loop == lane else (rows if loop == sublane else np.int64(1))
        if swept:  # every point of the loop, however far apart in the input
            add_plain_dimension(dimension, row, loop, np.int64(1), multiple)
        else:
            covered |= add_dimension(
                dimension, row, loop, stride, kernels.loop_kind[k], kernels.base_dilation[k], multiple
            )
        row += 1
    return row
