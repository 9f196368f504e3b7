"""Loop orders and the canonical order of tiles."""

import numpy as np

from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, OUT_H, OUT_W, Kernels
from lib.program.op_kinds import OP_CLASSES, op_class_numbers

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


def has_canonical_loops(kernels: Kernels) -> np.ndarray:
    """bool[k]: whether the kernel's loops are those of a matrix or window op, which have names and loop orders."""
    hero_class = op_class_numbers()[kernels.op_kind[kernels.hero]]
    return (hero_class == OP_CLASSES.index("matrix")) | (hero_class == OP_CLASSES.index("window"))


def loop_nest(order: int, canonical: bool) -> np.ndarray:
    """int64[8]: slots from the outermost loop to the innermost one for a kernel.

    A kernel without canonical loops has its slots in order already (root dimensions, then reduced ones), so
    every loop order gives 0..7 there.
    """
    return LOOP_ORDERS[order] if canonical else np.arange(8, dtype=np.int64)
