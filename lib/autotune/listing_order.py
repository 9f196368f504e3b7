"""In which order a program's kernels are listed, and which instructions stand in which."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

import numpy as np

from lib.program.program import Program


def listing_order(program: Program, groups: np.ndarray) -> Iterator[tuple[int, list[int]]]:
    """(root, instructions) of each kernel, and of each instruction that stands alone as its own root; every operand
    comes before what reads it.

    `groups`: int32[n] the root instruction of each instruction's kernel; -1: no kernel computes it. Such an instruction
    belongs to a kernel if it leads from its instructions back to its instructions.
    """
    place = _with_what_lies_between(program, groups)
    members: dict[int, list[int]] = {}
    for index, root in enumerate(place):
        members.setdefault(root, []).append(index)
    waits: dict[int, set[int]] = {root: set() for root in members}
    readers: dict[int, set[int]] = {root: set() for root in members}
    for index, root in enumerate(place):
        for operand in program.instructions[index].operands:
            if place[operand] != root:
                waits[root].add(place[operand])
                readers[place[operand]].add(root)
    ready = [root for root, before in waits.items() if not before]
    heapify(ready)
    while ready:
        root = heappop(ready)
        yield root, members[root]
        for reader in readers[root]:
            waits[reader].discard(root)
            if not waits[reader]:
                heappush(ready, reader)


def _with_what_lies_between(program: Program, groups: np.ndarray) -> list[int]:
    """The root of the kernel, or the instruction itself, under which each instruction is listed."""
    place = [int(root) if root >= 0 else index for index, root in enumerate(groups)]
    above: list[frozenset[int]] = []
    for index, instruction in enumerate(program.instructions):
        if groups[index] >= 0:
            above.append(frozenset((place[index],)))
        else:
            above.append(frozenset().union(*(above[operand] for operand in instruction.operands)))
    below: list[set[int]] = [set() for _ in program.instructions]
    for index in reversed(range(len(place))):
        reads = {place[index]} if groups[index] >= 0 else below[index]
        for operand in program.instructions[index].operands:
            below[operand] |= reads
    for index, root in enumerate(groups):
        if root < 0 and (both := above[index] & below[index]):
            place[index] = min(both)
    return place
