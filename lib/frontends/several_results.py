"""Ops of several results (sort with keys and values, reductions that keep an index): one instruction makes the first
result, and each other one is an `other-result` that reads it.

So the work is done once; what a second result costs on top is a pass that writes it.
"""

from collections.abc import Sequence

from lib.program.program import Instruction

ADDED = "other-result"


def with_sole_results(instructions: Sequence[Instruction], ends: Sequence[int]) -> list[Instruction]:
    """The instructions, an `other-result` replaced by the op itself where no earlier result of it is needed.

    `ends`: indices of what must be kept. What an argmax needs is the index alone: it is a single reduction then.
    """
    needed = _needed(instructions, ends)
    first: dict[int, int] = {}
    rewritten = list(instructions)
    for index, one in enumerate(instructions):
        if one.opcode != ADDED or not needed[index]:
            continue
        (whole,) = one.operands
        first.setdefault(whole, whole if _read_otherwise(instructions, needed, ends, whole) else index)
        if first[whole] == index:
            rewritten[index] = instructions[whole].replace(name=one.name, dtype=one.dtype)
        else:
            rewritten[index] = one.replace(operands=(first[whole],))
    return rewritten


def _needed(instructions: Sequence[Instruction], ends: Sequence[int]) -> list[bool]:
    needed = [False] * len(instructions)
    waiting = list(ends)
    while waiting:
        index = waiting.pop()
        if not needed[index]:
            needed[index] = True
            waiting.extend(instructions[index].operands)
    return needed


def _read_otherwise(
    instructions: Sequence[Instruction], needed: Sequence[bool], ends: Sequence[int], whole: int
) -> bool:
    """Whether the first result itself is needed."""
    return whole in ends or any(
        needed[index] and one.opcode != ADDED and whole in one.operands for index, one in enumerate(instructions)
    )
