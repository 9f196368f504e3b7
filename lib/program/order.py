"""Depth-first order of a program's instructions; what neither an output nor a loop's next step needs is left out."""

from collections.abc import Sequence

from lib.program.program import Instruction, Program


def depth_first(program: Program, *, largest_last: bool) -> Program:
    """The program in post-order from its outputs and what its loops carry on; dead instructions are dropped.

    With `largest_last` the operands of an instruction are visited from the smallest to the largest (ties: in their
    own order), so that an instruction follows the producer of its largest operand whenever it can.
    """
    order = post_order(program.instructions, (*program.outputs, *program.carried), largest_last)
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
    carried = tuple(place[value] for value in program.carried)
    return program.replace(instructions=instructions, outputs=outputs, carried=carried, slopes=slopes)


def users(instructions: Sequence[Instruction]) -> list[list[int]]:
    """For each instruction the indices of those that read it, ascending, each once."""
    readers: list[list[int]] = [[] for _ in instructions]
    for index, instruction in enumerate(instructions):
        for operand in sorted(set(instruction.operands)):
            readers[operand].append(index)
    return readers


def post_order(instructions: Sequence[Instruction], ends: Sequence[int], largest_last: bool = False) -> list[int]:
    """Indices of the instructions that `ends` need, operands before their readers. See :func:`depth_first`."""
    order: list[int] = []
    done = [False] * len(instructions)
    for output in ends:
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
