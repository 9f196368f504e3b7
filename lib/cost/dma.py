"""Transfers between DRAM and the chip: burst efficiency by contiguous run. Latency is a matter of the pipeline."""

from numba import njit

from lib.cost.simulator_constants import DRAM_EFFICIENCY, RUN_OVERHEAD_BYTES
from lib.program.kernels import NO_LOOP
from lib.schedule.footprint import node_extent


@njit(cache=True, error_model="numpy")
def contiguous_run(stride, order, loop_kind, base_dilation, tile, loops) -> int:
    """Elements of an operand's tile that lie next to each other in DRAM (row-major in `order`).

    `stride`, `loop_kind`, `tile`, `loops`: int[8]; `order`: loops from the most minor dimension on. The run grows
    over a dimension as long as the ones below it are taken whole.
    """
    run = 1
    for position in range(8):
        slot = order[position]
        if slot == NO_LOOP:
            break
        extent = node_extent(slot, stride, loop_kind, base_dilation, tile)
        run *= extent
        if extent < node_extent(slot, stride, loop_kind, base_dilation, loops):
            break
    return run


@njit(cache=True, error_model="numpy")
def transfer_seconds(elements, run, element_bytes, dram_bytes_per_s) -> float:
    """Seconds to move `elements` in contiguous runs of `run` elements, latency left out.

    Each run is rounded up to whole bursts and loses RUN_OVERHEAD_BYTES at its break.
    """
    run_bytes = min(run, elements) * element_bytes
    granules = (run_bytes + RUN_OVERHEAD_BYTES - 1) // RUN_OVERHEAD_BYTES + 1
    runs = elements * element_bytes / run_bytes
    return runs * granules * RUN_OVERHEAD_BYTES / (dram_bytes_per_s * DRAM_EFFICIENCY)
