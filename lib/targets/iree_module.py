"""A matrix op with a tile as MLIR text that IREE compiles.

The op is one `linalg.generic` on tensors of f32 over the merged loops of :mod:`lib.targets.loop_merging`. From a tile,
extents of the canonical loops, follow three sizes a loop (IREE's `#iree_cpu.lowering_config`):

- `distribution`: of parallel loops the tile's extent: what a workgroup makes, one after the other on one thread;
- `vector_reduction`: of contracted loops the tile's extent: what the vectoriser unrolls;
- `vector_common_parallel`: by :func:`vector_tile`.

The pipeline is the one that IREE picks by itself: ConvTileAndDecomposeExpert for convolutions with a window whose
channels are most minor everywhere, DoubleTilingExpert for all other ops.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, LOOPS, OUT_C, OUT_H, OUT_W
from lib.program.program import Program
from lib.schedule.vector_tiles import MOST_ROWS, largest_divisor, vector_lanes
from lib.targets.loop_merging import merged
from lib.targets.matrix_op import Dimension, Loop, MatrixOp, matrix_op
from lib.targets.module import Module

LARGEST_VECTOR_BYTES = 32 * 1024
"""IREE refuses to compile where the loops of a vector tile have as many points of four bytes ('operations with large
vector sizes'); it is the limit of a dispatch's stack, `--iree-llvmcpu-stack-allocation-limit`. Code and compile time
grow with the points too: see docs/targets.md."""


PLAIN_CONVOLUTIONS = (
    ((BATCH, OUT_H, OUT_W, IN_C), (KERNEL_H, KERNEL_W, IN_C, OUT_C), (BATCH, OUT_H, OUT_W, OUT_C)),
    ((BATCH, OUT_H, OUT_W, GROUP), (KERNEL_H, KERNEL_W, GROUP), (BATCH, OUT_H, OUT_W, GROUP)),
)
"""Canonical loops of the dimensions of input, weights and output: convolution and depthwise convolution."""
DEPTHWISE_GRADIENT = (IN_C, KERNEL_H, KERNEL_W, GROUP)
"""Those of the second operand of a depthwise convolution's gradient by its weights."""


class IllegalTile(ValueError):
    """A tile that can't be said to the compiler or that it would refuse."""


def tile_module(program: Program, instruction: int, tile: np.ndarray | Sequence[int] | None) -> Module:
    """The module of the matrix op at index `instruction` with a tile (int[8], extents of the canonical loops).

    None: the compiler's own choice. The input holds padding and inserted zeros already: what made it writes them, and
    IREE would copy it in a dispatch of its own, which no tile changes. Raises
    :class:`lib.targets.matrix_op.UnsupportedMatrixOp` and :class:`IllegalTile`.
    """
    op = merged(matrix_op(program, instruction))
    return Module("iree", module_text(op, None if tile is None else loop_tiles(op, tile)))


def loop_tiles(op: MatrixOp, tile: np.ndarray | Sequence[int]) -> tuple[int, ...]:
    """The tile's extent along each loop of a merged op. Raises IllegalTile where a tile is none of these loops.

    A canonical loop of several dimensions is cut from the most major one: a tile is a part of the minor dimension, or a
    number of whole ones. So is a loop that merges several canonical ones.
    """
    tile = [int(extent) for extent in tile]
    whole = canonical_extents(op)
    for slot in range(8):
        if not 1 <= tile[slot] <= whole[slot]:
            raise IllegalTile(f"{op.name}: a tile of {tile[slot]} along {LOOPS[slot]}; 1 to {whole[slot]} are possible")
    left = list(tile)
    taken: dict[tuple[int, int], int] = {}
    for number, place, part in reversed(_parts_by_slot(op)):
        extent = min(left[part.slot], part.extent)
        if left[part.slot] % extent:
            raise IllegalTile(
                f"{op.name}: a tile of {tile[part.slot]} along {LOOPS[part.slot]}, which runs over several dimensions:"
                f" at most the minor one's {part.extent}, or a multiple of it, is possible"
            )
        left[part.slot] //= extent
        taken[number, place] = extent
    return tuple(_run(op, number, loop, taken) for number, loop in enumerate(op.loops))


def _parts_by_slot(op: MatrixOp):
    """(loop, place in it, part) in the order of the nest, in which the parts of a canonical loop are major first."""
    return [(number, place, part) for number, loop in enumerate(op.loops) for place, part in enumerate(loop.parts)]


def _run(op: MatrixOp, number: int, loop: Loop, taken: dict[tuple[int, int], int]) -> int:
    """The tile's extent along a merged loop: positions that lie one after the other."""
    cut = False
    for place, part in enumerate(loop.parts):
        extent = taken[number, place]
        if cut and extent < part.extent:
            names = " x ".join(LOOPS[one.slot] for one in loop.parts)
            raise IllegalTile(
                f"{op.name}: IREE runs over {names} as one loop, so a tile with more than one step of a major loop has"
                f" the whole of {LOOPS[part.slot]} ({part.extent})"
            )
        cut = cut or extent > 1
    return prod(taken[number, place] for place in range(len(loop.parts)))


def canonical_extents(op: MatrixOp) -> list[int]:
    """Extents of the eight canonical loops."""
    whole = [1] * 8
    for _, _, part in _parts_by_slot(op):
        whole[part.slot] *= part.extent
    return whole


def vector_tile(op: MatrixOp, tiles: Sequence[int]) -> tuple[int, ...]:
    """`vector_common_parallel`, one number a loop, 0 for contracted ones; `tiles`: the tile's extents.

    - Rows: the parallel loop next to the output's most minor one (a convolution with a window: its out_w) gets the
      largest divisor of its tile up to MOST_ROWS.
    - Lanes: the output's most minor loop gets the largest power of two from 16 that divides its tile and leaves the
      vector tile at most ACCUMULATORS registers; where 16 doesn't divide it, the largest divisor up to 16.
    - All others get 1.

    Divisors, since IREE masks what is left of a vector tile, which was measured 30 times slower. Powers of two, since
    LLVM makes poor code of other vectors of several registers: 48 lanes ran 1.5 to 12 times slower than 16 or 32.
    """
    sizes = [0 if loop.contracted else 1 for loop in op.loops]
    parallel = [one.loop for one in reversed(op.output) if op.loops[one.loop].extent > 1]
    if not parallel:
        return tuple(sizes)
    row = _row_loop(op, parallel)
    if row is not None:
        sizes[row] = largest_divisor(tiles[row], MOST_ROWS)
    sizes[parallel[0]] = vector_lanes(tiles[parallel[0]], sizes[row] if row is not None else 1)
    return tuple(sizes)


def _row_loop(op: MatrixOp, parallel: list[int]) -> int | None:
    if has_window(op):
        return next((loop for loop in parallel[1:] if op.loops[loop].parts[0].slot == OUT_W), None)
    return parallel[1] if len(parallel) > 1 else None


def has_window(op: MatrixOp) -> bool:
    """Whether a dimension of the input is walked by an output and a window loop."""
    return any(dimension.tap >= 0 for dimension in op.left)


def is_plain_convolution(op: MatrixOp) -> bool:
    """Whether IREE has a strategy for it: a window, and channels most minor in all three arrays."""
    return has_window(op) and _slots(op) in PLAIN_CONVOLUTIONS


def _slots(op: MatrixOp) -> tuple[tuple[int, ...], ...]:
    """The canonical loop along each dimension of left, right and output."""
    return tuple(tuple(op.loops[one.loop].parts[0].slot for one in array) for array in (op.left, op.right, op.output))


def check_tile(op: MatrixOp, tiles: Sequence[int]) -> None:
    """Raise IllegalTile where IREE would refuse the extents of a tile along the loops, or lose their meaning."""
    if has_window(op):
        if _slots(op)[1] == DEPTHWISE_GRADIENT:
            raise IllegalTile(
                f"{op.name}: the gradient of depthwise weights; IREE makes a three-dimensional depthwise convolution of"
                " it and loses its tile"
            )
        single = [LOOPS[loop.parts[0].slot] for loop in op.loops if loop.extent == 1]
        if single:
            raise IllegalTile(
                f"{op.name}: a convolution with a window and a loop of one step ({', '.join(single)}); IREE folds such"
                " a loop and loses the tile; where it is the batch, give the workload a batch of 2 or more"
            )
        for loop, extent in zip(op.loops, tiles, strict=True):
            if loop.parts[0].slot == KERNEL_H and extent > 1:
                raise IllegalTile(f"{op.name}: a tile of {extent} along kernel_h; IREE's convolutions take one line")
    points = prod(max(vector, 1) for vector in vector_tile(op, tiles))
    points *= prod(extent for loop, extent in zip(op.loops, tiles, strict=True) if loop.contracted)
    if 4 * points >= LARGEST_VECTOR_BYTES:
        raise IllegalTile(
            f"{op.name}: a vector tile of {points} points takes {4 * points} bytes, and IREE takes less than"
            f" {LARGEST_VECTOR_BYTES}; choose a smaller tile along contracted loops"
        )


def module_text(op: MatrixOp, tiles: Sequence[int] | None) -> str:
    """MLIR of a merged op; `tiles`: extents along its loops."""
    left, right, output = (_tensor(array) for array in (op.left, op.right, op.output))
    names = ", ".join(f"d{number}" for number in range(len(op.loops)))
    maps = ", ".join(f"affine_map<({names}) -> ({_walk(array)})>" for array in (op.left, op.right, op.output))
    kinds = ", ".join('"reduction"' if loop.contracted else '"parallel"' for loop in op.loops)
    return f"""func.func @main(%left: {left}, %right: {right}) -> {output} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {output}
  %start = linalg.fill ins(%zero : f32) outs(%empty : {output}) -> {output}
  %result = linalg.generic {{
    indexing_maps = [{maps}],
    iterator_types = [{kinds}]
  }} ins(%left, %right : {left}, {right}) outs(%start : {output}) attrs = {{{_attributes(op, tiles)}}} {{
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  }} -> {output}
  return %result : {output}
}}
"""


def _attributes(op: MatrixOp, tiles: Sequence[int] | None) -> str:
    if tiles is None:
        return ""
    check_tile(op, tiles)
    pairs = list(zip(op.loops, tiles, strict=True))
    distribution = [0 if loop.contracted else extent for loop, extent in pairs]
    reduction = [extent if loop.contracted else 0 for loop, extent in pairs]
    pipeline = "ConvTileAndDecomposeExpert" if is_plain_convolution(op) else "DoubleTilingExpert"
    return (
        "compilation_info = #iree_codegen.compilation_info<"
        f"lowering_config = #iree_cpu.lowering_config<distribution = {distribution},"
        f" vector_common_parallel = {list(vector_tile(op, tiles))}, vector_reduction = {reduction}>,"
        f" translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<{pipeline}>>>"
    )


def _tensor(array: Sequence[Dimension]) -> str:
    return f"tensor<{''.join(f'{dimension.extent}x' for dimension in array)}f32>"


def _walk(array: Sequence[Dimension]) -> str:
    terms = []
    for dimension in array:
        steps = [(dimension.loop, dimension.stride), (dimension.tap, dimension.dilation)]
        terms.append(" + ".join(f"d{loop}" + (f" * {by}" if by > 1 else "") for loop, by in steps if loop >= 0))
    return ", ".join(terms)
