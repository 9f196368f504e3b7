"""Constants of the simulator, each with its unit and where it comes from.

Sources: [Jouppi] Jouppi et al., "A Domain-Specific Supercomputer for Training Deep Neural Networks", CACM 2020.
[Norrie] Norrie et al., "The Design Process for Google's Training Chips: TPUv2 and TPUv3", IEEE Micro 2021.
[FAST] Zhang et al., ASPLOS 2022. *Measured*: the calibration kernels of public TPU tile timings (TpuGraphs).
*Assumed*: no public figure; a plausible round number, named as such in docs/simulator.md.
"""

KERNEL_LAUNCH_S = 2.5e-6
"""Seconds to start a kernel and see it end. Measured: a copy whose only step moves 1.6 MB takes 7.3 us, of which
the bytes explain 3.9."""

STEP_CYCLES = 190.0
"""Cycles of control in each tile step. Measured: 0.2 us a step on TPU-v3, whatever the step holds."""

DMA_LATENCY_S = 0.25e-6
"""Seconds from issuing the transfers of one step to the first byte. Transfers of a step are issued together, so
each step pays it once for its loads and once for its stores. Measured: 4 steps take about 3 us more than 1."""

DRAM_EFFICIENCY = 0.93
"""Share of peak DRAM bandwidth that long transfers reach. [FAST]'s table 5 and figure 15 are consistent with
0.87 to 1.00; the middle is taken."""

RUN_OVERHEAD_BYTES = 64
"""Bytes of transfer time lost at each break of a contiguous run, and the granule that a run is rounded up to: two
32-byte bursts, the access size of a GDDR6 channel and of an HBM2 pseudo channel (JEDEC JESD250, JESD235). Assumed:
one burst pair lost a break."""

ACCUMULATOR_BYTES = 4
"""Partial sums are float32 (bfloat16 multiply, float32 add) [Jouppi]."""

PACKED_IN_CHANNELS = 16
"""Taps of a convolution with fewer input channels share the array's rows; others take a pass a tap. Calibrated on
[FAST] table 2 and figure 4 (TPU-v3)."""

TAPS_ON_ROWS_MOST_ROWS = 64
"""Arrays of up to so many rows run a depthwise convolution with taps on rows and channels on columns, taller ones
block-diagonally, a pass a tap. Calibrated: [FAST] section 3.2 says that smaller arrays admit other mappings; table 5's
0.61 utilisation (32x32) cannot be reached block-diagonally, table 2's 65 % of time (128x128) can."""

ALU_SLOTS = 2.0
"""Vector arithmetic instructions a bundle [Norrie]; beside them one vector load, one vector store and one to the
cross-lane unit."""

DIVIDE_INSTRUCTIONS = 4.0
"""Reciprocal estimate, two instructions of a Newton step, one multiplication. Assumed from the algorithm."""

TRANSCENDENTAL_INSTRUCTIONS = 10.0
"""Range reduction 3, polynomial of degree 5 by Horner's rule 5, scaling 2: the length of Cephes' expf. Assumed for
tanh, logarithm, error function and the rest of the class too."""

VECTOR_REGISTERS = 32
"""Vector registers of a PE [Norrie]."""

REGISTERS_IN_FLIGHT = 4
"""Register tiles that a loop body works on at once so that instruction latency stays hidden. Assumed; so a fused
kernel may hold VECTOR_REGISTERS / REGISTERS_IN_FLIGHT values alive before it spills."""
