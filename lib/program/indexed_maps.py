"""Index maps of what gathers and scatters read and write.

A table is touched in as many rows as there are indices, and in all of a slice: along its first indexed dimension the
loops of the indices walk, whichever rows those are, capped by the table's own size. A position that several indices
name counts each time.
"""

from lib.program.index_map import IndexMap, Term, trimmed
from lib.program.program import Indexing, Instruction

Entry = tuple[Term, ...]
TABLE, INDICES, UPDATES = range(3)
"""Operands of a scatter; the first two are a gather's."""


def table_map(numbers: Indexing, table: Instruction, sliced: Instruction, sliced_map: IndexMap) -> IndexMap:
    """The table's map from that of the array with slices: a gather's result, a scatter's updates."""
    entries: list[Entry] = [()] * len(table.dimensions)
    within = [d for d in range(len(entries)) if d not in (*numbers.collapsed, *numbers.table_batch)]
    for dimension, slice_dimension in zip(within, numbers.window, strict=True):
        entries[dimension] = sliced_map[slice_dimension]
    together = dict(zip(numbers.indices_batch, numbers.table_batch, strict=True))
    looked_up: Entry = ()
    for dimension, place in _index_dimensions(numbers, sliced):
        if dimension in together:
            entries[together[dimension]] = sliced_map[place]
        else:
            looked_up += sliced_map[place]
    if numbers.indexed:
        entries[numbers.indexed[0]] = looked_up + entries[numbers.indexed[0]]
    return trimmed(table, entries)


def indices_map(numbers: Indexing, indices: Instruction, sliced: Instruction, sliced_map: IndexMap) -> IndexMap:
    """The map of the indices; the numbers that make up one position count as one element."""
    entries: list[Entry] = [()] * len(indices.dimensions)
    for dimension, place in _index_dimensions(numbers, sliced):
        entries[dimension] = sliced_map[place]
    return trimmed(indices, entries)


def numbers_a_position(numbers: Indexing, indices: Instruction) -> int:
    """Integers that make up one position."""
    return indices.dimensions[numbers.vector[0]] if numbers.vector else 1


def _index_dimensions(numbers: Indexing, sliced: Instruction) -> list[tuple[int, int]]:
    """(dimension of the indices, dimension of the array with slices) that stand for each other."""
    places = [place for place in range(len(sliced.dimensions)) if place not in numbers.window]
    dimensions = [d for d in range(len(places) + len(numbers.vector)) if d not in numbers.vector]
    return list(zip(dimensions, places, strict=True))
