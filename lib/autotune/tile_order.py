"""In which order a strategy runs the tiles of a program's kernels, and how fast the program is after each run."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules
from lib.schedule.tiles import tile_space_and_default

SAMPLE_SEED = 1
"""Of the sample of a tile space that is larger than asked for."""


class TileSpace(NamedTuple):
    """The tiles that are ranked: r rows of k kernels, sorted by kernel and within it in canonical order."""

    kernels: Kernels
    executions: np.ndarray
    """int64[k]"""
    schedules: Schedules
    is_default: np.ndarray
    """bool[r]"""
    offset: np.ndarray
    """int64[k + 1] cuts the rows into kernels."""

    @property
    def default_row(self) -> np.ndarray:
        """int64[k]"""
        return np.flatnonzero(self.is_default)

    def rows(self, rows: np.ndarray) -> Schedules:
        """The schedules of some rows (int64[m])."""
        return Schedules(*(array[rows] for array in self.schedules))


def tile_space_of(kernels: Kernels, executions: np.ndarray, datapath: Datapath, tiles_per_kernel: int) -> TileSpace:
    """The tile space of each kernel, or a sample of it with the default tile. Every kernel must have a tile that fits
    (:func:`lib.schedule.default.default_schedule` says so in words)."""
    schedules, is_default = tile_space_and_default(kernels, datapath, tiles_per_kernel, SAMPLE_SEED)
    offset = np.searchsorted(schedules.kernel, np.arange(kernels.number + 1))
    return TileSpace(kernels, executions.astype(np.int64), schedules, is_default, offset)


class Order(NamedTuple):
    """The m rows of a tile space that are not default tiles, in the order in which they are run."""

    row: np.ndarray
    """int64[m]"""
    rank: np.ndarray
    """int64[m] place of the row among all of its kernel's, the default tile included; never falls."""
    all_ranks: np.ndarray
    """int64[r] place of each row of the space."""

    def first(self, top: int) -> int:
        """How many of the rows are run for the `top` best ranked tiles of each kernel."""
        return int(np.searchsorted(self.rank, top, side="left"))


def ranked_order(space: TileSpace, score: np.ndarray, default_s: np.ndarray) -> Order:
    """The order of a strategy that gives each row a `score` (float64[r], lower is better, NaN last).

    Round by round: the best ranked tile of every kernel, then the second best, and so on; within a round kernels that
    take the most time of the program under the default (`default_s` float64[k] a run) come first. Of equal scores the
    default tile comes first, then the first in canonical order.
    """
    kernel = space.schedules.kernel.astype(np.int64)
    by_score = np.lexsort((~space.is_default, score, kernel))
    rank = np.empty(len(kernel), dtype=np.int64)
    rank[by_score] = np.arange(len(kernel)) - space.offset[kernel[by_score]]
    weight = (default_s * space.executions)[kernel]
    sequence = np.lexsort((kernel, -weight, rank))
    sequence = sequence[~space.is_default[sequence]]
    return Order(sequence, rank[sequence], rank)


def best_seconds(space: TileSpace, seconds: np.ndarray, rows: np.ndarray, start: np.ndarray) -> np.ndarray:
    """float64[k]: the least of `start` (float64[k]) and the `seconds` (float64[r], NaN: skipped) of some rows."""
    best = start.copy()
    np.fmin.at(best, space.schedules.kernel[rows], seconds[rows])
    return best


def best_rows(space: TileSpace, seconds: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """int64[k]: of the default tile and some rows the fastest of each kernel; of equal ones the default, then the one
    that was run first."""
    candidates = np.concatenate([space.default_row, rows])
    kernel = space.schedules.kernel[candidates]
    order = np.lexsort((np.arange(len(candidates)), seconds[candidates], kernel))
    return candidates[order[np.searchsorted(kernel[order], np.arange(space.kernels.number))]]


@njit(cache=True, error_model="numpy")
def best_so_far(kernel, seconds, charged, executions, start):
    """Program runtime after each improvement, from m runs in order.

    `kernel` int[m], `seconds` float64[m] (NaN: skipped), `charged` float64[m] target seconds of each, `executions`
    int64[k], `start` float64[k] seconds of each kernel before. Returns `target_s` and `runtime_s` float64[n]: the start
    at 0, each improvement, and the end.
    """
    best = start.copy()
    target_s, runtime_s = np.empty(len(kernel) + 2), np.empty(len(kernel) + 2)
    target_s[0], runtime_s[0] = 0.0, (best * executions).sum()
    count, spent = 1, 0.0
    for run in range(len(kernel)):
        spent += charged[run]
        k = kernel[run]
        if seconds[run] < best[k]:
            best[k] = seconds[run]
            target_s[count], runtime_s[count] = spent, min(runtime_s[count - 1], (best * executions).sum())
            count += 1
    target_s[count], runtime_s[count] = spent, runtime_s[count - 1]
    return target_s[: count + 1], runtime_s[: count + 1]
