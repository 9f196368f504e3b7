"""How much of an operand a tile touches: pure geometry, shared by every cost model.

All functions are compiled and work on one node (one row of `operand_stride` or `op_stride`).
"""

import numpy as np
from numba import njit

from lib.program.kernels import KERNEL_H, KERNEL_W, NO_LOOP, OUT_H, OUT_W, WINDOW
from lib.schedule.register_layout import register_loops


@njit(cache=True, inline="always")
def _window_partner(slot: int) -> int:
    if slot == OUT_H:
        return KERNEL_H
    if slot == OUT_W:
        return KERNEL_W
    return -1


@njit(cache=True)
def node_extent(slot, stride, loop_kind, base_dilation, tile) -> int:
    """Elements of the node along the dimension that loop `slot` walks, for a tile.

    `stride`, `loop_kind`, `tile`: int[8] rows; `base_dilation`: int[2]. A window loop's own slot gives 1
    where its output loop's slot already stands for the shared dimension.
    """
    if stride[slot] == 0:
        partner = _window_partner(slot)
        if partner >= 0 and loop_kind[partner] == WINDOW and stride[partner] > 0:
            return (tile[partner] - 1) * stride[partner] + 1
        return 1
    span = (tile[slot] - 1) * stride[slot]
    partner = _window_partner(slot)
    if partner >= 0 and loop_kind[partner] == WINDOW and stride[partner] > 0:
        span += (tile[partner] - 1) * stride[partner]
        return span // base_dilation[slot - OUT_H] + 1
    if loop_kind[slot] == WINDOW and stride[slot - KERNEL_H + OUT_H] > 0:
        return 1
    return span + 1


@njit(cache=True)
def tile_elements(stride, loop_kind, base_dilation, tile, whole) -> int:
    """Elements of the node that a tile touches, at most `whole` (window padding is not stored)."""
    elements = np.int64(1)
    for slot in range(8):
        if loop_kind[slot] == WINDOW and stride[slot - KERNEL_H + OUT_H] == 0 and stride[slot] > 0:
            elements *= (tile[slot] - 1) * stride[slot] + 1
        elif loop_kind[slot] != WINDOW and stride[slot] > 0:
            elements *= node_extent(slot, stride, loop_kind, base_dilation, tile)
    return min(elements, whole)


@njit(cache=True)
def iterations(stride, tile) -> int:
    """Points of the iteration space that an op is evaluated at within a tile: the product of the tile's
    extents over the loops that the op runs over."""
    count = 1
    for slot in range(8):
        if stride[slot] > 0:
            count *= tile[slot]
    return count


@njit(cache=True)
def padded_tile_bytes(
    stride, order, loops, loop_kind, base_dilation, tile, element_bytes, register_sublanes, register_lanes
) -> int:
    """Bytes of the operand's tile in registers' layout: the dimension on lanes is padded to `register_lanes`, the one
    on sublanes to `register_sublanes * 4 / element_bytes` (TPU: 8 x 128, bfloat16 16 x 128).

    `order`, `loops` (extents of the whole kernel): see :func:`lib.schedule.register_layout.register_loops`. An operand
    with a single dimension is padded along the lanes only.
    """
    lane_loop, sublane_loop = register_loops(order, loops, register_lanes)
    elements = np.int64(1)
    for position in range(8):
        slot = order[position]
        if slot == NO_LOOP:
            break
        extent = node_extent(slot, stride, loop_kind, base_dilation, tile)
        if slot == lane_loop:
            extent = -(-extent // register_lanes) * register_lanes
        elif slot == sublane_loop:
            rows = max(1, register_sublanes * 4 // element_bytes)
            extent = -(-extent // rows) * rows
        elements *= extent
    return elements * element_bytes
