"""What a kernel gives the vector unit to do, ops with the same iteration space taken together."""

import numpy as np
from numba import njit

from lib.program.kernels import Kernels
from lib.program.op_kinds import OP_CLASSES, op_class_numbers
from lib.schedule.node_table import (
    END,
    FIRST,
    LOOPS_WALKED,
    ROLE,
    WHOLE,
    NodeTable,
    add_dimension,
    add_plain_dimension,
    loops_walked,
)

LANE_CYCLES = {
    "free": 0.0,
    "matrix": 0.0,
    "reduction": 1.0,
    "window": 1.0,
    "simple": 1.0,
    "divide": 4.0,
    "transcendental": 8.0,
    "movement": 1.0,
}
"""Cycles of one lane for one element by cost class: one instruction for a simple op; a reciprocal estimate and two
Newton steps for a divide; range reduction, a polynomial of degree 4-5 and scaling for a transcendental."""

_COST = np.array([LANE_CYCLES[name] for name in OP_CLASSES])
_SWEPT = np.array([name in ("reduction", "window") for name in OP_CLASSES])


UNBOUNDED = np.iinfo(np.int64).max
"""Whole size of a reduction's or window's iteration space: its tiles are never cut short."""


def vector_work(kernels: Kernels) -> NodeTable:
    """Groups of ops of each kernel: a node's weight is the cycles of one vector lane for one element.

    A reduction or window works at every point of its loops; any other op once an element of its result. Raises
    ValueError for an op kind that is not in the table.
    """
    classes = op_class_numbers()
    unknown = np.flatnonzero(kernels.op_kind >= len(classes))
    if len(unknown):
        kernel = int(np.searchsorted(kernels.op_offset, unknown[0], side="right")) - 1
        raise ValueError(
            f"kernel {kernel} ({kernels.fingerprint[kernel]}): op kind {kernels.op_kind[unknown[0]]} is not in the "
            f"table of {len(classes)} op kinds"
        )
    cost, swept = _COST[classes[kernels.op_kind]], _SWEPT[classes[kernels.op_kind]]
    return NodeTable(
        *_group(
            kernels.loop_kind, kernels.base_dilation, kernels.op_offset, kernels.op_stride, kernels.op_elements,
            cost, swept,
        )
    )  # fmt: skip


@njit(cache=True)
def _group(loop_kind, base_dilation, op_offset, op_stride, op_elements, cost, swept):
    count = len(op_offset) - 1
    offset = np.zeros(count + 1, dtype=np.int64)
    first_op = np.empty(len(cost), dtype=np.int64)
    node = np.zeros((len(cost), 5), dtype=np.int64)
    cycles = np.zeros(len(cost))
    dimension = np.empty((len(cost) * 8, 6), dtype=np.int64)
    used, dimensions = 0, np.int64(0)
    for k in range(count):
        for op in range(op_offset[k], op_offset[k + 1]):
            if cost[op] == 0.0:
                continue
            place = offset[k]
            while place < used and not _alike(op_stride, op_elements, swept, first_op[place], op):
                place += 1
            if place == used:
                first_op[used] = op
                node[used, ROLE] = 0
                node[used, WHOLE] = UNBOUNDED if swept[op] else op_elements[op]
                node[used, LOOPS_WALKED] = loops_walked(op_stride[op])
                node[used, FIRST] = dimensions
                dimensions = _op_dimensions(
                    dimension, dimensions, op_stride[op], loop_kind[k], base_dilation[k], swept[op]
                )
                node[used, END] = dimensions
                used += 1
            cycles[place] += cost[op]
        offset[k + 1] = used
    return offset, node[:used].copy(), cycles[:used].copy(), dimension[:dimensions].copy()


@njit(cache=True)
def _alike(stride, elements, swept, a, b) -> bool:
    alike = swept[a] == swept[b] and elements[a] == elements[b]
    for loop in range(8):
        alike = alike and stride[a, loop] == stride[b, loop]
    return alike


@njit(cache=True)
def _op_dimensions(dimension, row, stride, loop_kind, base_dilation, swept) -> np.int64:
    """Write the dimensions of an op from `row` on and return the row after the last."""
    covered = 0
    for loop in range(8):
        if stride[loop] == 0 or covered >> loop & 1:
            continue
        if swept:  # every point of the loop, however far apart in the input
            add_plain_dimension(dimension, row, loop, np.int64(1), np.int64(1))
        else:
            covered |= add_dimension(dimension, row, loop, stride, loop_kind, base_dilation, np.int64(1))
        row += 1
    return row
