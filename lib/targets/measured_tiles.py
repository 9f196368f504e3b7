"""The tile task on a device: the matrix ops of a program, each a kernel of its own, and the tiles that are tried.

The device's compiler takes no tile of a fused kernel, so the program is not fused. Which ops can be tiled, which tiles
there are and which one the compiler picks by itself is the device's matter (`lib.targets.iree_tiles`).
"""

from collections.abc import Sequence

import numpy as np

from lib.program.extraction import ProgramKernels, extract
from lib.program.program import Program
from lib.schedule.schedules import Schedules, schedules_for_tiles
from lib.targets.iree_tiles import own_tile, tile_candidates, tunable

MOST_COUNTED = 16_384
"""Tiles of a kernel that are counted; more are told as so many."""


def tiled_groups(program: Program) -> np.ndarray:
    """int32[n]: each matrix op that can be tiled is a kernel of its own; -1: computed by no kernel of this task."""
    root = [index if tunable(program, index) else -1 for index in range(len(program.instructions))]
    return np.array(root, dtype=np.int32)


def tiled_kernels(program: Program) -> ProgramKernels:
    """The distinct kernels of :func:`tiled_groups`; their root is the matrix op."""
    return extract(program, tiled_groups(program))


def first_roots(found: ProgramKernels) -> np.ndarray:
    """int64[k]: index of the instruction where each kernel first occurs."""
    _, first = np.unique(found.occurrence_kernel, return_index=True)
    return found.occurrence_root[first].astype(np.int64)


def own_tiles(program: Program, roots: Sequence[int] | np.ndarray) -> tuple[np.ndarray, list[str]]:
    """int32[k, 8]: the tile that the device's compiler picks by itself for each matrix op, and why it picks none (then
    ones), else empty."""
    tiles, words = np.ones((len(roots), 8), dtype=np.int32), [""] * len(roots)
    for place, root in enumerate(roots):
        try:
            tiles[place] = own_tile(program, int(root))
        except (ValueError, RuntimeError) as error:
            words[place] = f"the compiler's own pick is not known: {error}"
    return tiles, words


def device_tile_counts(program: Program, roots: Sequence[int]) -> np.ndarray:
    """int64[k]: tiles of each matrix op, at most MOST_COUNTED."""
    counts = [len(tile_candidates(program, int(root), MOST_COUNTED, 0)) for root in roots]
    return np.array(counts, dtype=np.int64)


def device_tile_space(
    program: Program, roots: Sequence[int] | np.ndarray, own: np.ndarray, most: int, seed: int
) -> tuple[Schedules, np.ndarray]:
    """Up to `most` tiles of each matrix op, the compiler's own pick (`own` int32[k, 8]) first, and bool[r], where a row
    is that pick. Rows are sorted by kernel, of which the k-th is the op `roots[k]`; a sample is drawn by the seed."""
    tiles = []
    for root, pick in zip(roots, own, strict=True):
        drawn = tile_candidates(program, int(root), most, seed)
        others = drawn[(drawn != pick).any(axis=1)][: most - 1]
        tiles.append(np.concatenate([pick[None], others]).astype(np.int32))
    kernel = np.repeat(np.arange(len(tiles), dtype=np.int32), [len(each) for each in tiles])
    schedules = schedules_for_tiles(kernel, np.concatenate(tiles) if tiles else np.empty((0, 8), dtype=np.int32))
    return schedules, (schedules.tile == own[schedules.kernel]).all(axis=1)
