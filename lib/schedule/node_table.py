"""Sizes of tiles for many tiles of one kernel: the geometry of `footprint`, laid out for scanning.

`footprint` asks of each node how it walks each loop. A tile space of a million tiles asks the same a million
times, so a :class:`NodeTable` holds the answers once: a node is a list of dimensions, each walked by one loop or by
an output loop and its window loop. A test keeps the two equal.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.hardware.datapath import double_buffered_bytes
from lib.program.kernels import INPUT, KERNEL_H, KERNEL_W, NO_LOOP, OUT_H, OUT_W, OUTPUT, WINDOW, Kernels
from lib.schedule.register_layout import register_loops

ROLE, WHOLE, LOOPS_WALKED, FIRST, END = range(5)
"""Columns of `node`: operand role (0 for an op); elements of the whole; bit set of loops that it extends along;
its dimensions."""
LOOP, STRIDE, WINDOW_LOOP, WINDOW_STRIDE, DILATION, MULTIPLE = range(6)
"""Columns of `dimension`: extent = ((t[LOOP] - 1) * STRIDE + (t[WINDOW_LOOP] - 1) * WINDOW_STRIDE) // DILATION + 1,
padded to a multiple of MULTIPLE."""
NO_EXTENT = 8
"""A ninth loop of extent 1, which stands where a dimension has no (second) loop; tiles have nine entries here."""


class NodeTable(NamedTuple):
    """n nodes of k kernels with d dimensions."""

    offset: np.ndarray
    """int64[k + 1]"""
    node: np.ndarray
    """int64[n, 5]"""
    weight: np.ndarray
    """float64[n] what an element counts: bytes, or cycles of a vector lane."""
    dimension: np.ndarray
    """int64[d, 6]"""


def operand_table(kernels: Kernels, register_sublanes: int, register_lanes: int) -> NodeTable:
    """Operands of every kernel, with the register tile that pads the dimensions on its lanes and sublanes."""
    return NodeTable(
        *_operands(
            kernels.loops, kernels.loop_kind, kernels.base_dilation, kernels.operand_offset, kernels.operand_role,
            kernels.operand_stride, kernels.operand_order, kernels.operand_elements, kernels.operand_element_bytes,
            register_sublanes, register_lanes,
        )
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _partner(loop) -> int:
    """The window loop that shares a dimension with an output loop; -1 for other loops."""
    if loop == OUT_H:
        return KERNEL_H
    return KERNEL_W if loop == OUT_W else -1


@njit(cache=True, error_model="numpy")
def add_plain_dimension(dimension, row, loop, stride, multiple) -> None:
    """Write the dimension that `loop` alone walks, or none (NO_EXTENT), to `dimension[row]`."""
    dimension[row, LOOP], dimension[row, STRIDE] = loop, stride
    dimension[row, WINDOW_LOOP], dimension[row, WINDOW_STRIDE] = NO_EXTENT, 0
    dimension[row, DILATION], dimension[row, MULTIPLE] = 1, multiple


@njit(cache=True, error_model="numpy")
def add_dimension(dimension, row, loop, stride, loop_kind, base_dilation, multiple) -> int:
    """Write the dimension that `loop` walks to `dimension[row]` and return the loops that it covers as bits."""
    add_plain_dimension(dimension, row, loop if stride[loop] > 0 else NO_EXTENT, np.int64(stride[loop]), multiple)
    covered = 1 << loop
    partner = _partner(loop)
    if partner >= 0 and loop_kind[partner] == WINDOW and stride[partner] > 0:
        covered |= 1 << partner
        dimension[row, WINDOW_LOOP], dimension[row, WINDOW_STRIDE] = partner, stride[partner]
        if stride[loop] > 0:
            dimension[row, DILATION] = base_dilation[loop - OUT_H]
    return covered


@njit(cache=True, error_model="numpy")
def loops_walked(stride) -> int:
    """Bits of the loops that a node extends along."""
    bits = 0
    for loop in range(8):
        if stride[loop] > 0:
            bits |= 1 << loop
    return bits


@njit(cache=True, error_model="numpy")
def _operands(loops, loop_kind, base_dilation, offset, role, stride, order, elements, element_bytes, sublanes, lanes):
    count = len(role)
    node = np.empty((count, 5), dtype=np.int64)
    weight = np.empty(count)
    dimension = np.empty((count * 8, 6), dtype=np.int64)
    used = np.int64(0)
    for k in range(len(offset) - 1):
        for operand in range(offset[k], offset[k + 1]):
            rows = max(1, sublanes * 4 // element_bytes[operand])
            walked = loops_walked(stride[operand])
            node[operand, ROLE], node[operand, WHOLE] = role[operand], elements[operand]
            node[operand, LOOPS_WALKED], node[operand, FIRST] = walked, used
            weight[operand] = element_bytes[operand]
            lane_loop, sublane_loop = register_loops(order[operand], loops[k], lanes)
            covered = 0
            for position in range(8):
                loop = np.int64(order[operand, position])
                if loop == NO_LOOP:
                    break
                multiple = lanes if loop == lane_loop else (rows if loop == sublane_loop else np.int64(1))
                covered |= add_dimension(
                    dimension, used, loop, stride[operand], loop_kind[k], base_dilation[k], multiple
                )
                used += 1
            if walked & ~covered:
                raise ValueError("an operand extends along a loop that its order does not name")
            node[operand, END] = used
    return offset, node, weight, dimension[:used].copy()


@njit(cache=True, error_model="numpy")
def set_extents(extents, tile) -> None:
    """Make int[8] `tile` the first eight of int64[9] `extents`."""
    for loop in range(NO_EXTENT):
        extents[loop] = tile[loop]


@njit(cache=True, error_model="numpy", inline="always")
def node_elements(node, dimension, row, tile) -> float:
    """Elements of node `row` that a tile (int64[9], the last 1) touches, at most its whole."""
    elements = 1.0
    for d in range(node[row, FIRST], node[row, END]):
        span = (tile[dimension[d, LOOP]] - 1) * dimension[d, STRIDE]
        span += (tile[dimension[d, WINDOW_LOOP]] - 1) * dimension[d, WINDOW_STRIDE]
        if dimension[d, DILATION] > 1:
            span //= dimension[d, DILATION]
        elements *= span + 1
    return min(elements, float(node[row, WHOLE]))


@njit(cache=True, error_model="numpy", inline="always")
def node_elements_and_padded(node, dimension, row, tile) -> tuple[float, float]:
    """Elements as :func:`node_elements`, and elements of the tile in registers' layout.

    In floating point, exact below 2**53, because integer division would take most of the time.
    """
    elements = padded = 1.0
    for d in range(node[row, FIRST], node[row, END]):
        span = (tile[dimension[d, LOOP]] - 1) * dimension[d, STRIDE]
        span += (tile[dimension[d, WINDOW_LOOP]] - 1) * dimension[d, WINDOW_STRIDE]
        if dimension[d, DILATION] > 1:
            span //= dimension[d, DILATION]
        extent = span + 1.0
        elements *= extent
        multiple = float(dimension[d, MULTIPLE])
        padded *= np.ceil(extent / multiple) * multiple
    return min(elements, float(node[row, WHOLE])), padded


class TileLimits(NamedTuple):
    """Padded bytes that one set of tiles may take."""

    whole: int
    inputs: int
    weights: int
    output: int


@njit(cache=True, error_model="numpy")
def tile_limits(datapath) -> TileLimits:
    """Half of each on-chip capacity, as the next set of tiles loads meanwhile."""
    whole, inputs, weights, output = double_buffered_bytes(datapath)
    return TileLimits(whole, inputs, weights, output)


@njit(cache=True, error_model="numpy", inline="always")
def tile_bytes(operands, k, tile) -> tuple[float, float, float]:
    """Padded bytes of one set of tiles (int64[9]) of kernel `k`: (inputs, weights, output)."""
    inputs = weights = output = 0.0
    for row in range(operands.offset[k], operands.offset[k + 1]):
        size = node_elements_and_padded(operands.node, operands.dimension, row, tile)[1] * operands.weight[row]
        if operands.node[row, ROLE] == OUTPUT:
            output += size
        elif operands.node[row, ROLE] == INPUT:
            inputs += size
        else:
            weights += size
    return inputs, weights, output


@njit(cache=True, error_model="numpy", inline="always")
def within(inputs, weights, output, limits) -> bool:
    """Whether padded bytes by role lie within a :class:`TileLimits`."""
    return (
        inputs + weights + output <= limits.whole
        and inputs <= limits.inputs
        and weights <= limits.weights
        and output <= limits.output
    )


@njit(cache=True, error_model="numpy", inline="always")
def tile_fits(operands, k, tile, limits) -> bool:
    """Whether one set of tiles (int64[9]) of kernel `k` lies within `limits`; `operands`: :func:`operand_table`."""
    inputs, weights, output = tile_bytes(operands, k, tile)
    return within(inputs, weights, output, limits)
