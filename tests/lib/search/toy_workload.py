"""A three-kernel workload whose kernels are made by hand."""

import numpy as np

from lib.program.extraction import ProgramKernels
from lib.program.kernel_builder import KernelsBuilder
from lib.search.workload import WorkloadKernels
from tests.kernel_examples import convolution_relu, depthwise, dot


def toy_kernels(batch: int, softmax: str = "three-pass") -> WorkloadKernels:
    """convolution (run twice, at two places), depthwise convolution, dot; nothing passes between them."""
    builder = KernelsBuilder()
    builder.add(convolution_relu(batch=batch))
    builder.add(depthwise(batch=batch))
    builder.add(dot(rows=batch, columns=1000, contracted=192))
    found = ProgramKernels(
        kernels=builder.build(),
        executions=np.array([2, 1, 1], dtype=np.int32),
        roots=["relu", "depthwise", "classifier"],
        occurrence_kernel=np.array([0, 1, 0, 2], dtype=np.int32),
        occurrence_root=np.arange(4, dtype=np.int32),
        occurrence_edge=np.empty((0, 3), dtype=np.int32),
        occurrence_executions=np.ones(4, dtype=np.int32),
        occurrence_leaves=np.ones(4, dtype=bool),
    )
    pixels = batch * 28 * 28
    flops = [2 * pixels * 256 * 128 * 9, 2 * pixels * 192 * 9, 2 * batch * 192 * 1000]
    names = ["relu", "depthwise", "relu_1", "classifier"]
    return WorkloadKernels(found, np.ones(4, dtype=bool), np.array(flops, dtype=float), names)
