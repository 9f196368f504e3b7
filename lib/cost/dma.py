"""Transfers between DRAM and the chip: bytes of a tile and burst efficiency by contiguous run."""

import numpy as np
from numba import njit

from lib.schedule.node_table import (
    DILATION,
    END,
    FIRST,
    LOOP,
    NO_EXTENT,
    STRIDE,
    WHOLE,
    WINDOW_LOOP,
    WINDOW_STRIDE,
    set_extents,
)


@njit(cache=True, error_model="numpy", inline="always")
def _extent(dimension, d, tile) -> int:
    span = (tile[dimension[d, LOOP]] - 1) * dimension[d, STRIDE]
    span += (tile[dimension[d, WINDOW_LOOP]] - 1) * dimension[d, WINDOW_STRIDE]
    if dimension[d, DILATION] > 1:
        span //= dimension[d, DILATION]
    return span + 1


@njit(cache=True, error_model="numpy")
def whole_extents(operands, loops) -> np.ndarray:
    """float64[d]: full extent of every dimension of an operand table (`loops`: int32[k, 8])."""
    whole = np.empty(len(operands.dimension))
    extents = np.ones(NO_EXTENT + 1, dtype=np.int64)
    for k in range(len(loops)):
        set_extents(extents, loops[k])
        for row in range(operands.offset[k], operands.offset[k + 1]):
            for d in range(operands.node[row, FIRST], operands.node[row, END]):
                whole[d] = _extent(operands.dimension, d, extents)
    return whole


@njit(cache=True, error_model="numpy")
def operand_transfer(model, row, tile, element_bytes, datapath) -> tuple[float, float]:
    """(seconds, bytes) to move the tile of operand `row`, latency left out.

    `model`: :class:`lib.cost.tile_step.StepModel`; `tile`: int64[9], the last 1. The tile lies in DRAM row-major, so a
    contiguous run grows over a dimension while the ones below are taken whole. Each run is rounded up to whole bursts
    and loses one more at its break.
    """
    node, dimension, whole = model.operands.node, model.operands.dimension, model.whole
    elements = run = 1.0
    broken = False
    for d in range(node[row, FIRST], node[row, END]):
        extent = float(_extent(dimension, d, tile))
        elements *= extent
        if not broken:
            run *= extent
            broken = extent < whole[d]
    elements = min(elements, float(node[row, WHOLE]))
    run_bytes = min(run, elements) * element_bytes
    moved = elements * element_bytes
    burst = model.constants.burst_bytes
    spent = moved / run_bytes * (np.ceil(run_bytes / burst) + 1.0) * burst
    return spent / (datapath.dram_bytes_per_s * model.constants.dram_efficiency), moved
