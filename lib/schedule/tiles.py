"""The tile space of a kernel: the combinations of its candidates that fit on chip, in canonical order."""

import numpy as np
from numba import njit

from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels
from lib.schedule.candidates import (
    TileCandidates,
    first_tile,
    next_tile,
    tile_at,
    tile_candidates,
)
from lib.schedule.default import default_numbers
from lib.schedule.node_table import NodeTable, TileLimits, operand_table, tile_fits, tile_limits
from lib.schedule.schedules import Schedules, schedules_for_tiles

__all__ = ["TileCandidates", "tile_candidates", "tile_counts", "tile_fits", "tile_space", "tile_space_and_default"]


def tile_counts(kernels: Kernels, datapath: Datapath) -> np.ndarray:
    """int64[k]: number of tiles of each kernel that fit; 0 where none does."""
    candidates = tile_candidates(kernels, datapath)
    counts = np.zeros(kernels.number, dtype=np.int64)
    _count(*_geometry(kernels, datapath), candidates.offset, candidates.extent, counts)
    return counts


def tile_space(kernels: Kernels, datapath: Datapath, limit: int, seed: int) -> Schedules:
    """Up to `limit` tiles of each kernel: all that fit, or a uniform sample with the default tile.

    See :func:`tile_space_and_default`, which also tells the default tiles.
    """
    return tile_space_and_default(kernels, datapath, limit, seed)[0]


def tile_space_and_default(kernels: Kernels, datapath: Datapath, limit: int, seed: int) -> tuple[Schedules, np.ndarray]:
    """The rows of :func:`tile_space`, and bool[r], where the tile is the kernel's default one.

    Rows are sorted by kernel and within it in canonical order; a kernel of which no tile fits has none. The sample
    depends only on `seed`, `limit`, the kernel's fingerprint and the datapath, not on the other kernels. Raises
    ValueError where `limit` is below 1.
    """
    if limit < 1:
        raise ValueError(f"limit: {limit} tiles a kernel; at least 1 is needed, the default tile")
    candidates = tile_candidates(kernels, datapath)
    default, _ = default_numbers(kernels, datapath, candidates)
    operands, limits = _geometry(kernels, datapath)
    room = np.empty(int(candidates.combinations().max(initial=0)), dtype=np.int32)
    chosen = []
    for k in range(kernels.number):
        count = _fitting(operands, limits, candidates.offset, candidates.extent, k, room)
        numbers = room[:count]
        if count > limit:
            numbers = _sample(numbers, int(default[k]), limit, seed, kernels.fingerprint[k])
        chosen.append(numbers.astype(np.int64))
    kernel = np.repeat(np.arange(kernels.number, dtype=np.int32), [len(c) for c in chosen])
    number = np.concatenate(chosen) if chosen else np.empty(0, dtype=np.int64)
    tile = np.empty((len(kernel), 8), dtype=np.int32)
    _tiles_of(candidates.offset, candidates.extent, kernel, number, tile)
    return schedules_for_tiles(kernel, tile), number == default[kernel]


def _geometry(kernels: Kernels, datapath: Datapath) -> tuple[NodeTable, TileLimits]:
    return operand_table(kernels, datapath.register_sublanes, datapath.register_lanes), tile_limits(datapath)


def _sample(numbers: np.ndarray, default: int, limit: int, seed: int, fingerprint: str) -> np.ndarray:
    """`limit` of the tile `numbers`, uniformly, `default` among them, in their order."""
    generator = np.random.default_rng([seed, int(fingerprint, 16)])
    at = int(np.searchsorted(numbers, default))
    others = generator.choice(len(numbers) - 1, size=limit - 1, replace=False)
    places = np.append(others + (others >= at), at)
    return numbers[np.sort(places)]


@njit(cache=True)
def _fitting(operands, limits, offset, extent, k, out) -> int:
    """Write the numbers of the tiles of kernel `k` that fit to `out` and return how many there are."""
    digits, tile = np.empty(8, dtype=np.int64), np.ones(9, dtype=np.int64)
    first_tile(offset, extent, k, digits, tile)
    number = count = 0
    more = True
    while more:
        if tile_fits(operands, k, tile, limits):
            out[count] = number
            count += 1
        number += 1
        more = next_tile(offset, extent, k, digits, tile)
    return count


@njit(cache=True)
def _count(operands, limits, offset, extent, counts) -> None:
    digits, tile = np.empty(8, dtype=np.int64), np.ones(9, dtype=np.int64)
    for k in range(len(counts)):
        first_tile(offset, extent, k, digits, tile)
        more = True
        while more:
            counts[k] += tile_fits(operands, k, tile, limits)
            more = next_tile(offset, extent, k, digits, tile)


@njit(cache=True)
def _tiles_of(offset, extent, kernel, number, tile) -> None:
    for row in range(len(kernel)):
        tile_at(offset, extent, kernel[row], number[row], tile[row])
