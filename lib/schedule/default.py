"""The default schedule: what the compiler would choose, the argmin of its own model over the whole tile space."""

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
from lib.program.kernels import KERNEL_CLASSES, Kernels
from lib.schedule.candidates import TileCandidates, first_tile, next_tile, tile_at, tile_candidates
from lib.schedule.node_table import operand_table, tile_bytes, tile_limits
from lib.schedule.schedules import Schedules, schedules_for_tiles


def default_schedule(kernels: Kernels, datapath: Datapath) -> Schedules:
    """One row a kernel: the tile of :func:`default_tiles`, weight-stationary, everything else by the default rules.

    Raises ValueError for a kernel of which no tile fits, with the bytes that its smallest one needs.
    """
    tile, _, fits = default_tiles(kernels, datapath)
    if not fits.all():
        k = int(np.flatnonzero(~fits)[0])
        operands = operand_table(kernels, datapath.register_sublanes, datapath.register_lanes)
        needed = sum(tile_bytes(operands, k, np.append(tile[k], 1).astype(np.int64)))
        raise ValueError(
            f"{np.count_nonzero(~fits)} of {kernels.number} kernels have no tile that fits on chip, first kernel "
            f"{k} ({KERNEL_CLASSES[kernels.kernel_class[k]]}, {kernels.fingerprint[k]}): its smallest tile takes "
            f"{needed:.0f} bytes and may take {tile_limits(datapath).whole} (half of the buffer)"
        )
    return schedules_for_tiles(np.arange(kernels.number, dtype=np.int32), tile)


def default_tiles(kernels: Kernels, datapath: Datapath) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The default tile of every kernel, without an error where none fits.

    Returns `tile` int32[k, 8] (the smallest tile where none fits), `seconds` float64[k] by the analytical model
    (NaN where none fits) and `fits` bool[k]. Raises ValueError for an op kind that is not in the table.
    """
    candidates = tile_candidates(kernels, datapath)
    number, seconds = default_numbers(kernels, datapath, candidates)
    tile = np.empty((kernels.number, 8), dtype=np.int32)
    last = candidates.combinations() - 1
    _tiles_at(candidates.offset, candidates.extent, np.where(number < 0, last, number), tile)
    return tile, seconds, number >= 0


def default_numbers(kernels: Kernels, datapath: Datapath, candidates: TileCandidates) -> tuple[np.ndarray, np.ndarray]:
    """Number of each kernel's default tile in canonical order (int64[k], -1 where none fits) and its seconds."""
    return _argmin(
        analytical_problem(kernels, datapath), analytical_rates(datapath), tile_limits(datapath),
        candidates.offset, candidates.extent,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _argmin(problem, rates, limits, offset, extent):
    count = len(problem.loops)
    best_number = np.full(count, -1, dtype=np.int64)
    best_seconds = np.full(count, np.nan)
    digits, tile = np.empty(8, dtype=np.int64), np.ones(9, dtype=np.int64)
    scratch, parts = analytical_scratch(), np.empty(len(PART_NAMES))
    for k in range(count):
        first_tile(offset, extent, k, digits, tile)
        number = 0
        best = np.inf
        more = True
        while more:
            seconds = analytical_row(problem, k, tile, rates, limits, best, scratch, parts)
            if seconds < best:
                best = seconds
                best_number[k], best_seconds[k] = number, seconds
            number += 1
            more = next_tile(offset, extent, k, digits, tile)
    return best_number, best_seconds


@njit(cache=True, error_model="numpy")
def _tiles_at(offset, extent, number, tile) -> None:
    for k in range(len(number)):
        tile_at(offset, extent, k, number[k], tile[k])
