"""Constants of the simulator, each with its unit and where it comes from.

They are handed to compiled code as values, not baked into it: a compiled function that is cached on disk does not
notice that a constant of another module has changed, and calibration wants to vary them.
"""

from typing import NamedTuple

FOLDS_APART, FOLDS_OVERLAP, STREAMS_ALONE = range(3)
"""What folds of a systolic array cost beside their streams, see :func:`lib.cost.matrix_unit.array_cycles`."""


class SimulatorConstants(NamedTuple):
    """Sources: [Jouppi] Jouppi et al., "A Domain-Specific Supercomputer for Training Deep Neural Networks",
    CACM 2020. [Norrie] Norrie et al., "The Design Process for Google's Training Chips: TPUv2 and TPUv3", IEEE
    Micro 2021. [FAST] Zhang et al., ASPLOS 2022. *Measured*: the calibration kernels of public TPU tile timings
    (TpuGraphs), by eye. *Assumed*: no public figure; a plausible round number."""

    kernel_launch_s: float = 2.0e-6
    """Seconds to start a kernel and see it end. Measured: a copy whose only step moves 1.6 MB takes 7.3 us, of
    which the bytes explain 3.9; a fused reduction of the same sort agrees with 1.5 to 2.5."""
    step_cycles: float = 190.0
    """Cycles of control in each tile step. Measured: 0.2 us a step on TPU-v3, whatever the step holds."""
    dma_latency_s: float = 0.06e-6
    """Seconds from issuing the transfers of one step to the first byte. Transfers of a step are issued
    together, so each step pays it once for its loads and once for its stores. Measured: fitted together with
    `dma_run_cycles`."""
    dma_run_cycles: float = 1.0
    """Cycles to start each contiguous run of a transfer. Measured: runs of 4 KiB cost 1.0 cycle more than their
    bytes (free fit over the three calibration kernels; without it, the order of the tiles of a reduction suffers)."""
    dram_efficiency: float = 0.93
    """Share of peak DRAM bandwidth that long transfers reach. [FAST]'s table 5 and figure 15 are consistent
    with 0.87 to 1.00; the middle is taken."""
    burst_bytes: float = 32.0
    """Access size of a GDDR6 channel and of an HBM2 pseudo channel (JEDEC JESD250, JESD235), up to which runs of arrays
    narrower than the lanes are rounded. Wider arrays are moved by the register tile (8 x 128 words, 4 KiB, on TPU:
    XLA's tiled layout). Measured: a copy that takes 2 of 8 rows takes as long as if it took all."""
    channel_interleave_bytes: float = 256.0
    """Consecutive bytes of one memory channel; the next ones lie in the next channel (AMD, "OpenCL Optimization Guide",
    memory channels of GCN devices). So a transfer of few such pieces cannot use all channels. Refresh and turnaround
    of the bus are part of `dram_efficiency`."""
    mesh_width: float = 1.0
    """Edges of the mesh between global buffer and PEs relative to :func:`lib.hardware.datapath.mesh_bytes_per_cycle`,
    for which power is charged. Assumed; infinite for machines without such a limit."""
    packed_in_channels: int = 16
    """Taps of a convolution with fewer input channels share the array's rows; others take a pass a tap.
    Calibrated on [FAST] table 2 and figure 4 (TPU-v3)."""
    depthwise_passes: int = 10
    """Most passes that a diagonal of depthwise channels takes for each 25 taps begun: 3x3 takes its 9, 5x5 takes
    10, 7x7 takes 20. Calibrated on [FAST] figure 4 (EfficientNet-B7 on TPU-v3): with a pass a tap, blocks of 5x5
    reach half of the utilisation printed for them, with 9 or 10 passes they lie as near to it as those of
    3x3. Cause unknown; windows beyond 5x5 are extrapolated."""
    array_timing: int = FOLDS_OVERLAP
    """The others stand for what peers' tools count: FOLDS_APART for SCALE-Sim, STREAMS_ALONE for AccelForge."""
    pads_loops: int = 1
    """1: the last fold of an array and the last PE's share may be partly filled, as where a compiler pads loops to what
    the hardware divides by. 0: only divisors of the loops are used, as Timeloop does with loops as they are ([FAST]
    section 5.3 pads them for that reason); see :mod:`lib.schedule.padding`."""
    alu_slots: float = 2.0
    """Vector arithmetic instructions a bundle [Norrie]; beside them one vector load, one vector store and one
    to the cross-lane unit."""


DIVIDE_INSTRUCTIONS = 4.0
"""Reciprocal estimate, two instructions of a Newton step, one multiplication. Assumed from the algorithm."""

TRANSCENDENTAL_INSTRUCTIONS = 3.0
"""One that hands the register to the transcendental unit, which takes one a cycle beside the arithmetic slots (TPU's
extended unary pipeline, as XLA's and Pallas's documents call it), and two to scale before and after: exp from a power
of two, logistic from tanh. Assumed for the rest of the class too. FAST's table 5 (FAST-Large, calibration) agrees: with
the 10 of a polynomial in software its vector unit alone would take most of the time printed for everything."""

VECTOR_REGISTERS = 32
"""Vector registers of a PE [Norrie]."""

REGISTERS_IN_FLIGHT = 4
"""Register tiles that a loop body works on at once so that instruction latency stays hidden. Assumed; so a
fused kernel may hold VECTOR_REGISTERS / REGISTERS_IN_FLIGHT values alive before it spills."""

ACCUMULATOR_BYTES = 4
"""A partial sum: float32 for bfloat16 and float32 [Jouppi], int32 for int8."""
