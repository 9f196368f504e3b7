"""Tile candidates of each loop, and the canonical order of the tiles that they combine to.

Candidates of a loop of extent D are the distinct ceil(D / k), k = 1, 2, ..., rounded up to the register tile
where the loop walks the dimension on lanes or on sublanes and clipped to D: see :func:`tile_candidates`. A tile
picks one candidate for each loop. The canonical order is lexicographic from loop 0, larger extents first, so the
whole kernel in one tile comes first.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.hardware.datapath import Datapath, double_buffered_bytes
from lib.program.kernels import NO_LOOP, WINDOW, Kernels
from lib.schedule.footprint import padded_tile_bytes
from lib.schedule.register_layout import register_loops

WHOLE_WINDOW = 16
"""A window loop up to this extent is held whole or one tap at a time; a larger one (the window of a weight
gradient is the size of an image) is cut like any other loop."""
MOST_COMBINATIONS = 1 << 20
"""Where a kernel's candidates combine to more tiles than this, every second candidate of its richest loop is
dropped (the first and the last stay) until they do not."""


class TileCandidates(NamedTuple):
    """Candidates of k kernels, ragged."""

    offset: np.ndarray
    """int64[k * 8 + 1]: candidates of loop j of kernel i lie at `offset[8 * i + j] : offset[8 * i + j + 1]`."""
    extent: np.ndarray
    """int32[c] tile extents, falling within a loop."""

    def combinations(self) -> np.ndarray:
        """int64[k]: tiles of each kernel before any is dropped for its size."""
        return np.diff(self.offset).reshape(-1, 8).prod(axis=1)


def compiled_view(kernels: Kernels) -> Kernels:
    """The same kernels without their fingerprints, as compiled functions take them."""
    return kernels._replace(fingerprint=())  # type: ignore[arg-type]


def tile_candidates(kernels: Kernels, datapath: Datapath) -> TileCandidates:
    """Candidates of every loop of every kernel; what fits together is not looked at yet.

    Rounding: a loop along the dimension of the output that lies on lanes to a multiple of `register_lanes`, along the
    one on sublanes to `register_sublanes * 4 / element_bytes` (8 x 128, bfloat16 16 x 128). A loop that the output does
    not have (a contracted or reduced one) to the largest such multiple among the operands. Where not even the smallest
    tile fits on chip, the window of a weight gradient is cut without rounding: its loops may be on lanes and sublanes
    of one operand and on neither in another, which a tile of whole registers for the first makes too large.
    """
    offset, extent = _candidates(compiled_view(kernels), datapath)
    return TileCandidates(offset, extent)


@njit(cache=True, error_model="numpy")
def _granules(kernels, k, datapath, granule) -> None:
    """Fill int64[8] `granule` with the multiple that each loop's tile extents are rounded up to."""
    granule[:] = 1
    output = kernels.operand_offset[k + 1] - 1
    for operand in range(kernels.operand_offset[k], output + 1):
        rows = max(1, datapath.register_sublanes * 4 // kernels.operand_element_bytes[operand])
        on_registers = register_loops(kernels.operand_order[operand], kernels.loops[k], datapath.register_lanes)
        for position in range(2):
            slot = on_registers[position]
            if slot != NO_LOOP and (operand == output or kernels.operand_stride[output, slot] == 0):
                granule[slot] = max(granule[slot], datapath.register_lanes if position == 0 else rows)


@njit(cache=True, error_model="numpy")
def _loop_candidates(extent, granule, whole_or_one, out) -> int:
    """Write the candidates of one loop to `out`, largest first, and return how many there are."""
    out[0] = extent
    count = 1
    if whole_or_one:
        if extent > 1:
            out[1] = 1
            count = 2
        return count
    part = extent
    while part > 1:
        cuts = (extent - 1) // (part - 1) + 1  # the fewest cuts that make parts smaller than this one
        part = -(-extent // cuts)
        rounded = min(-(-part // granule) * granule, extent)
        if rounded < out[count - 1]:
            out[count] = rounded
            count += 1
    return count


@njit(cache=True, error_model="numpy")
def _thin(extents, counts) -> None:
    """Drop every second candidate of the richest loop, the first and last kept, until the product is small."""
    while True:
        product = 1.0
        richest = 0
        for slot in range(8):
            product *= counts[slot]
            if counts[slot] > counts[richest]:
                richest = slot
        if product <= MOST_COMBINATIONS:
            return
        row = extents[richest]
        last = row[counts[richest] - 1]
        kept = (counts[richest] + 1) // 2
        for position in range(kept):
            row[position] = row[2 * position]
        if row[kept - 1] != last:
            row[kept] = last
            kept += 1
        counts[richest] = kept


@njit(cache=True, error_model="numpy")
def _smallest_fits(kernels, k, extents, counts, datapath) -> bool:
    """Whether the tile of all last candidates fits double-buffered."""
    tile = np.empty(8, dtype=np.int64)
    for slot in range(8):
        tile[slot] = extents[slot, counts[slot] - 1]
    total = 0
    for operand in range(kernels.operand_offset[k], kernels.operand_offset[k + 1]):
        total += padded_tile_bytes(
            kernels.operand_stride[operand], kernels.operand_order[operand], kernels.loops[k], kernels.loop_kind[k],
            kernels.base_dilation[k], tile, np.int64(kernels.operand_element_bytes[operand]),
            datapath.register_sublanes, datapath.register_lanes,
        )  # fmt: skip
    return total <= double_buffered_bytes(datapath)[0]


@njit(cache=True, error_model="numpy")
def _candidates(kernels, datapath):
    count = len(kernels.loops)
    offset = np.zeros(count * 8 + 1, dtype=np.int64)
    most = 0.0  # a loop has two cuts for each number up to the root of its extent, and what rounding adds
    for k in range(count):
        for slot in range(8):
            most += 2 * np.sqrt(kernels.loops[k, slot]) + 4
    extent = np.empty(int(most), dtype=np.int32)
    used = 0
    granule = np.ones(8, dtype=np.int64)
    counts = np.ones(8, dtype=np.int64)
    for k in range(count):
        _granules(kernels, k, datapath, granule)
        widest = kernels.loops[k].max()
        extents = np.empty((8, int(2 * np.sqrt(widest)) + 4), dtype=np.int32)
        for slot in range(8):
            whole = kernels.loops[k, slot]
            window = kernels.loop_kind[k, slot] == WINDOW and whole <= WHOLE_WINDOW
            counts[slot] = _loop_candidates(whole, granule[slot], window, extents[slot])
        for slot in range(8):
            whole = kernels.loops[k, slot]
            long_window = kernels.loop_kind[k, slot] == WINDOW and whole > WHOLE_WINDOW
            if long_window and not _smallest_fits(kernels, k, extents, counts, datapath):
                counts[slot] = _loop_candidates(whole, 1, False, extents[slot])
        _thin(extents, counts)
        for slot in range(8):
            for position in range(counts[slot]):
                extent[used + position] = extents[slot, position]
            used += counts[slot]
            offset[8 * k + slot + 1] = used
    return offset, extent[:used].copy()


@njit(cache=True, error_model="numpy")
def first_tile(offset, extent, k, digits, tile) -> None:
    """Set int64[8] `digits` and `tile` to the first tile of kernel `k`: the whole of every loop."""
    for slot in range(8):
        digits[slot] = 0
        tile[slot] = extent[offset[8 * k + slot]]


@njit(cache=True, error_model="numpy", inline="always")
def next_tile(offset, extent, k, digits, tile) -> bool:
    """Advance `digits` and `tile` to the next tile in canonical order; False (and back at the first) at the end."""
    for slot in range(7, -1, -1):
        start = offset[8 * k + slot]
        digits[slot] += 1
        if start + digits[slot] < offset[8 * k + slot + 1]:
            tile[slot] = extent[start + digits[slot]]
            return True
        digits[slot] = 0
        tile[slot] = extent[start]
    return False


@njit(cache=True, error_model="numpy")
def tile_at(offset, extent, k, number, tile) -> None:
    """Set `tile` (int[8]) to tile `number` of kernel `k` in canonical order, counting those too large as well."""
    for slot in range(7, -1, -1):
        start = offset[8 * k + slot]
        choices = offset[8 * k + slot + 1] - start
        tile[slot] = extent[start + number % choices]
        number //= choices
