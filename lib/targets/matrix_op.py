"""One convolution or dot as a perfect nest of loops: what a compiler of loop nests, like IREE's, is told.

Loops are numbered parallel ones first, in the order of the output's dimensions from the most major one, then contracted
ones. Each belongs to one of the canonical loops of the op's kernel (`lib.program.kernels.LOOPS`), or after
:func:`lib.targets.loop_merging.merged` to several; a canonical loop that merges several dimensions of the op has
several parts, the major one first.
"""

from math import prod
from typing import NamedTuple

from lib.program.dataflow import describe
from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, OUT_C, OUT_H, OUT_W
from lib.program.program import Instruction, Program

MATRIX_OPCODES = ("convolution", "dot")


class UnsupportedMatrixOp(ValueError):
    """An instruction that is no matrix op, or one that is not written as a loop nest here."""


class Part(NamedTuple):
    """A dimension of the op that a loop runs over."""

    slot: int
    """Canonical loop: position in `lib.program.kernels.LOOPS`."""
    extent: int


class Loop(NamedTuple):
    """A loop of the nest."""

    parts: tuple[Part, ...]
    """Dimensions that it runs over as one, the major one first."""
    contracted: bool

    @property
    def extent(self) -> int:
        """Steps of the loop."""
        return prod(part.extent for part in self.parts)


class Dimension(NamedTuple):
    """A dimension of an array as the nest walks it: at `loop * stride + tap * dilation`."""

    extent: int
    """Elements in memory."""
    loop: int
    stride: int = 1
    tap: int = -1
    """The loop over the window; -1: none."""
    dilation: int = 1
    spread: int = 1
    """Distance of neighbours after zeros are inserted between them (base dilation)."""
    before: int = 0
    after: int = 0
    """Zeros in front and behind, after the insertion; negative: elements cut off."""

    @property
    def padded(self) -> int:
        """Elements with the zeros between and around."""
        return (self.extent - 1) * self.spread + 1 + self.before + self.after


class MatrixOp(NamedTuple):
    """`output[...] += left[...] * right[...]` over the loops; arrays' dimensions from the most major one in memory."""

    name: str
    """Of the program and its instruction, for messages."""
    loops: tuple[Loop, ...]
    left: tuple[Dimension, ...]
    right: tuple[Dimension, ...]
    output: tuple[Dimension, ...]

    @property
    def flops(self) -> int:
        """Two for each point of the nest."""
        return 2 * prod(loop.extent for loop in self.loops)


def matrix_op(program: Program, instruction: int) -> MatrixOp:
    """The loop nest of the convolution or dot at index `instruction`.

    Operands are read whole, as arrays of their own in their layout. Loops of one step are left out of dots; those of a
    convolution stay, since compilers know convolutions by their dimensions. Raises UnsupportedMatrixOp, naming program
    and instruction, for other opcodes, element types other than f32, and mirrored windows.
    """
    hero = program.instructions[instruction]
    operands = [program.instructions[operand] for operand in hero.operands]
    where = f"program '{program.name}': {describe(hero)}"
    if hero.opcode not in MATRIX_OPCODES:
        raise UnsupportedMatrixOp(f"{where}: it is no matrix op ({', '.join(MATRIX_OPCODES)})")
    for one in (hero, *operands):
        if one.dtype != "f32":
            raise UnsupportedMatrixOp(
                f"{where}: '{one.name}' is of type {one.dtype}; matrix ops are measured in f32; give the workload"
                " sizing: as-traced"
            )
    nest = _Nest()
    left, right = operands
    arrays = _dot(nest, hero, left, right) if hero.opcode == "dot" else _convolution(nest, hero, left, right, where)
    return MatrixOp(where, tuple(nest.loops), *arrays)


Arrays = tuple[tuple[Dimension, ...], tuple[Dimension, ...], tuple[Dimension, ...]]
Walked = dict[int, list[Dimension]]
"""Dimensions by the number of the instruction's dimension; several where it is split, none where it is of one step."""


class _Nest:
    """Numbers loops as they are made."""

    def __init__(self) -> None:
        self.loops: list[Loop] = []

    def add(self, slot: int, extent: int, contracted: bool = False) -> Dimension:
        """A new loop, and the dimension that it walks alone."""
        self.loops.append(Loop((Part(slot, extent),), contracted))
        return Dimension(extent, len(self.loops) - 1)


def _in_memory(array: Instruction, walked: Walked) -> tuple[Dimension, ...]:
    return tuple(one for dimension in reversed(array.layout) for one in walked[dimension])


def _dot(nest: _Nest, hero: Instruction, left: Instruction, right: Instruction) -> Arrays:
    numbers = hero.dot
    assert numbers is not None
    batches = len(numbers.left_batch)
    left_free = _others(left, numbers.left_contracting + numbers.left_batch)
    right_free = _others(right, numbers.right_contracting + numbers.right_batch)
    rows = {1: (BATCH,), 2: (BATCH, OUT_W)}.get(len(left_free), (BATCH,) * (len(left_free) - 2) + (OUT_H, OUT_W))
    slots = [GROUP] * batches + list(rows[: len(left_free)]) + [OUT_C] * len(right_free)
    out = _parallel_loops(nest, hero, slots)
    left_walked: Walked = {d: out[batches + place] for place, d in enumerate(left_free)}
    right_walked: Walked = {d: out[batches + len(left_free) + place] for place, d in enumerate(right_free)}
    for place in range(batches):
        left_walked[numbers.left_batch[place]] = right_walked[numbers.right_batch[place]] = out[place]
    for one, other in zip(numbers.left_contracting, numbers.right_contracting, strict=True):
        extent = left.dimensions[one]
        left_walked[one] = right_walked[other] = [nest.add(IN_C, extent, True)] if extent > 1 else []
    return _in_memory(left, left_walked), _in_memory(right, right_walked), _in_memory(hero, out)


def _parallel_loops(nest: _Nest, hero: Instruction, slots: list[int]) -> Walked:
    """A loop for each dimension of a dot's result that has more than one step."""
    out: Walked = {}
    for dimension in reversed(hero.layout):
        extent = hero.dimensions[dimension]
        out[dimension] = [nest.add(slots[dimension], extent)] if extent > 1 else []
    return out


def _others(array: Instruction, taken: tuple[int, ...]) -> list[int]:
    return [dimension for dimension in range(len(array.dimensions)) if dimension not in taken]


def _convolution(nest: _Nest, hero: Instruction, source: Instruction, weights: Instruction, where: str) -> Arrays:
    numbers, window = hero.convolution, hero.window
    assert numbers is not None
    assert window is not None
    if any(window.reversal):
        raise UnsupportedMatrixOp(f"{where}: its window is mirrored")
    spatial = len(numbers.output_spatial)
    if spatial > 2:
        raise UnsupportedMatrixOp(f"{where}: {spatial} spatial dimensions; at most 2 are written as loops")
    groups = numbers.feature_groups * numbers.batch_groups
    slot_of = {numbers.output_batch: BATCH, numbers.output_feature: OUT_C}
    slot_of |= {dimension: OUT_H + 2 - spatial + place for place, dimension in enumerate(numbers.output_spatial)}
    out: Walked = {}
    for dimension in reversed(hero.layout):
        extent = hero.dimensions[dimension]
        if dimension != numbers.output_feature or groups == 1:
            out[dimension] = [nest.add(slot_of[dimension], extent)]
        else:
            group = nest.add(GROUP, groups)
            out[dimension] = [group, nest.add(OUT_C, extent // groups)] if extent > groups else [group]
    channels = source.dimensions[numbers.input_feature] // numbers.feature_groups
    batch = out[numbers.output_batch][0]
    taps = [nest.add(KERNEL_H + 2 - spatial + place, size, True) for place, size in enumerate(window.size)]
    in_c = [nest.add(IN_C, channels, True)] if channels > 1 or groups == 1 else []
    read: Walked = {numbers.input_batch: [batch], numbers.input_feature: in_c}
    group = out[numbers.output_feature][0]
    if numbers.batch_groups > 1:
        read[numbers.input_batch] = [group, batch] if batch.extent > 1 else [group]
    elif groups > 1:
        read[numbers.input_feature] = [group, *in_c]
    for place, dimension in enumerate(numbers.input_spatial):
        read[dimension] = [
            Dimension(
                source.dimensions[dimension], out[numbers.output_spatial[place]][0].loop, window.stride[place],
                taps[place].loop, window.window_dilation[place], window.base_dilation[place],
                window.padding_low[place], window.padding_high[place],
            )
        ]  # fmt: skip
    weighed: Walked = {numbers.kernel_input_feature: in_c, numbers.kernel_output_feature: out[numbers.output_feature]}
    weighed |= {dimension: [taps[place]] for place, dimension in enumerate(numbers.kernel_spatial)}
    return _in_memory(source, read), _in_memory(weights, weighed), _in_memory(hero, out)
