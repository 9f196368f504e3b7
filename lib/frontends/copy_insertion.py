"""Copies that a program needs because arrays are overwritten, as XLA's CopyInsertion adds them.

A loop keeps its state in one buffer, so that the new state is copied over the old one in every step. No copy is needed
where the new state is made in place: by element-by-element ops or by updates of a part (dynamic-update-slice, scatter)
on the old one, which nothing reads afterwards. Such an update writes into the array that it gets; where that is still
needed, or is no array in memory (a broadcast zero), it is copied (filled) first.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lib.program.executions import runs_of
from lib.program.op_kinds import ELEMENTWISE_CLASSES, op_classes_by_opcode
from lib.program.order import post_order
from lib.program.program import Instruction

IN_PLACE = ("dynamic-update-slice", "scatter")
"""Opcodes that write a part of their first operand."""
SAME_ARRAY = ("reshape", "bitcast")
"""Opcodes whose result is their operand's array."""
INNER_LOOP = ("loop-state", "loop-result")
"""Opcodes through which a loop within the loop gets state and gives it back."""
NO_BUFFER = ("parameter", "constant", "broadcast", "iota")
"""Opcodes whose result may not be overwritten, or lies nowhere."""


class Loop(NamedTuple):
    """One array of a loop's state, by index of instruction."""

    state: int
    """The `loop-state` that a step reads."""
    following: int
    """What the next step reads."""


def carried_values(instructions: Sequence[Instruction], outputs: Sequence[int], loops: Iterable[Loop]) -> list[int]:
    """What next steps read, of all state that the outputs depend on."""
    following = {loop.state: loop.following for loop in loops}
    needed = [False] * len(instructions)
    carried: dict[int, None] = {}
    waiting = list(outputs)
    while waiting:
        index = waiting.pop()
        if needed[index]:
            continue
        needed[index] = True
        waiting.extend(instructions[index].operands)
        if index in following:
            carried[following[index]] = None
            waiting.append(following[index])
    return list(carried)


def with_copies(instructions: Sequence[Instruction], kept: Sequence[int], loops: Iterable[Loop]) -> list[Instruction]:
    """The instructions with every `inserted-copy` that is needed, the copies at the end.

    `kept`: indices of the outputs and of the carried values. What they don't need may be wrong afterwards.
    """
    graph = _Graph(instructions, kept)
    for loop in loops:
        if graph.readers[loop.state] and not graph.made_in_place(loop):
            graph.copy(loop.state, graph.readers[loop.state])
    for index in list(graph.order):
        if instructions[index].opcode in IN_PLACE and not graph.may_overwrite(index):
            graph.copy(graph.instructions[index].operands[0], [index])
    return graph.instructions


class _Graph:
    """The instructions, who reads each (only what is needed), and how often each runs."""

    def __init__(self, instructions: Sequence[Instruction], kept: Sequence[int]):
        self.instructions = list(instructions)
        self.kept = frozenset(kept)
        self.order = post_order(instructions, kept)
        self.needed = [False] * len(instructions)
        self.readers: list[list[int]] = [[] for _ in instructions]
        self.runs = [1] * len(instructions)
        for index in self.order:
            self.needed[index] = True
            self.runs[index] = runs_of(instructions[index], self.runs)
            for operand in dict.fromkeys(instructions[index].operands):
                self.readers[operand].append(index)

    def copy(self, index: int, readers: Sequence[int]) -> None:
        """Let `readers` read a copy of the instruction, made as often as they run."""
        one, place = self.instructions[index], len(self.instructions)
        runs = max(self.runs[reader] for reader in readers)
        self.instructions.append(
            Instruction(
                f"{one.name}.copy", "inserted-copy", one.dtype, one.dimensions, one.layout, (index,), executions=runs
            )
        )
        for reader in readers:
            operands = tuple(place if operand == index else operand for operand in self.instructions[reader].operands)
            self.instructions[reader] = self.instructions[reader].replace(operands=operands)

    def made_in_place(self, loop: Loop) -> bool:
        """Whether the new state can take the place of the old one while it is made."""
        on_the_way = {loop.following}
        waiting = [loop.following]
        while waiting:
            one = self.instructions[waiting.pop()]
            if one.opcode in (*IN_PLACE, *SAME_ARRAY, *INNER_LOOP):
                sources = one.operands[:1]
            elif op_classes_by_opcode().get(one.opcode) in ELEMENTWISE_CLASSES:
                sources = tuple(o for o in one.operands if self.instructions[o].elements == one.elements)
            else:
                sources = ()
            waiting.extend(source for source in sources if source not in on_the_way)
            on_the_way.update(sources)
        if loop.state not in on_the_way:
            return False
        later = self._dependents(loop.following)
        return not any(reader in later for reader in self.readers[loop.state] if reader not in on_the_way)

    def may_overwrite(self, index: int) -> bool:
        """Whether an op may write into its first operand: an array of its own run that nothing reads afterwards."""
        later = self._dependents(index)
        current = index
        while True:
            reader, current = current, self.instructions[current].operands[0]
            one = self.instructions[current]
            if one.opcode in NO_BUFFER or current in self.kept or self.runs[current] != self.runs[index]:
                return False
            if any(other in later for other in self.readers[current] if other not in (reader, index)):
                return False
            if one.opcode not in SAME_ARRAY:
                return True

    def _dependents(self, index: int) -> set[int]:
        """What needs the instruction, directly or not."""
        found: set[int] = set()
        waiting = [index]
        while waiting:
            for reader in self.readers[waiting.pop()]:
                if reader not in found:
                    found.add(reader)
                    waiting.append(reader)
        return found
