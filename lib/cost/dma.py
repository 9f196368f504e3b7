"""Transfers between DRAM and the chip: bytes of a tile and burst efficiency by contiguous run."""

import numpy as np
from numba import njit

from lib.schedule.node_table import (
    DILATION,
    END,
    FIRST,
    LOOP,
    MULTIPLE,
    NO_EXTENT,
    STRIDE,
    WHOLE,
    WINDOW_LOOP,
    WINDOW_STRIDE,
    set_extents,
)
from lib.schedule.uncounted import uncounted

INDEXED = 0.0
"""Stands for the full extent of a dimension of which indices say the places: what is read there lies apart. The most
minor dimension of such a table has its full extent below zero, by which it is known."""


@uncounted(forceinline=True)
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


@uncounted(forceinline=True)
def contiguous_run(dimension, whole, first, end, tile, register_lanes) -> tuple[float, bool]:
    """(elements of a run that lies together in DRAM, whether it consists of whole register tiles).

    Dimensions `first` to `end`, minor first. An array whose most minor dimension is at least as wide as the lanes lies
    in register tiles, which follow one another row-major: within a register tile a run holds the rows that the tile has
    of it, beyond it grows over a dimension while the ones below are taken whole. A narrower array lies row-major,
    without padding, whatever dimension of it is on the lanes. A table that indices walk lies row-major too, and each of
    its rows is a run of its own.
    """
    if end == first:
        return 1.0, False
    if whole[first] <= INDEXED:
        return _run_of_row(dimension, whole, first, end, tile), False
    run = minor = float(_extent(dimension, first, tile))
    broken = minor < whole[first]
    tiled = end - first > 1 and whole[first] >= register_lanes
    if tiled:
        rows, rows_of_tile = float(_extent(dimension, first + 1, tile)), float(dimension[first + 1, MULTIPLE])
        rows_of_tile = min(rows_of_tile, whole[first + 1])
        if rows < rows_of_tile:
            return rows * min(minor, float(register_lanes)), True
        if broken:
            return rows_of_tile * minor, True
    d = first + 1
    while d < end and not broken:
        extent = float(_extent(dimension, d, tile))
        run *= extent
        broken = extent < whole[d]
        d += 1
    return run, tiled


@njit(cache=True, error_model="numpy")
def _run_of_row(dimension, whole, first, end, tile) -> float:
    """Elements that lie together below the dimension that indices walk."""
    run = 1.0
    for d in range(first, end):
        extent = float(_extent(dimension, d, tile))
        if whole[d] == INDEXED:
            return run
        run *= extent
        if extent < abs(whole[d]):
            return run
    return run


@uncounted(forceinline=True)
def operand_transfer(model, row, tile, element_bytes, datapath) -> tuple[float, float]:
    """(seconds, bytes) to move the tile of operand `row`, latency left out.

    `model`: :class:`lib.cost.tile_step.StepModel`; `tile`: int64[9], the last 1. A contiguous run is rounded up to
    whole register tiles, or to whole bursts where the array is narrower than the lanes, and takes a moment to start.
    The core has its share of the bandwidth of all channels, but what one channel holds takes as long as that takes.
    """
    node, dimension, constants = model.operands.node, model.operands.dimension, model.constants
    first, end = node[row, FIRST], node[row, END]
    elements = 1.0
    for d in range(first, end):
        elements *= float(_extent(dimension, d, tile))
    elements = min(elements, float(node[row, WHOLE]))
    run, tiled = contiguous_run(dimension, model.whole, first, end, tile, datapath.register_lanes)
    run_bytes = min(run, elements) * element_bytes
    moved = elements * element_bytes
    unit = 4.0 * datapath.register_sublanes * datapath.register_lanes if tiled else constants.burst_bytes
    runs = moved / run_bytes
    spent = runs * np.ceil(run_bytes / unit) * unit / datapath.dram_bytes_per_s
    channel_bytes_per_s = datapath.dram_bytes_per_s * datapath.cores / datapath.dram_channels
    spent = max(spent, min(moved, constants.channel_interleave_bytes) / channel_bytes_per_s) / constants.dram_efficiency
    return spent + runs * constants.dma_run_cycles / datapath.clock_hz, moved
