"""Tile bounds of TpuGraphs' configurations as tiles of a kernel's canonical loops.

Read off the data, so a hypothesis: bounds run from the most major dimension of an array's layout to the most minor
one; the two most minor ones count blocks of 8 x 128 elements, whatever the type. Output bounds belong to the result of
a convolution or window, to what a reduction reads, else to the kernel's result. Kernel bounds of a convolution are
window height, window width, input channels (blocks of 8), output channels (blocks of 128). Input bounds are unused.
"""

from collections.abc import Sequence

import numpy as np

from lib.program.canonical_loops import LARGEST_RANK
from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, OUT_H, OUT_W, Kernels
from lib.program.op_kinds import op_kind_table
from lib.program.program import Instruction, Program
from lib.targets.tpugraphs_columns import INPUT_BOUNDS, KERNEL_BOUNDS, LONGEST_LIST, OUTPUT_BOUNDS
from lib.targets.tpugraphs_instructions import NotRepresentable

SUBLANES, LANES = 8, 128
"""Elements of a block along the second and the most minor dimension."""
WINDOWED = ("reduce-window", "select-and-scatter")
ONE_DIMENSION = "bounds of an array with fewer than two dimensions are not understood"


def tiles_of_configurations(program: Program, kernels: Kernels, configurations: np.ndarray) -> np.ndarray:
    """int32[c, 8] tiles of the one kernel of `program` (the first of `kernels`) for float[c, 24] configurations.

    Raises NotRepresentable, naming the configuration where it is one row's fault.
    """
    loops = kernels.loops[0].astype(np.int64)
    opcode = op_kind_table()[kernels.op_kind[kernels.hero[0]]][0]
    matches = [one for one in program.instructions if one.opcode == opcode]
    hero = matches[-1] if opcode in ("convolution", "reduce", *WINDOWED) else program.instructions[-1]
    bounds = np.asarray(configurations, dtype=np.int64)
    output, window, given = (
        bounds[:, first : first + LONGEST_LIST] for first in (OUTPUT_BOUNDS, KERNEL_BOUNDS, INPUT_BOUNDS)
    )
    if given.any():
        raise NotRepresentable("input bounds are set; what they mean is not known")
    array, slots = _bounded_array(program, hero, int(np.count_nonzero(output, axis=1).max()))
    _check(loops, array, slots)
    tile = np.tile(loops, (len(bounds), 1))
    _apply(tile, loops, output, [slots[dimension] for dimension in _memory_order(array)], "output")
    if window.any():
        if hero.opcode != "convolution":
            raise NotRepresentable(f"kernel bounds are set for a kernel of {hero.opcode}")
        _apply(tile, loops, window, _window_order(program, hero, loops, window), "kernel")
    return tile.astype(np.int32)


def _bounded_array(program: Program, hero: Instruction, count: int) -> tuple[Instruction, list[int]]:
    """The array that `count` output bounds cut, and the loop that walks each of its dimensions (-1: extent 1)."""
    if hero.opcode == "convolution":
        return hero, _convolution_slots(hero)
    if hero.opcode in WINDOWED:
        return hero, _window_slots(hero)
    if hero.opcode == "reduce" and count != len(hero.dimensions):
        source = program.instructions[hero.operands[0]]
        parallel = [d for d in range(len(source.dimensions)) if d not in hero.axes]
        return source, _numbered(source, parallel + list(hero.axes))
    return hero, _numbered(hero, list(range(len(hero.dimensions))))


def _convolution_slots(hero: Instruction) -> list[int]:
    numbers = hero.convolution
    assert numbers is not None
    groups = numbers.feature_groups * numbers.batch_groups
    features = hero.dimensions[numbers.output_feature]
    if groups not in (1, features):
        raise NotRepresentable(f"{groups} groups for {features} output features: two loops walk a bounded dimension")
    slots = [-1] * len(hero.dimensions)
    slots[numbers.output_batch] = BATCH
    slots[numbers.output_feature] = GROUP if groups > 1 else OUT_C
    first = 2 - len(numbers.output_spatial)
    for position, dimension in enumerate(numbers.output_spatial):
        slots[dimension] = (OUT_H, OUT_W)[first + position]
    return _without_units(hero, slots)


def _window_slots(hero: Instruction) -> list[int]:
    window = hero.window
    assert window is not None
    windowed = [
        d
        for d, extent in enumerate(hero.dimensions)
        if window.size[d] > 1 or (extent > 1 and max(window.stride[d], window.base_dilation[d]) > 1)
    ]
    others = [d for d in range(len(hero.dimensions)) if d not in windowed]
    slots = [BATCH] * len(hero.dimensions)
    for position, dimension in enumerate(windowed):
        slots[dimension] = (OUT_H, OUT_W)[2 - len(windowed) + position]
    if others:
        slots[others[-1]] = OUT_C
    return _without_units(hero, slots)


def _numbered(array: Instruction, order: list[int]) -> list[int]:
    walked = [dimension for dimension in order if array.dimensions[dimension] > 1]
    if len(walked) > LARGEST_RANK:
        raise NotRepresentable(f"{len(walked)} dimensions above 1; kernels have at most {LARGEST_RANK}")
    return [walked.index(d) if d in walked else -1 for d in range(len(array.dimensions))]


def _without_units(array: Instruction, slots: list[int]) -> list[int]:
    return [slot if extent > 1 else -1 for slot, extent in zip(slots, array.dimensions, strict=True)]


def _check(loops: np.ndarray, array: Instruction, slots: list[int]) -> None:
    used = [slot for slot in slots if slot >= 0]
    if len(array.dimensions) < 2:
        raise NotRepresentable(ONE_DIMENSION)
    alike = all(loops[slot] == extent for slot, extent in zip(slots, array.dimensions, strict=True) if slot >= 0)
    if not alike or len(set(used)) != len(used):
        raise NotRepresentable(
            f"the kernel's loops {loops.tolist()} do not walk {array.opcode} {list(array.dimensions)} one by one"
        )


def _memory_order(array: Instruction) -> list[int]:
    return list(reversed(array.layout))


def _blocks(count: int) -> list[int]:
    """Elements that a bound of each of `count` dimensions counts, the most major one first."""
    return [1] * (count - 2) + [SUBLANES, LANES]


def _exceeds(bounds: np.ndarray, loops: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """bool[c]: whether a bound reaches beyond the loop that it cuts; `order`: loops by position, -1 for extent 1."""
    extent = np.array([loops[slot] if slot >= 0 else 1 for slot in order])
    return (bounds[:, : len(order)] > -(-extent // np.array(_blocks(len(order))))).any(axis=1)


def _apply(tile: np.ndarray, loops: np.ndarray, bounds: np.ndarray, order: Sequence[int], what: str) -> None:
    """Cut the loops in `order` (that of the bounds; -1: extent 1) to `bounds`; rows without bounds stay whole."""
    given = bounds.any(axis=1)
    count = np.count_nonzero(bounds, axis=1)
    wrong = given & ((count != len(order)) | (bounds < 0).any(axis=1) | _exceeds(bounds, loops, order))
    if wrong.any():
        row = int(wrong.argmax())
        extents = [int(loops[slot]) if slot >= 0 else 1 for slot in order]
        raise NotRepresentable(
            f"configuration {row}: {what} bounds {bounds[row].tolist()} do not fit dimensions {extents}, the last two "
            f"in blocks of {SUBLANES} x {LANES}"
        )
    for position, (slot, block) in enumerate(zip(order, _blocks(len(order)), strict=True)):
        if slot >= 0:
            extent = np.minimum(bounds[:, position] * block, tile[:, slot])
            tile[:, slot] = np.where(given, extent, tile[:, slot])


def _window_order(program: Program, hero: Instruction, loops: np.ndarray, bounds: np.ndarray) -> list[int]:
    """Loops that kernel bounds cut: window, input channels, output channels; in the order of the weights' layout where
    the bounds fit only that."""
    numbers = hero.convolution
    assert numbers is not None
    spatial = len(numbers.kernel_spatial)
    order = [KERNEL_H, KERNEL_W, IN_C, OUT_C][2 - spatial :]
    of_dimension = dict(zip((*numbers.kernel_spatial, numbers.kernel_input_feature), order, strict=False))
    of_dimension[numbers.kernel_output_feature] = OUT_C
    weights = program.instructions[hero.operands[1]]
    by_layout = [of_dimension[dimension] for dimension in _memory_order(weights)]
    fits_layout_alone = _exceeds(bounds, loops, order).any() and not _exceeds(bounds, loops, by_layout).any()
    return by_layout if fits_layout_alone else order


__all__ = ["tiles_of_configurations"]
