"""Programs of additions, whose bytes can be counted with pencil and paper."""

import numpy as np

from lib.fidelity.best_tiles import NOTHING_LOST
from lib.program.extraction import ProgramKernels
from lib.program.kernel_builder import KernelRow, KernelsBuilder, OperandRow, OpRow
from lib.program.kernels import ABSENT, INPUT, OUTPUT, PARALLEL, WEIGHT
from tests.lib.cost.random_kernels import TPU_V3

ROWS, LANES = 1024, 1024
TENSOR = ROWS * LANES * 2
"""2 MiB, whole registers: tiles are not padded."""
SIMPLE = NOTHING_LOST._replace(burst_bytes=1e-9)
FAST_COMPUTE = TPU_V3._replace(vector_lanes=1 << 20, systolic_columns=1 << 20)
"""Lanes for the vector unit, columns for the mesh: all time is DRAM time: no step computes longer than it loads."""


def addition(inputs: int, weights: int = 0) -> KernelRow:
    """The sum of `inputs` and `weights` arrays [ROWS, LANES] in bfloat16."""
    stride, n = (1, 1, 0, 0, 0, 0, 0, 0), ROWS * LANES
    count = inputs + weights
    ops = [OpRow("negate", stride, n, 2, (0,))]
    ops += [OpRow("add", stride, n, 2, (source, count + source - 1)) for source in range(1, count)]
    return KernelRow(
        kernel_class=5, loops=(ROWS, LANES, 1, 1, 1, 1, 1, 1), loop_kind=(PARALLEL, PARALLEL, *[ABSENT] * 6),
        hero=len(ops) - 1, ops=ops,
        operands=[OperandRow(role, stride, (1, 0), n, 2) for role in [INPUT] * inputs + [WEIGHT] * weights + [OUTPUT]],
    )  # fmt: skip


def program(rows: list[KernelRow], edges: list[tuple[int, int, int]]) -> ProgramKernels:
    """Occurrence i runs kernel i."""
    builder = KernelsBuilder()
    for row in rows:
        builder.add(row)
    count = np.arange(len(rows), dtype=np.int32)
    return ProgramKernels(
        builder.build(), np.ones(len(rows), dtype=np.int32), [str(i) for i in count], count, count,
        np.array(edges, dtype=np.int32).reshape(-1, 3), np.ones_like(count), np.zeros(len(rows), dtype=bool),
    )  # fmt: skip


RESIDUAL = program([addition(1), addition(1), addition(2, weights=1)], [(0, 1, 0), (1, 2, 0), (0, 2, 1)])
"""b = f(a), c = g(b), c + b + w: the skip connection reads the first output again."""
NOT_LAST, LAST = (False, False, False), (False, False, True)
