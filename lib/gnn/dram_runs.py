"""How the tile of an array lies in DRAM: the contiguous runs that a transfer consists of.

The layout is the compiler's choice (`lib.schedule.register_layout`), so it is known where a tile is chosen: an array at
least as wide as the lanes lies in register tiles that follow one another row-major and move whole (XLA's tiled layout);
a narrower one lies row-major.
"""

import numpy as np
from numba import njit

from lib.program.kernels import NO_LOOP
from lib.schedule.footprint import node_extent
from lib.schedule.register_layout import register_loops


@njit(cache=True, error_model="numpy")
def contiguous_run(
    stride, order, element_bytes, loops, loop_kind, base_dilation, tile, sublanes, lanes
) -> tuple[float, bool]:
    """(elements of a run, whether it consists of register tiles) of a node whose `order` (uint8[8]) names its loops
    from the most minor dimension on.

    Within a register tile a run holds the rows that the tile has of it; beyond, and in row-major arrays, it grows over
    a dimension while the ones below are taken whole.
    """
    if order[0] == NO_LOOP:
        return 1.0, False
    run = minor = float(node_extent(order[0], stride, loop_kind, base_dilation, tile))
    whole = node_extent(order[0], stride, loop_kind, base_dilation, loops)
    broken = minor < whole
    tiled = order[1] != NO_LOOP and whole >= lanes
    if tiled:
        rows = float(node_extent(order[1], stride, loop_kind, base_dilation, tile))
        rows_of_tile = 1.0
        if register_loops(order, loops, lanes)[1] == order[1]:
            rows_of_tile = float(max(1, sublanes * 4 // element_bytes))
        rows_of_tile = min(rows_of_tile, float(node_extent(order[1], stride, loop_kind, base_dilation, loops)))
        if rows < rows_of_tile:
            return rows * min(minor, float(lanes)), True
        if broken:
            return rows_of_tile * minor, True
    position = 1
    while position < 8 and order[position] != NO_LOOP and not broken:
        extent = node_extent(order[position], stride, loop_kind, base_dilation, tile)
        run *= extent
        broken = extent < node_extent(order[position], stride, loop_kind, base_dilation, loops)
        position += 1
    return run, tiled


@njit(cache=True, error_model="numpy")
def register_tile_bytes(run_bytes, tiled, sublanes, lanes) -> float:
    """Bytes that a run takes in whole register tiles, its own where it doesn't lie in them."""
    unit = 4.0 * sublanes * lanes
    return np.ceil(run_bytes / unit) * unit if tiled else run_bytes
