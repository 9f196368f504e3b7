"""A handful of hand-made kernels whose sizes can be checked with pencil and paper."""

from lib.program.kernel_builder import KernelRow, KernelsBuilder, OperandRow, OpRow
from lib.program.kernels import ABSENT, INPUT, OUTPUT, PARALLEL, REDUCTION, WEIGHT, WINDOW, Kernels

P, R, W, A = PARALLEL, REDUCTION, WINDOW, ABSENT


def convolution_relu(batch=4, height=28, width=28, out_c=256, in_c=128, kernel=3, stride=1) -> KernelRow:
    """convolution (same padding), bias, relu; NHWC, bfloat16."""
    loops = (batch, height, width, out_c, in_c, kernel, kernel, 1)
    pixels = batch * height * width
    s = stride
    out = (1, 1, 1, 1, 0, 0, 0, 0)
    return KernelRow(
        kernel_class=0, loops=loops, loop_kind=(P, P, P, P, R, W, W, A), hero=0,
        operands=[
            OperandRow(INPUT, (1, s, s, 0, 1, 1, 1, 0), (4, 2, 1, 0), batch * height * s * width * s * in_c, 2),
            OperandRow(WEIGHT, (0, 0, 0, 1, 1, 1, 1, 0), (3, 4, 6, 5), kernel * kernel * in_c * out_c, 2),
            OperandRow(WEIGHT, (0, 0, 0, 1, 0, 0, 0, 0), (3,), out_c, 2),
            OperandRow(OUTPUT, out, (3, 2, 1, 0), pixels * out_c, 2),
        ],
        ops=[
            OpRow("convolution", (1, 1, 1, 1, 1, 1, 1, 0), pixels * out_c, 2, (0, 1)),
            OpRow("add", out, pixels * out_c, 2, (3, 2)),
            OpRow("maximum", out, pixels * out_c, 2, (4,)),
        ],
    )  # fmt: skip


def depthwise(batch=4, height=28, width=28, channels=192, kernel=3) -> KernelRow:
    """Depthwise convolution: one input and one output channel a group."""
    pixels = batch * height * width
    out = (1, 1, 1, 0, 0, 0, 0, 1)
    return KernelRow(
        kernel_class=1, loops=(batch, height, width, 1, 1, kernel, kernel, channels),
        loop_kind=(P, P, P, A, A, W, W, P), hero=0,
        operands=[
            OperandRow(INPUT, (1, 1, 1, 0, 0, 1, 1, 1), (7, 2, 1, 0), pixels * channels, 2),
            OperandRow(WEIGHT, (0, 0, 0, 0, 0, 1, 1, 1), (7, 6, 5), kernel * kernel * channels, 2),
            OperandRow(OUTPUT, out, (7, 2, 1, 0), pixels * channels, 2),
        ],
        ops=[OpRow("convolution", (1, 1, 1, 0, 0, 1, 1, 1), pixels * channels, 2, (0, 1))],
    )  # fmt: skip


def dot(rows=64, columns=1000, contracted=2048) -> KernelRow:
    """[rows, contracted] x [contracted, columns]."""
    return KernelRow(
        kernel_class=2, loops=(rows, 1, 1, columns, contracted, 1, 1, 1),
        loop_kind=(P, A, A, P, R, A, A, A), hero=0,
        operands=[
            OperandRow(INPUT, (1, 0, 0, 0, 1, 0, 0, 0), (4, 0), rows * contracted, 2),
            OperandRow(WEIGHT, (0, 0, 0, 1, 1, 0, 0, 0), (3, 4), contracted * columns, 2),
            OperandRow(OUTPUT, (1, 0, 0, 1, 0, 0, 0, 0), (3, 0), rows * columns, 2),
        ],
        ops=[OpRow("dot", (1, 0, 0, 1, 1, 0, 0, 0), rows * columns, 2, (0, 1))],
    )  # fmt: skip


def elementwise(batch=4, height=56, width=56, channels=96) -> KernelRow:
    """logistic(a + b) of two NHWC arrays."""
    n = batch * height * width * channels
    s, order = (1, 1, 1, 1, 0, 0, 0, 0), (3, 2, 1, 0)
    return KernelRow(
        kernel_class=5, loops=(batch, height, width, channels, 1, 1, 1, 1),
        loop_kind=(P, P, P, P, A, A, A, A), hero=1,
        operands=[
            OperandRow(INPUT, s, order, n, 2), OperandRow(INPUT, s, order, n, 2), OperandRow(OUTPUT, s, order, n, 2),
        ],
        ops=[OpRow("add", s, n, 2, (0, 1)), OpRow("logistic", s, n, 2, (2,))],
    )  # fmt: skip


def reduction(batch=4, height=56, width=56, channels=96) -> KernelRow:
    """Mean's sum over height and width: out [batch, channels]; loops batch, channels, then height, width."""
    n = batch * height * width * channels
    return KernelRow(
        kernel_class=3, loops=(batch, channels, height, width, 1, 1, 1, 1),
        loop_kind=(P, P, R, R, A, A, A, A), hero=0,
        operands=[
            OperandRow(INPUT, (1, 1, 1, 1, 0, 0, 0, 0), (1, 3, 2, 0), n, 2),
            OperandRow(OUTPUT, (1, 1, 0, 0, 0, 0, 0, 0), (1, 0), batch * channels, 2),
        ],
        ops=[OpRow("reduce", (1, 1, 1, 1, 0, 0, 0, 0), batch * channels, 2, (0,))],
    )  # fmt: skip


def max_pool(batch=4, height=28, width=28, channels=64, kernel=3, stride=2) -> KernelRow:
    """reduce-window maximum."""
    n = batch * height * width * channels
    return KernelRow(
        kernel_class=4, loops=(batch, height, width, channels, 1, kernel, kernel, 1),
        loop_kind=(P, P, P, P, A, W, W, A), hero=0,
        operands=[
            OperandRow(INPUT, (1, stride, stride, 1, 0, 1, 1, 0), (3, 2, 1, 0), n * stride * stride, 2),
            OperandRow(OUTPUT, (1, 1, 1, 1, 0, 0, 0, 0), (3, 2, 1, 0), n, 2),
        ],
        ops=[OpRow("reduce-window", (1, 1, 1, 1, 0, 1, 1, 0), n, 2, (0,))],
    )  # fmt: skip


def example_kernels() -> Kernels:
    """One of each: convolution_relu, depthwise, dot, elementwise, reduction, max_pool."""
    builder = KernelsBuilder()
    for make in (convolution_relu, depthwise, dot, elementwise, reduction, max_pool):
        builder.add(make())
    return builder.build()
