"""Depth-first order of a program's instructions; what no output needs is left out."""

from collections.abc import Sequence

from lib.program.program import Instruction, Program


def depth_first(program: Program, *, largest_last: bool) -> Program:
    """The program in post-order from its outputs; dead instructions are dropped.

    With `largest_last` the operands of an instruction are visited from the smallest to the largest (ties: in their
    own order), so that an instruction follows the producer of its largest operand whenever it can.
    """
    order = _post_order(program.instructions, program.outputs, largest_last)
    place = {old: new for new, old in enumerate(order)}
    instructions = tuple(
        program.instructions[old].replace(operands=tuple(place[o] for o in program.instructions[old].operands))
        for old in order
    )
    slopes = program.slopes
    if slopes is not None:
        slopes = tuple(
            slopes[old].replace(operands=instruction.operands)
            for old, instruction in zip(order, instructions, strict=True)
        )
    outputs = tuple(place[output] for output in program.outputs)
    return program.replace(instructions=instructions, outputs=outputs, slopes=slopes)


def users(instructions: Sequence[Instruction]) -> list[list[int]]:
    """For each instruction the indices of those that read it, ascending, each once."""
    readers: list[list[int]] = [[] for _ in instructions]
    for index, instruction in enumerate(instructions):
        for operand in sorted(set(instruction.operands)):
            readers[operand].append(index)
    return readers


def _post_order(instructions: Sequence[Instruction], outputs: Sequence[int], largest_last: bool) -> list[int]:
    order: list[int] = []
    done = [False] * len(instructions)
    for output in outputs:
        stack = [(output, False)]
        while stack:
            index, operands_done = stack.pop()
            if done[index]:
                continue
            if operands_done:
                done[index] = True
                order.append(index)
                continue
            stack.append((index, True))
            operands = list(instructions[index].operands)
            if largest_last:
                operands.sort(key=lambda operand: instructions[operand].bytes)
            stack.extend((operand, False) for operand in reversed(operands) if not done[operand])
    return order
