"""Nearly the default tiles, for searches that ask a learned model about thousands of designs.

The default tile (:mod:`lib.schedule.default`) is the best of the whole tile space under the analytical model, which
takes half a second for a large program. Here a descent under the same model changes a tile one loop at a time, then two
loops at a time (one held smaller so that another may be held larger: what fits is a boundary along which the best tiles
lie), as long as that makes it faster; it takes a hundredth of the time. The simulator has no part in it.
"""

import numpy as np
from numba import njit

from lib.cost.analytical import (
    PART_NAMES,
    analytical_problem,
    analytical_rates,
    analytical_row,
    analytical_scratch,
)
from lib.hardware.datapath import Datapath
from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, OUT_H, OUT_W, Kernels
from lib.schedule.borrowed import borrowed
from lib.schedule.candidates import tile_candidates
from lib.schedule.node_table import tile_limits

ROUNDS = 3
"""Most rounds of single and double changes from a start."""
IMAGES_FIRST = (BATCH, OUT_H, OUT_W, GROUP, OUT_C, IN_C, KERNEL_H, KERNEL_W)
CHANNELS_FIRST = (KERNEL_H, KERNEL_W, IN_C, OUT_C, GROUP, OUT_W, OUT_H, BATCH)
CONTRACTION_FIRST = (IN_C, BATCH, OUT_H, OUT_W, OUT_C, GROUP, KERNEL_H, KERNEL_W)
STARTS = np.array([IMAGES_FIRST, IMAGES_FIRST, CHANNELS_FIRST, CONTRACTION_FIRST])
"""Orders in which the loops of the whole kernel are cut until it fits. In the first start all are cut in turn, each by
one candidate; in the others each to its end before the next."""
PATIENCE = 4
"""Candidates of one loop that may be slower, one after the other, before that direction is given up."""


def nearly_default_tiles(kernels: Kernels, datapath: Datapath) -> np.ndarray:
    """int32[k, 8] a tile of every kernel about as good as its default one, by the analytical model; all extents 1 where
    none fits."""
    candidates = tile_candidates(kernels, datapath)
    digits = _descended(
        analytical_problem(kernels, datapath), analytical_rates(datapath), tile_limits(datapath), candidates.offset,
        candidates.extent,
    )  # fmt: skip
    found = digits[:, 0] >= 0
    place = candidates.offset[8 * np.arange(kernels.number)[:, None] + np.arange(8)] + np.maximum(digits, 0)
    return np.where(found[:, None], candidates.extent[place], 1).astype(np.int32)


@njit(cache=True, error_model="numpy")
def _descended(owned_problem, rates, limits, owned_offset, owned_extent):
    """int64[k, 8] candidates of the best tile that a descent finds for each kernel, -1 where none fits.

    `owned_...`: arrays that the caller keeps alive.
    """
    problem, offset, extent = borrowed((owned_problem, owned_offset, owned_extent))
    scratch, parts = analytical_scratch(), np.empty(len(PART_NAMES))
    digits, counts = np.empty(8, np.int64), np.empty(8, np.int64)
    extents = np.ones(9, dtype=np.int64)
    found = np.full((len(problem.loops), 8), -1, dtype=np.int64)
    for k in range(len(problem.loops)):
        for slot in range(8):
            counts[slot] = offset[8 * k + slot + 1] - offset[8 * k + slot]
        best = np.inf
        for start in range(len(STARTS)):
            seconds = _descend(
                problem, k, rates, limits, offset, extent, counts, STARTS[start], start == 0, digits, extents, scratch,
                parts,
            )  # fmt: skip
            if seconds < best:
                best = seconds
                found[k] = digits
    return found


@njit(cache=True, error_model="numpy")
def _seconds(problem, k, rates, limits, offset, extent, digits, most, extents, scratch, parts) -> float:
    """Of the tile that `digits` choose, which becomes `extents`; infinite where it does not fit or takes `most`."""
    for slot in range(8):
        extents[slot] = extent[offset[8 * k + slot] + digits[slot]]
    return analytical_row(problem, k, extents, rates, limits, most, scratch, parts)


@njit(cache=True, error_model="numpy")
def _descend(
    problem, k, rates, limits, offset, extent, counts, order, in_turn, digits, extents, scratch, parts
) -> float:
    """Leave the best tile from one start in `digits` and return its seconds; infinite where no tile fits.

    `order`: int64[8], a row of STARTS; `in_turn`: cut a loop by one candidate only and go on to the next loop.
    """
    digits[:] = 0
    best = _seconds(problem, k, rates, limits, offset, extent, digits, np.inf, extents, scratch, parts)
    cut = True
    while best == np.inf and cut:
        cut = False
        for slot in order:
            while best == np.inf and digits[slot] < counts[slot] - 1:
                cut = True
                digits[slot] += 1
                best = _seconds(problem, k, rates, limits, offset, extent, digits, np.inf, extents, scratch, parts)
                if in_turn:
                    break
    if best == np.inf:
        return best
    for _ in range(ROUNDS):
        before = best
        for slot in order:
            if counts[slot] == 1:
                continue
            start = chosen = digits[slot]
            for direction in (-1, 1):
                digits[slot] = start + direction
                misses = 0
                while misses < PATIENCE and 0 <= digits[slot] < counts[slot]:
                    seconds = _seconds(
                        problem, k, rates, limits, offset, extent, digits, best, extents, scratch, parts
                    )  # fmt: skip
                    misses += 1
                    if seconds < best:
                        best, chosen, misses = seconds, digits[slot], 0
                    digits[slot] += direction
            digits[slot] = chosen
        for smaller in range(8):
            for larger in range(8):
                if smaller == larger or counts[smaller] == 1 or digits[larger] == 0:
                    continue
                kept_smaller, kept_larger = digits[smaller], digits[larger]
                best_smaller, best_larger = kept_smaller, kept_larger
                for down in range(1, min(3, counts[smaller] - kept_smaller)):
                    digits[smaller] = kept_smaller + down
                    for up in range(1, min(3, kept_larger + 1)):
                        digits[larger] = kept_larger - up
                        seconds = _seconds(
                            problem, k, rates, limits, offset, extent, digits, best, extents, scratch, parts
                        )  # fmt: skip
                        if seconds < best:
                            best, best_smaller, best_larger = seconds, digits[smaller], digits[larger]
                digits[smaller], digits[larger] = best_smaller, best_larger
        if best == before:
            break
    return best
