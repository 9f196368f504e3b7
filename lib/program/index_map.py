"""Index maps: along which loops of a kernel the dimensions of an array extend.

The map of an array has one entry a dimension, a tuple of terms from major to minor. No term: the kernel touches a
single position of the dimension. One term: the dimension is walked by a loop, or by an output loop and a window loop
together. Two terms: the dimension is walked by two loops as if it were reshaped to (major, minor), as the features of
a grouped convolution are by group and channel.

The offsets of slices, pads and reversals are left out: a map says how far a tile reaches, not where it starts.
"""

from typing import NamedTuple

from lib.program.program import Instruction


class NotRepresentable(Exception):
    """The access has no index map in the kernel's loops."""


class Term(NamedTuple):
    """`loop * stride + window * window_stride`; -1 where there is no such loop."""

    loop: int
    stride: int = 1
    window: int = -1
    window_stride: int = 0


IndexMap = tuple[tuple[Term, ...], ...]


def whole(loops: list[int]) -> tuple[Term, ...]:
    """The terms of a dimension walked element by element by `loops`, major first."""
    return tuple(Term(loop) for loop in loops)


def trimmed(instruction: Instruction, entries: list[tuple[Term, ...]]) -> IndexMap:
    """The map of an array with no terms where the extent is 1."""
    return tuple(entry if extent > 1 else () for extent, entry in zip(instruction.dimensions, entries, strict=True))


def through_free(reader: Instruction, operand: Instruction, reader_map: IndexMap) -> IndexMap:
    """The operand's map from that of a broadcast, or of a reshape or bitcast that only adds or drops extents of 1."""
    if reader.opcode == "broadcast":
        return trimmed(operand, [reader_map[axis] for axis in reader.axes])
    kept = iter([entry for extent, entry in zip(reader.dimensions, reader_map, strict=True) if extent > 1])
    return tuple(next(kept) if extent > 1 else () for extent in operand.dimensions)


def through_op(reader: Instruction, operand: Instruction, reader_map: IndexMap) -> IndexMap:
    """The operand's map from that of an elementwise or movement instruction.

    Pads: the operand is taken to be touched wherever the result is, interior padding included. Concatenation: each
    operand is taken to be touched along the whole result. The operand's own size caps both.
    Raises NotRepresentable for a slice of a dimension that two loops walk.
    """
    if not operand.dimensions:
        return ()
    if reader.opcode == "transpose":
        entries: list[tuple[Term, ...]] = [()] * len(operand.dimensions)
        for position, axis in enumerate(reader.axes):
            entries[axis] = reader_map[position]
        return trimmed(operand, entries)
    if reader.opcode == "slice":
        return trimmed(
            operand,
            [
                _sliced(entry, stride, extent != result)
                for entry, stride, extent, result in zip(
                    reader_map, reader.slice_stride, operand.dimensions, reader.dimensions, strict=True
                )
            ],
        )
    return trimmed(operand, list(reader_map))


def _sliced(entry: tuple[Term, ...], stride: int, cut: bool) -> tuple[Term, ...]:
    if not cut or not entry:
        return entry
    if len(entry) > 1:
        raise NotRepresentable("a slice of a dimension that two loops walk")
    term = entry[0]
    return (Term(term.loop, term.stride * stride, term.window, term.window_stride * stride),)
