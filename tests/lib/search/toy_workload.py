"""A three-kernel workload whose kernels are made by hand, and a cost model that knows only tile volume."""

import numpy as np

from lib.cost.cost_model import Costs
from lib.program.kernel_builder import KernelsBuilder
from lib.search.workload import WorkloadKernels
from tests.kernel_examples import convolution_relu, depthwise, dot


def toy_kernels(batch: int) -> WorkloadKernels:
    """convolution (run twice, at two places), depthwise convolution, dot."""
    builder = KernelsBuilder()
    builder.add(convolution_relu(batch=batch))
    builder.add(depthwise(batch=batch))
    builder.add(dot(rows=batch, columns=1000, contracted=192))
    pixels = batch * 28 * 28
    flops = [2 * pixels * 256 * 128 * 9, 2 * pixels * 192 * 9, 2 * batch * 192 * 1000]
    return WorkloadKernels(
        kernels=builder.build(),
        executions=np.array([2, 1, 1], dtype=np.int32),
        roots=["relu", "depthwise", "classifier"],
        flops=np.array(flops, dtype=float),
        occurrence=np.array([0, 1, 0, 2], dtype=np.int32),
        occurrence_executions=np.ones(4, dtype=np.int32),
    )


class PeakRate:
    """Seconds of a kernel = its multiply-accumulates over the peak rate, whatever the tile: utilisation is 1."""

    name = "peak-rate"
    scale = "seconds"
    accepts = frozenset({"tile", "hardware"})
    part_names = ()

    def cost(self, kernels, schedules, datapath, *, parts=False):
        """One second a `peak` multiply-accumulates."""
        macs = kernels.loops.astype(float).prod(axis=1)[schedules.kernel]
        peak = datapath.pes_x * datapath.pes_y * datapath.systolic_rows * datapath.systolic_columns * datapath.clock_hz
        rows = len(macs)
        return Costs(macs / peak, np.zeros(rows, dtype=np.uint8), np.zeros((rows, 3)), None, None)
