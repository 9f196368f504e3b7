"""Loop orders and the canonical order of tiles."""

import numpy as np

from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, OUT_H, OUT_W

LOOP_ORDERS = np.array(
    [
        [GROUP, BATCH, OUT_H, OUT_W, OUT_C, IN_C, KERNEL_H, KERNEL_W],
        [GROUP, OUT_C, BATCH, OUT_H, OUT_W, IN_C, KERNEL_H, KERNEL_W],
        [GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, BATCH, OUT_H, OUT_W],
    ],
    dtype=np.int64,
)
"""int64[orders, 8] outermost loop first. 0 (default): an input tile stays over the output channels;
1: a weight tile stays over the pixels; 2: weights are read once, partial sums go out and come back.

Order 0 also stands for kernels without a matrix or window op, whose slots are numbered from the root's
major dimension: parallel loops first, reduced ones innermost, see :func:`loop_nest`."""


def loop_nest(order: int, loop_kind: np.ndarray, matrix: bool) -> np.ndarray:
    """int64[8]: slots from the outermost loop to the innermost one for a kernel.

    A kernel without a matrix or window op has its slots in order already (root dimensions, then reduced
    ones), so every loop order gives 0..7 there.
    """
    return LOOP_ORDERS[order] if matrix else np.arange(8, dtype=np.int64)
