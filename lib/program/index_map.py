"""Index maps: along which loops of a kernel the dimensions of an array extend.

The map of an array has one entry a dimension, a tuple of terms from major to minor. No term: the kernel touches a
single position of the dimension. One term: the dimension is walked by a loop, or by an output loop and a window loop
together. Several terms: the dimension is walked by several loops as if it were reshaped to (major, ..., minor), as the
features of a grouped convolution are by group and channel.

The offsets of slices, pads and reversals are left out: a map says how far a tile reaches, not where it starts.
"""

from math import prod
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


def through_free(reader: Instruction, operand: Instruction, reader_map: IndexMap, extent: list[int]) -> IndexMap:
    """The operand's map from that of a broadcast, reshape or bitcast; `extent` holds the loops' extents.

    Raises NotRepresentable for a reshape that would cut a loop, or that regroups a dimension not walked in full.
    """
    if reader.opcode == "broadcast":
        return trimmed(operand, [reader_map[axis] for axis in reader.axes])
    entries: list[tuple[Term, ...]] = [()] * len(operand.dimensions)
    for read, held in _reshape_groups(reader.dimensions, operand.dimensions):
        if len(read) == len(held) == 1:
            entries[held[0]] = reader_map[read[0]]
            continue
        terms = [term for d in read for term in _in_full(reader_map[d], reader.dimensions[d], extent)]
        for dimension in held:
            taken = 0
            covered = 1
            while covered < operand.dimensions[dimension]:
                covered *= extent[terms[taken].loop]
                taken += 1
            if covered != operand.dimensions[dimension]:
                raise NotRepresentable("a reshape that cuts a loop")
            entries[dimension], terms = tuple(terms[:taken]), terms[taken:]
    return tuple(entries)


def _reshape_groups(read: tuple[int, ...], held: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """The smallest runs of dimensions of the two shapes with equal numbers of elements; extents of 1 left out."""
    groups = []
    here = [d for d, extent in enumerate(read) if extent > 1]
    there = [d for d, extent in enumerate(held) if extent > 1]
    while here:
        left, right = [here.pop(0)], [there.pop(0)]
        size = read[left[0]], held[right[0]]
        while size[0] != size[1]:
            if size[0] < size[1]:
                left.append(here.pop(0))
                size = size[0] * read[left[-1]], size[1]
            else:
                right.append(there.pop(0))
                size = size[0], size[1] * held[right[-1]]
        groups.append((left, right))
    return groups


def _in_full(entry: tuple[Term, ...], dimension: int, extent: list[int]) -> tuple[Term, ...]:
    if any(term != Term(term.loop) for term in entry) or prod(extent[term.loop] for term in entry) != dimension:
        raise NotRepresentable("a reshape of a dimension that is not walked in full, one by one")
    return entry


def through_op(reader: Instruction, operand: Instruction, reader_map: IndexMap) -> IndexMap:
    """The operand's map from that of an elementwise or movement instruction.

    Pads: the operand is taken to be touched wherever the result is, interior padding included. Concatenation: each
    operand is taken to be touched along the whole result. The operand's own size caps both.
    Raises NotRepresentable for a slice of a dimension that several loops walk.
    """
    if not operand.dimensions:
        return ()
    if reader.opcode in ("dynamic-slice", "dynamic-update-slice") and len(operand.dimensions) != len(reader_map):
        return ((),) * len(operand.dimensions)  # where the slice begins
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
        raise NotRepresentable("a slice of a dimension that several loops walk")
    term = entry[0]
    return (Term(term.loop, term.stride * stride, term.window, term.window_stride * stride),)
