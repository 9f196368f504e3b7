"""How often each instruction of a program runs."""

from collections.abc import Sequence

from lib.program.program import LOOP_OPCODES, Instruction


def executions(instructions: Sequence[Instruction]) -> list[int]:
    """Runs of each instruction in one run of the program: those of the innermost loop that it depends on.

    What a loop's body computes from nothing that changes in the loop runs once, before the loop (XLA's loop-invariant
    code motion).
    """
    runs: list[int] = []
    for instruction in instructions:
        runs.append(runs_of(instruction, runs))
    return runs


def runs_of(instruction: Instruction, runs: Sequence[int]) -> int:
    """Of one instruction, from those of its operands."""
    if instruction.opcode in LOOP_OPCODES:
        return instruction.executions
    return max((runs[operand] for operand in instruction.operands), default=1)
