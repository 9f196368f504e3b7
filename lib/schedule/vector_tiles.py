"""What a CPU's compiler makes of a tile: vector registers within a block that stays in caches.

A matrix op becomes a nest of blocks (the tile's extents along parallel loops), each of vector tiles (rows x lanes of
the output, in registers), each of steps along the contracted loops, of which the tile's extents are unrolled. By the
rule here `lib.targets.iree_module` tells IREE its sizes, and learned models see what becomes of a tile.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.program.kernels import KERNEL_H, KERNEL_W, NO_LOOP, OUT_W, PARALLEL, Kernels
from lib.schedule.footprint import node_extent
from lib.schedule.schedules import Schedules

LANES = 16
"""f32 in a vector register of AVX-512."""
ACCUMULATORS = 16
"""Vector registers for a vector tile of the output; of 32, as the operands need some."""
MOST_ROWS = 8
"""Rows of a vector tile, those of IREE's own picks for AVX-512."""

PARTS = (
    "vector_rows",
    "vector_lanes",
    "vector_registers",
    "vector_unrolled",
    "vector_points",
    "vector_tiles",
    "vector_input_bytes",
    "vector_weight_bytes",
    "vector_loaded_bytes",
    "block_rows",
    "block_input_bytes",
    "block_weight_bytes",
    "block_output_bytes",
    "block_bytes",
    "block_vector_tiles",
    "blocks",
    "blocks_loaded_bytes",
    "contraction_steps",
    "input_lane_step",
    "input_row_step",
    "input_contraction_step",
    "weight_lane_step",
    "weight_contraction_step",
)
"""Columns of :func:`vector_tile_parts`: extents, counts, bytes, and elements between neighbours along a loop."""
VECTOR_COLUMNS = tuple(f"analytical_{name}" for name in PARTS)
"""Of tables of rows, where they stand beside the analytical model's parts."""
OWN_PICK = "analytical_own_pick"
"""1 where a row is not compiled by the rule but as the compiler picks by itself; then the parts are as if it were."""


@njit(cache=True)
def vector_lanes(lanes: int, rows: int) -> int:
    """Lanes of a vector tile with so many rows, of a block of so many `lanes`: the largest power of two of registers
    that divides them; where a register doesn't, the largest divisor up to one."""
    if lanes % LANES == 0:
        wide = LANES
        while lanes % (2 * wide) == 0 and 2 * wide * rows <= ACCUMULATORS * LANES:
            wide *= 2
        return wide
    return largest_divisor(lanes, LANES)


@njit(cache=True)
def largest_divisor(extent: int, most: int) -> int:
    """The largest divisor of `extent` up to `most`."""
    divisor = min(extent, most)
    while extent % divisor:
        divisor -= 1
    return divisor


class VectorTile(NamedTuple):
    """Of r rows."""

    rows: np.ndarray
    """int64[r]"""
    lanes: np.ndarray
    """int64[r]"""


def vector_tiles(kernels: Kernels, schedules: Schedules) -> VectorTile:
    """The vector tile of each row, by the order in memory of the kernel's output."""
    out = np.ones((2, len(schedules.kernel)), np.int64)
    _fill_vector_tiles(out, _Nests.of(kernels), schedules.kernel, schedules.tile)
    return VectorTile(*out)


def vector_tile_parts(kernels: Kernels, schedules: Schedules) -> np.ndarray:
    """float64[r, len(PARTS)]"""
    tile = vector_tiles(kernels, schedules)
    out = np.zeros((len(schedules.kernel), len(PARTS)))
    _fill_parts(out, _Nests.of(kernels), schedules.kernel, schedules.tile, tile.rows, tile.lanes)
    return out


def vector_columns(kernels: Kernels, schedules: Schedules, own_pick: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """The parts and OWN_PICK (from bool[r]; None: nowhere) as columns of a table, float64[r] each."""
    own = np.zeros(len(schedules.kernel)) if own_pick is None else own_pick.astype(np.float64)
    parts = vector_tile_parts(kernels, schedules).T
    return {**dict(zip(VECTOR_COLUMNS, parts, strict=True)), OWN_PICK: own}


class _Nests(NamedTuple):
    """What the parts read of kernels."""

    loops: np.ndarray
    loop_kind: np.ndarray
    base_dilation: np.ndarray
    operand_offset: np.ndarray
    operand_stride: np.ndarray
    operand_order: np.ndarray
    operand_elements: np.ndarray
    operand_element_bytes: np.ndarray

    @classmethod
    def of(cls, kernels: Kernels) -> "_Nests":
        return cls(*(getattr(kernels, name) for name in cls._fields))


@njit(cache=True)
def _slots_of_output(nests, k, slots):
    """Fills `slots` (int64[2, 8]) with the loops of lanes and of rows, each as one run from the most minor loop, -1
    behind the last."""
    slots[:] = -1
    last = nests.operand_offset[k + 1] - 1
    order, loops = nests.operand_order[last], nests.loops[k]
    window = False
    for slot in (KERNEL_H, KERNEL_W):
        partner = slot - KERNEL_H + OUT_W - 1
        window = window or (nests.loop_kind[k, slot] > PARALLEL and loops[slot] > 1 and loops[partner] > 1)
    which, length = -1, 0
    for position in range(8):
        slot = order[position]
        if slot == NO_LOOP:
            break
        if loops[slot] == 1:
            continue
        if length and not window and _is_one_run(nests, k, slots[which, length - 1], slot):
            slots[which, length] = slot
            length += 1
            continue
        if which == 1:
            break
        if which == 0 and window and slot != OUT_W:
            continue
        which, length = which + 1, 1
        slots[which, 0] = slot


@njit(cache=True)
def _is_one_run(nests, k, minor, major) -> bool:
    """Whether every operand walks both loops as one, or neither."""
    for operand in range(nests.operand_offset[k], nests.operand_offset[k + 1]):
        stride, order = nests.operand_stride[operand], nests.operand_order[operand]
        if stride[minor] == 0 and stride[major] == 0:
            continue
        if stride[minor] != 1 or stride[major] != 1:
            return False
        last = -1
        for position in range(8):
            if order[position] == NO_LOOP:
                break
            if nests.loops[k, order[position]] == 1:
                continue
            if order[position] == major and last != minor:
                return False
            last = order[position]
    return True


@njit(cache=True)
def _run(slots, tile) -> int:
    extent = 1
    for slot in slots:
        if slot >= 0:
            extent *= tile[slot]
    return extent


@njit(cache=True)
def _fill_vector_tiles(out, nests, row_kernel, tile):
    slots, known = np.full((2, 8), -1), -1
    for r in range(len(row_kernel)):
        k = row_kernel[r]
        if k != known:
            _slots_of_output(nests, k, slots)
            known = k
        out[0, r] = largest_divisor(_run(slots[1], tile[r]), MOST_ROWS)
        out[1, r] = vector_lanes(_run(slots[0], tile[r]), out[0, r])


@njit(cache=True)
def _cut(slots, tile, extent, cut):
    """Sets the loops of a run to their part of `extent`, the minor one first."""
    left = extent
    for slot in slots:
        if slot >= 0:
            cut[slot] = min(left, tile[slot])
            left = -(-left // cut[slot])


@njit(cache=True)
def _bytes(nests, k, operand, tile) -> float:
    """Of an operand that a tile reads."""
    elements = 1.0
    order = nests.operand_order[operand]
    for position in range(8):
        if order[position] == NO_LOOP:
            break
        elements *= node_extent(
            order[position], nests.operand_stride[operand], nests.loop_kind[k], nests.base_dilation[k], tile
        )
    return min(elements, float(nests.operand_elements[operand])) * nests.operand_element_bytes[operand]


@njit(cache=True)
def _step(nests, k, operand, slot, whole) -> float:
    """Elements between neighbours along a loop; 0 where the operand doesn't extend along it."""
    if slot < 0 or nests.operand_stride[operand, slot] == 0:
        return 0.0
    step = float(nests.operand_stride[operand, slot])
    order = nests.operand_order[operand]
    for position in range(8):
        if order[position] == slot or order[position] == NO_LOOP:
            break
        step *= node_extent(
            order[position], nests.operand_stride[operand], nests.loop_kind[k], nests.base_dilation[k], whole
        )
    return step


@njit(cache=True)
def _fill_parts(out, nests, row_kernel, tile, vector_rows, lanes):
    slots, known = np.full((2, 8), -1), -1
    block, vector = np.zeros(8, np.int32), np.zeros(8, np.int32)
    for r in range(len(row_kernel)):
        k, t, row = row_kernel[r], tile[r], out[r]
        loops, first, last = nests.loops[k], nests.operand_offset[k], nests.operand_offset[k + 1] - 1
        if k != known:
            _slots_of_output(nests, k, slots)
            known = k
        output = nests.operand_stride[last]
        blocks = contraction_steps = unrolled = 1.0
        contraction = -1
        for slot in range(8):
            block[slot] = t[slot] if output[slot] > 0 else loops[slot]
            vector[slot] = 1 if output[slot] > 0 else loops[slot]
            if output[slot] > 0:
                blocks *= -(-loops[slot] // t[slot])
            elif loops[slot] > 1:
                contraction_steps *= -(-loops[slot] // t[slot])
                unrolled *= t[slot]
                contraction = slot if contraction < 0 or slot < contraction else contraction
        _cut(slots[1], t, vector_rows[r], vector)
        _cut(slots[0], t, lanes[r], vector)
        registers = vector_rows[r] * -(-lanes[r] // LANES)
        tiles_of_block = 1.0
        for slot in range(8):
            if output[slot] > 0:
                tiles_of_block *= -(-block[slot] // vector[slot])
        one, other = first, max(first, min(first + 1, last - 1))
        vector_input, vector_weight = _bytes(nests, k, one, vector), _bytes(nests, k, other, vector)
        block_input, block_weight = _bytes(nests, k, one, block), _bytes(nests, k, other, block)
        block_output = _bytes(nests, k, last, block)
        row[0] = vector_rows[r]
        row[1] = lanes[r]
        row[2] = registers
        row[3] = unrolled
        row[4] = vector_rows[r] * lanes[r] * unrolled
        row[5] = blocks * tiles_of_block
        row[6] = vector_input
        row[7] = vector_weight
        row[8] = row[5] * (vector_input + vector_weight)
        row[9] = _run(slots[1], t)
        row[10] = block_input
        row[11] = block_weight
        row[12] = block_output
        row[13] = block_input + block_weight + block_output
        row[14] = tiles_of_block
        row[15] = blocks
        row[16] = blocks * row[13]
        row[17] = contraction_steps
        row[18] = _step(nests, k, one, slots[0, 0], loops)
        row[19] = _step(nests, k, one, slots[1, 0], loops)
        row[20] = _step(nests, k, one, contraction, loops)
        row[21] = _step(nests, k, other, slots[0, 0], loops)
        row[22] = _step(nests, k, other, contraction, loops)
