"""What a kernel computes and moves at least, whatever its schedule."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.program.kernels import OUTPUT, Kernels
from lib.program.op_kinds import OP_CLASSES, SWEPT_CLASSES, op_class_numbers
from lib.schedule.footprint import iterations, tile_elements

_MATRIX = OP_CLASSES.index("matrix")


class KernelWork(NamedTuple):
    """One entry a kernel, float64."""

    flops: np.ndarray
    """[k] two for each multiply-accumulate of the matrix op, window positions on padding or inserted zeros included."""
    vector_ops: np.ndarray
    """[k, len(OP_CLASSES)] elementary operations of the other ops by cost class."""
    transcendentals: np.ndarray
    """[k] the transcendental class of `vector_ops`."""
    bytes_read: np.ndarray
    """[k] every operand once, as far as the kernel touches it."""
    bytes_written: np.ndarray
    """[k] the output once."""


def kernel_work(kernels: Kernels) -> KernelWork:
    """The work of each kernel, once executed."""
    work, read, written = _work(
        kernels.loops, kernels.loop_kind, kernels.base_dilation, kernels.operand_offset, kernels.operand_role,
        kernels.operand_stride, kernels.operand_elements, kernels.operand_element_bytes, kernels.op_offset,
        op_class_numbers()[kernels.op_kind], kernels.op_stride, kernels.op_elements, len(OP_CLASSES), SWEPT_CLASSES,
    )  # fmt: skip
    flops = 2.0 * work[:, _MATRIX]
    work[:, _MATRIX] = 0.0
    return KernelWork(flops, work, work[:, OP_CLASSES.index("transcendental")].copy(), read, written)


@njit(cache=True)
def _work(
    loops, loop_kind, base_dilation, operand_offset, role, operand_stride, operand_elements, operand_bytes, op_offset,
    op_class, op_stride, op_elements, classes, swept,
):  # fmt: skip
    count = len(loops)
    work = np.zeros((count, classes))
    read = np.zeros(count)
    written = np.zeros(count)
    for k in range(count):
        for op in range(op_offset[k], op_offset[k + 1]):
            points = iterations(op_stride[op], loops[k]) if swept[op_class[op]] else op_elements[op]
            work[k, op_class[op]] += points
        for o in range(operand_offset[k], operand_offset[k + 1]):
            touched = tile_elements(operand_stride[o], loop_kind[k], base_dilation[k], loops[k], operand_elements[o])
            if role[o] == OUTPUT:
                written[k] += touched * operand_bytes[o]
            else:
                read[k] += touched * operand_bytes[o]
    return work, read, written
