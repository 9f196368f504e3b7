"""What a kernel gives the vector unit to do, ops with the same iteration space taken together."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.program.kernels import Kernels
from lib.program.op_kinds import OP_CLASSES, op_class_numbers

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


class VectorWork(NamedTuple):
    """Groups of ops of k kernels, ragged."""

    offset: np.ndarray
    """int64[k + 1]"""
    stride: np.ndarray
    """int32[g, 8] as `op_stride`."""
    swept: np.ndarray
    """bool[g]: evaluated at every point of its loops (a reduction or window), not once an element of its result."""
    elements: np.ndarray
    """int64[g] elements of the whole result."""
    lane_cycles: np.ndarray
    """float64[g] cycles of one lane for one point or element."""


def vector_work(kernels: Kernels) -> VectorWork:
    """Group the ops of each kernel. Raises ValueError for an op kind that is not in the table."""
    classes = op_class_numbers()
    unknown = np.flatnonzero(kernels.op_kind >= len(classes))
    if len(unknown):
        kernel = int(np.searchsorted(kernels.op_offset, unknown[0], side="right")) - 1
        raise ValueError(
            f"kernel {kernel} ({kernels.fingerprint[kernel]}): op kind {kernels.op_kind[unknown[0]]} is not in the "
            f"table of {len(classes)} op kinds"
        )
    groups = _group(
        kernels.op_offset, kernels.op_stride, kernels.op_elements, _COST[classes[kernels.op_kind]],
        _SWEPT[classes[kernels.op_kind]],
    )  # fmt: skip
    return VectorWork(*groups)


@njit(cache=True)
def _group(op_offset, op_stride, op_elements, cost, swept):
    count = len(op_offset) - 1
    offset = np.zeros(count + 1, dtype=np.int64)
    first = np.empty(len(cost), dtype=np.int64)
    cycles = np.zeros(len(cost))
    used = 0
    for k in range(count):
        start = used
        for op in range(op_offset[k], op_offset[k + 1]):
            if cost[op] == 0.0:
                continue
            place = start
            while place < used:
                other = first[place]
                if (
                    swept[other] == swept[op]
                    and op_elements[other] == op_elements[op]
                    and np.array_equal(op_stride[other], op_stride[op])
                ):
                    break
                place += 1
            if place == used:
                first[used] = op
                used += 1
            cycles[place] += cost[op]
        offset[k + 1] = used
    first = first[:used]
    return offset, op_stride[first], swept[first], op_elements[first], cycles[:used].copy()
