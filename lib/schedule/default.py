"""The default schedule: what the compiler would choose, the argmin of its own model over the whole tile space."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from lib.cost.analytical import (
    PART_NAMES,
    analytical_problem,
    analytical_rates,
    analytical_row,
    analytical_scratch,
)
from lib.hardware.datapath import L2_DISABLED, Datapath
from lib.program.kernels import KERNEL_CLASSES, Kernels
from lib.schedule.candidates import TileCandidates, first_tile, next_tile, tile_at, tile_candidates
from lib.schedule.node_table import operand_table, tile_bytes, tile_limits
from lib.schedule.schedules import Schedules, schedules_for_tiles


class NoTileFits(ValueError):
    """A kernel that can't run on a datapath; the message names it, what it needs and what to change."""


def default_schedule(kernels: Kernels, datapath: Datapath, names: Sequence[str] | None = None) -> Schedules:
    """One row a kernel: the tile of :func:`default_tiles`, weight-stationary, everything else by the default rules.

    `names`: of the kernels, for errors. Raises NoTileFits, with the bytes that the smallest tile needs.
    """
    tile, _, fits = default_tiles(kernels, datapath)
    check_fit(kernels, datapath, tile, fits, names)
    return schedules_for_tiles(np.arange(kernels.number, dtype=np.int32), tile)


def check_fit(
    kernels: Kernels, datapath: Datapath, smallest: np.ndarray, fits: np.ndarray, names: Sequence[str] | None = None
) -> None:
    """Raise NoTileFits unless all of bool[k] `fits`; `smallest`: int32[k, 8] a tile of each kernel that fits not."""
    if fits.all():
        return
    k = int(np.flatnonzero(~fits)[0])
    operands = operand_table(kernels, datapath.register_sublanes, datapath.register_lanes)
    needed = tile_bytes(operands, k, np.append(smallest[k], 1).astype(np.int64))
    level, keys = _tile_level(datapath)
    limits = tile_limits(datapath)
    parts = zip(("inputs", "weights", "output"), needed, (limits.inputs, limits.weights, limits.output), strict=True)
    by_part = ", ".join(f"{part} {size:.0f} of {most}" for part, size, most in parts)
    name = f"'{names[k]}'" if names is not None else str(k)
    raise NoTileFits(
        f"{np.count_nonzero(~fits)} of {kernels.number} kernels have no tile that fits on chip, first kernel {name}"
        f" ({KERNEL_CLASSES[kernels.kernel_class[k]]}, {kernels.fingerprint[k]}): its smallest tile takes"
        f" {sum(needed):.0f} bytes and may take {limits.whole}, half of the {level}, as the next tile loads meanwhile"
        f" ({by_part}); give the hardware a larger {keys}, or leave the workload out"
    )


def _tile_level(datapath: Datapath) -> tuple[str, str]:
    """The level that holds tiles, and the keys of a study that make it larger."""
    if datapath.global_buffer_bytes > 0:
        return "global buffer", "global_buffer"
    keys = "global_buffer (it has none), l1_input, l1_weight or l1_output"
    if datapath.l2_kind != L2_DISABLED:
        return "L2 buffers", f"{keys}, or multipliers of l2"
    return "L1 buffers", keys


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
