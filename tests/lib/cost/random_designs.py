"""Random datapaths of the whole template, and random convolutions of every kind."""

import numpy as np

from lib.hardware.datapath import ELEMENT_BYTES, Datapath
from lib.program.kernel_builder import KernelRow, KernelsBuilder, OperandRow, OpRow
from lib.program.kernels import ABSENT, INPUT, OUTPUT, PARALLEL, REDUCTION, WEIGHT, WINDOW, Kernels, concatenate
from tests.lib.cost.random_kernels import random_kernels

KIB, MIB = 1 << 10, 1 << 20


def random_datapath(generator: np.random.Generator) -> Datapath:
    """One core of FAST's template (table 3), with number formats, clocks, register tiles and DRAM of other designs."""

    def pick(*values):
        return values[int(generator.integers(len(values)))]

    def power(least, most):
        return 1 << int(generator.integers(least, most + 1))

    columns = power(0, 8)
    return Datapath(
        clock_hz=pick(0.5e9, 0.94e9, 1e9, 1.7e9),
        cores=1,
        pes_x=power(0, 4),
        pes_y=power(0, 4),
        systolic_rows=power(0, 8),
        systolic_columns=columns,
        vector_lanes=columns * power(0, 4),
        l1_shared=pick(False, True),
        l1_input_bytes=KIB * power(0, 10),
        l1_weight_bytes=KIB * power(0, 10),
        l1_output_bytes=KIB * power(0, 10),
        l2_kind=pick(0, 1, 2),
        l2_input_multiplier=power(0, 7),
        l2_weight_multiplier=power(0, 7),
        l2_output_multiplier=power(0, 7),
        global_buffer_bytes=pick(0, MIB, 4 * MIB, 16 * MIB, 128 * MIB),
        dram_kind=pick(0, 1),
        dram_channels=power(0, 4),
        dram_bytes_per_s=pick(56e9, 112e9, 448e9, 900e9),
        element_bytes=pick(*ELEMENT_BYTES.values()),
        depthwise_mapping=pick(0, 1),
        vector_path=pick(0, 1),
        array_efficiency=pick(0.75, 1.0),
        register_sublanes=pick(4, 8),
        register_lanes=power(2, 7),
        native_batch=power(0, 8),
    )


def convolution(
    batch, out_h, out_w, out_c, in_c, kernel_h, kernel_w, groups=1, stride=1, window_dilation=1, base_dilation=1, size=2
) -> KernelRow:  # fmt: skip
    """Convolution of `groups` groups of `in_c` to `out_c` channels without padding, and a bias.

    `size`: bytes of an element. `base_dilation` puts zeros between the inputs (a transposed convolution).
    """
    loops = (batch, out_h, out_w, out_c, in_c, kernel_h, kernel_w, groups)
    present = [PARALLEL, PARALLEL, PARALLEL, PARALLEL, REDUCTION, WINDOW, WINDOW, PARALLEL]
    kind = tuple(
        p if e > 1 or i in (1, 2, 5, 6) else ABSENT for i, (p, e) in enumerate(zip(present, loops, strict=True))
    )
    has = [int(k != ABSENT) for k in kind]

    def span(out, kernel):
        return ((out - 1) * stride + (kernel - 1) * window_dilation) // base_dilation + 1

    source = (has[0], stride, stride, 0, has[4], window_dilation, window_dilation, has[7])
    weight = (0, 0, 0, has[3], has[4], has[5], has[6], has[7])
    bias = (0, 0, 0, has[3], 0, 0, 0, has[7])
    result = (has[0], 1, 1, has[3], 0, 0, 0, has[7])
    n = batch * out_h * out_w * out_c * groups
    inputs = batch * span(out_h, kernel_h) * span(out_w, kernel_w) * in_c * groups

    def operand(role, stride_row, order, elements):
        return OperandRow(role, stride_row, tuple(s for s in order if stride_row[s] > 0), elements, size)

    return KernelRow(
        kernel_class=1 if groups > 1 and in_c == 1 else 0, loops=loops, loop_kind=kind, hero=0,
        operands=[
            operand(INPUT, source, (4, 7, 2, 1, 0), inputs),
            operand(WEIGHT, weight, (3, 7, 4, 6, 5), out_c * groups * in_c * kernel_h * kernel_w),
            operand(WEIGHT, bias, (3, 7), out_c * groups),
            operand(OUTPUT, result, (3, 7, 2, 1, 0), n),
        ],
        ops=[OpRow("convolution", tuple(has), n, size, (0, 1)), OpRow("add", result, n, size, (3, 2))],
        base_dilation=(base_dilation, base_dilation),
    )  # fmt: skip


def random_convolutions(generator: np.random.Generator, count: int) -> Kernels:
    """`count` convolutions: plain, strided, dilated, transposed, grouped, depthwise."""
    builder = KernelsBuilder()

    def n(most, least=1):
        return int(generator.integers(least, most + 1))

    for number in range(count):
        pixels = n(3), n(16, 2), n(16, 2)
        taps = n(5), n(5)
        size = (1, 2, 4)[n(3) - 1]
        match number % 6:
            case 0:
                row = convolution(*pixels, n(200), n(200), *taps, size=size)
            case 1:
                row = convolution(*pixels, n(200), n(200), *taps, stride=n(3, 2), size=size)
            case 2:
                row = convolution(*pixels, n(100), n(100), *taps, window_dilation=n(3, 2), size=size)
            case 3:
                row = convolution(*pixels, n(100), n(100), *taps, base_dilation=n(3, 2), size=size)
            case 4:
                row = convolution(*pixels, n(32), n(32, 2), *taps, groups=n(12, 2), stride=n(2), size=size)
            case _:
                row = convolution(*pixels, n(2), 1, *taps, groups=n(200, 2), stride=n(2), size=size)
        builder.add(row)
    return builder.build()


def random_kernels_of_all_kinds(generator: np.random.Generator) -> Kernels:
    """Six convolutions and nine kernels of all classes."""
    return concatenate([random_convolutions(generator, 6), random_kernels(generator, 9)])
