"""Random small kernels and schedule rows for tests of cost models."""

import numpy as np

from lib.hardware.datapath import Datapath
from lib.program.kernel_builder import KernelRow, KernelsBuilder, OperandRow, OpRow
from lib.program.kernels import ABSENT, INPUT, OUTPUT, PARALLEL, REDUCTION, WEIGHT, Kernels
from lib.schedule.schedules import Schedules, schedules_for_tiles
from tests.kernel_examples import convolution_relu, depthwise, dot, elementwise, max_pool, reduction

P, R, A = PARALLEL, REDUCTION, ABSENT

TPU_V3 = Datapath(
    clock_hz=0.94e9, cores=2, pes_x=2, pes_y=1, systolic_rows=128, systolic_columns=128, vector_lanes=512,
    l1_shared=True, l1_input_bytes=16384, l1_weight_bytes=32768, l1_output_bytes=16384, l2_kind=0,
    l2_input_multiplier=1, l2_weight_multiplier=1, l2_output_multiplier=1, global_buffer_bytes=16 << 20, dram_kind=1,
    dram_channels=16, dram_bytes_per_s=450e9, element_bytes=2, depthwise_mapping=0, vector_path=0,
    array_efficiency=1.0, register_sublanes=8, register_lanes=128, native_batch=64,
)  # fmt: skip
EDGE = TPU_V3._replace(
    clock_hz=0.5e9, cores=1, pes_x=2, pes_y=2, systolic_rows=32, systolic_columns=32, vector_lanes=32,
    l1_input_bytes=2048, l1_weight_bytes=4096, l1_output_bytes=2048, global_buffer_bytes=4 << 20,
    dram_bytes_per_s=60e9, depthwise_mapping=1, vector_path=1, array_efficiency=1.0, register_lanes=32,
)  # fmt: skip
ROOMY = TPU_V3._replace(global_buffer_bytes=1 << 40)
"""Every tile fits."""


def batched_dot(groups=12, rows=64, columns=48, contracted=32) -> KernelRow:
    """A bias of the columns added to [groups, rows, contracted] x [groups, contracted, columns], float32 out."""
    return KernelRow(
        kernel_class=2, loops=(rows, 1, 1, columns, contracted, 1, 1, groups),
        loop_kind=(P, A, A, P, R, A, A, P), hero=0,
        operands=[
            OperandRow(INPUT, (1, 0, 0, 0, 1, 0, 0, 1), (4, 0, 7), groups * rows * contracted, 2),
            OperandRow(INPUT, (0, 0, 0, 1, 1, 0, 0, 1), (4, 3, 7), groups * contracted * columns, 2),
            OperandRow(WEIGHT, (0, 0, 0, 1, 0, 0, 0, 0), (3,), columns, 2),
            OperandRow(OUTPUT, (1, 0, 0, 1, 0, 0, 0, 1), (3, 0, 7), groups * rows * columns, 4),
        ],
        ops=[
            OpRow("dot", (1, 0, 0, 1, 1, 0, 0, 1), groups * rows * columns, 4, (0, 1)),
            OpRow("add", (1, 0, 0, 1, 0, 0, 0, 1), groups * rows * columns, 4, (3, 2)),
        ],
    )  # fmt: skip


def row_sum(rows=300, columns=500) -> KernelRow:
    """exp, then the sum over the most minor dimension."""
    return KernelRow(
        kernel_class=3, loops=(rows, columns, 1, 1, 1, 1, 1, 1), loop_kind=(P, R, A, A, A, A, A, A), hero=1,
        operands=[
            OperandRow(INPUT, (1, 1, 0, 0, 0, 0, 0, 0), (1, 0), rows * columns, 2),
            OperandRow(OUTPUT, (1, 0, 0, 0, 0, 0, 0, 0), (0,), rows, 4),
        ],
        ops=[
            OpRow("exponential", (1, 1, 0, 0, 0, 0, 0, 0), rows * columns, 2, (0,)),
            OpRow("reduce", (1, 1, 0, 0, 0, 0, 0, 0), rows, 4, (1,)),
        ],
    )  # fmt: skip


def transposition(rows=300, columns=500) -> KernelRow:
    """[columns, rows] stored transposed."""
    return KernelRow(
        kernel_class=6, loops=(rows, columns, 1, 1, 1, 1, 1, 1), loop_kind=(P, P, A, A, A, A, A, A), hero=0,
        operands=[
            OperandRow(INPUT, (1, 1, 0, 0, 0, 0, 0, 0), (0, 1), rows * columns, 2),
            OperandRow(OUTPUT, (1, 1, 0, 0, 0, 0, 0, 0), (1, 0), rows * columns, 2),
        ],
        ops=[OpRow("transpose", (1, 1, 0, 0, 0, 0, 0, 0), rows * columns, 2, (0,))],
    )  # fmt: skip


def random_kernels(generator: np.random.Generator, count: int) -> Kernels:
    """`count` kernels of all classes with small random extents."""
    builder = KernelsBuilder()

    def n(most, least=1):
        return int(generator.integers(least, most + 1))

    for number in range(count):
        match number % 9:
            case 0:
                row = convolution_relu(n(3), n(9, 3), n(9, 3), n(300), n(300), n(3), n(2))
            case 1:
                row = depthwise(n(3), n(12, 3), n(12, 3), n(300), n(5))
            case 2:
                row = dot(n(200), n(300), n(300))
            case 3:
                row = elementwise(n(3), n(9), n(9), n(300))
            case 4:
                row = reduction(n(3), n(9), n(9), n(300))
            case 5:
                row = max_pool(n(3), n(9), n(9), n(200), n(3, 2), n(2))
            case 6:
                row = batched_dot(n(12), n(90), n(90), n(200))
            case 7:
                row = row_sum(n(200), n(300))
            case _:
                row = transposition(n(300), n(300))
        builder.add(row)
    return builder.build()


def random_rows(generator: np.random.Generator, kernels: Kernels, most_steps: int) -> Schedules:
    """One row a kernel: any tile of up to `most_steps` steps, dataflow and loop order."""
    tiles = np.ones((kernels.number, 8), dtype=np.int32)
    for k in range(kernels.number):
        steps = 1
        for slot in generator.permutation(8):
            extent = int(kernels.loops[k, slot])
            room = max(1, min(most_steps // steps, int(generator.choice([1, 2, 3, 4, 7, 11]))))
            tiles[k, slot] = -(-extent // room)
            steps *= -(-extent // int(tiles[k, slot]))
    rows = schedules_for_tiles(np.arange(kernels.number, dtype=np.int32), tiles)
    return rows._replace(
        dataflow=generator.integers(0, 3, kernels.number).astype(np.uint8),
        loop_order=generator.integers(0, 3, kernels.number).astype(np.uint8),
    )
