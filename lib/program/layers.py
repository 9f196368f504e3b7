"""Single layers as kernels, from sizes alone: what other tools' layer tables describe."""

from lib.program.kernel_builder import KernelRow, OperandRow, OpRow
from lib.program.kernels import (
    ABSENT,
    BATCH,
    IN_C,
    INPUT,
    KERNEL_CLASSES,
    KERNEL_H,
    KERNEL_W,
    OUT_C,
    OUT_H,
    OUT_W,
    OUTPUT,
    PARALLEL,
    REDUCTION,
    WEIGHT,
    WINDOW,
)

KINDS = (PARALLEL, PARALLEL, PARALLEL, PARALLEL, REDUCTION, WINDOW, WINDOW, ABSENT)


def convolution_layer(
    batch: int, height: int, width: int, out_c: int, in_c: int, kernel_h: int = 1, kernel_w: int = 1, *,
    stride: int = 1, element_bytes: int = 2,
) -> KernelRow:  # fmt: skip
    """A convolution of an input that is given padded, channels minor (NHWC, HWIO); `height`, `width`: of the output.

    The input has `(height - 1) stride + kernel_h` lines, as many as the windows reach.
    """
    lines, line = (height - 1) * stride + kernel_h, (width - 1) * stride + kernel_w
    loops = (batch, height, width, out_c, in_c, kernel_h, kernel_w, 1)
    s, o = stride, (1, 1, 1, 1, 0, 0, 0, 0)
    weights, pixels = kernel_h * kernel_w * in_c * out_c, batch * height * width
    return KernelRow(
        kernel_class=KERNEL_CLASSES.index("convolution"), loops=loops, loop_kind=KINDS, hero=0,
        operands=[
            OperandRow(INPUT, (1, s, s, 0, 1, 1, 1, 0), (IN_C, OUT_W, OUT_H, BATCH), batch * lines * line * in_c,
                       element_bytes),
            OperandRow(WEIGHT, (0, 0, 0, 1, 1, 1, 1, 0), (OUT_C, IN_C, KERNEL_W, KERNEL_H), weights, element_bytes),
            OperandRow(OUTPUT, o, (OUT_C, OUT_W, OUT_H, BATCH), pixels * out_c, element_bytes),
        ],
        ops=[OpRow("convolution", (1, 1, 1, 1, 1, 1, 1, 0), pixels * out_c, element_bytes, (0, 1))],
    )  # fmt: skip


def product_layer(rows: int, columns: int, contracted: int, *, element_bytes: int = 2) -> KernelRow:
    """[rows, contracted] x [contracted, columns], the last dimension minor."""
    return KernelRow(
        kernel_class=KERNEL_CLASSES.index("dot"), loops=(rows, 1, 1, columns, contracted, 1, 1, 1),
        loop_kind=(PARALLEL, ABSENT, ABSENT, PARALLEL, REDUCTION, ABSENT, ABSENT, ABSENT), hero=0,
        operands=[
            OperandRow(INPUT, (1, 0, 0, 0, 1, 0, 0, 0), (IN_C, BATCH), rows * contracted, element_bytes),
            OperandRow(WEIGHT, (0, 0, 0, 1, 1, 0, 0, 0), (OUT_C, IN_C), contracted * columns, element_bytes),
            OperandRow(OUTPUT, (1, 0, 0, 1, 0, 0, 0, 0), (OUT_C, BATCH), rows * columns, element_bytes),
        ],
        ops=[OpRow("dot", (1, 0, 0, 1, 1, 0, 0, 0), rows * columns, element_bytes, (0, 1))],
    )  # fmt: skip


__all__ = ["convolution_layer", "product_layer"]
