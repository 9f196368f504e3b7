"""The tiles of a matrix op that are tried on a CPU with IREE, and the compiler's own.

A loop can be cut to its divisors: IREE masks what is left of a vector tile at an edge, which was measured 30 times
slower, and its own picks divide as well. On the output's most minor loop they are multiples of a vector register (16
lanes), else of half of one, if there are such divisors. A window is taken a line at a time (kernel_h 1), and contracted
loops, which the vectoriser unrolls, by MOST_UNROLLED steps at most.
"""

from collections.abc import Sequence
from itertools import islice

import numpy as np

from lib.program.kernels import KERNEL_H
from lib.program.program import Program
from lib.schedule.vector_tiles import LANES
from lib.targets.iree_module import IllegalTile, check_tile, has_window, loop_tiles, module_text
from lib.targets.loop_merging import merged
from lib.targets.matrix_op import Loop, MatrixOp, UnsupportedMatrixOp, matrix_op

MOST_UNROLLED = 64
"""Steps of a contracted loop in a vector tile."""
MOST_COUNTED = 1 << 16
"""Up to so many combinations of candidates all are looked at; of more, a sample."""
MOST_DRAWS = 64
"""Draws for each tile that is asked for, of which some are no legal tiles."""


def tunable(program: Program, instruction: int) -> bool:
    """Whether the instruction is a matrix op that has a choice of tiles on IREE."""
    try:
        op = merged(matrix_op(program, instruction))
    except UnsupportedMatrixOp:
        return False
    choices = [_part_extents(op, loop) for loop in op.loops]
    tiles = (_combined(op, choices, digits) for digits in np.ndindex(*map(len, choices)))
    legal = (tile for tile in islice(tiles, MOST_COUNTED) if _is_legal(op, tile))
    first = next(legal, None)
    return any(tile != first for tile in legal)


def tile_candidates(program: Program, instruction: int, limit: int, seed: int) -> np.ndarray:
    """int32[n, 8]: up to `limit` tiles of the matrix op at index `instruction`, all of them if there are no more.

    Distinct and in canonical order (lexicographic from batch, larger extents first); none where IREE takes no tile. A
    sample is drawn from the seed and the op itself, not its place in the program. Raises UnsupportedMatrixOp, and
    ValueError for a limit below 1.
    """
    if limit < 1:
        raise ValueError(f"limit: {limit} tiles of a matrix op; at least 1 is needed")
    op = merged(matrix_op(program, instruction))
    choices = [_part_extents(op, loop) for loop in op.loops]
    shape = tuple(len(one) for one in choices)
    count = int(np.prod(shape, dtype=np.float64))
    tiles: set[tuple[int, ...]] = set()
    for digits in _numbers(op, shape, count, limit, seed):
        if len(tiles) == limit and count > MOST_COUNTED:
            break
        tile = _combined(op, choices, digits)
        if _is_legal(op, tile):
            tiles.add(tile)
    table = np.array(sorted(tiles, reverse=True), dtype=np.int32).reshape(-1, 8)
    if len(table) > limit:
        chosen = _generator(op, seed).choice(len(table), size=limit, replace=False)
        table = table[np.sort(chosen)]
    return table


def own_tile(program: Program, instruction: int) -> np.ndarray:
    """int32[8]: the tile that IREE picks by itself, as it says when it compiles the op.

    Its distribution sizes along parallel loops and vector sizes along contracted ones. Where IREE runs over several
    canonical loops as one its pick may be no tile of them: then the extents are rounded down to one. Raises
    UnsupportedMatrixOp, and IreeError where it can't be compiled.
    """
    from lib.targets.iree_device import chosen_sizes  # the optional packages are needed here only

    op = merged(matrix_op(program, instruction))
    distribution, reduction = chosen_sizes(module_text(op, None), len(op.loops))
    runs = []
    for loop, parallel, contracted in zip(op.loops, distribution, reduction, strict=True):
        left = (contracted if loop.contracted else parallel) or loop.extent
        parts = []
        for part in reversed(loop.parts):
            parts.append(min(part.extent, left))
            left = max(1, left // part.extent)
        runs.append(tuple(reversed(parts)))
    return np.array(_canonical(op, runs), dtype=np.int32)


def divisors(extent: int, multiple: int = 1) -> list[int]:
    """Those that are multiples of `multiple`, larger ones first."""
    return [part for part in range(extent, 0, -1) if extent % part == 0 and part % multiple == 0]


def _part_extents(op: MatrixOp, loop: Loop) -> list[tuple[int, ...]]:
    """The candidates of a loop: the extent of each of its parts."""
    wholes = [part.extent for part in loop.parts]
    found = []
    for place, part in enumerate(loop.parts):
        minor = wholes[place + 1 :]
        multiple = 1
        if not minor and op.output and loop is op.loops[op.output[-1].loop]:
            multiple = next(one for one in (LANES, LANES // 2, 1) if part.extent % one == 0)
        for extent in divisors(part.extent, multiple):
            if extent > 1 or place == len(loop.parts) - 1:
                found.append((1,) * place + (extent, *minor))
    if not loop.contracted:
        return found
    most = 1 if loop.parts[0].slot == KERNEL_H and has_window(op) else MOST_UNROLLED
    return [extents for extents in found if int(np.prod(extents)) <= most]


def _canonical(op: MatrixOp, runs: Sequence[Sequence[int]]) -> tuple[int, ...]:
    tile = [1] * 8
    for loop, extents in zip(op.loops, runs, strict=True):
        for part, extent in zip(loop.parts, extents, strict=True):
            tile[part.slot] *= extent
    return tuple(tile)


def _combined(op: MatrixOp, choices: list[list[tuple[int, ...]]], digits: Sequence[int]) -> tuple[int, ...]:
    return _canonical(op, [one[digit] for one, digit in zip(choices, digits, strict=True)])


def _is_legal(op: MatrixOp, tile: tuple[int, ...]) -> bool:
    try:
        check_tile(op, loop_tiles(op, tile))
    except IllegalTile:
        return False
    return True


def _generator(op: MatrixOp, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, *(loop.extent for loop in op.loops)])


def _numbers(op: MatrixOp, shape: tuple[int, ...], count: int, limit: int, seed: int):
    """Digits of combinations: all, or draws."""
    if count <= MOST_COUNTED:
        yield from np.ndindex(shape)
        return
    generator = _generator(op, seed)
    for _ in range(MOST_DRAWS * limit):
        yield tuple(int(generator.integers(choices)) for choices in shape)
