"""Recognises the error function, which TensorFlow's XLA bridge writes out as some fifty ops on two polynomials.

A compiler with an instruction sequence of its own for it (XLA for TPU has the op `erf`) would not run those. All
instructions that one TensorFlow op `Erf` or `Erfc` became carry its name in their metadata.
"""

from collections.abc import Collection, Mapping, Sequence

from lib.program.program import Instruction

ERROR_FUNCTIONS = ("Erf", "Erfc")
"""Types of TensorFlow ops: the error function and one minus it."""
FILLS = ("constant", "broadcast")


def with_error_functions(
    instructions: Sequence[Instruction], outputs: Sequence[int], groups: Mapping[tuple[str, str], Collection[int]]
) -> list[Instruction]:
    """The instructions, each group of one input and one result replaced by `erf`, or by 1 - erf.

    `groups` holds the indices of the instructions that came from one TensorFlow op, by (type, name) of the op. Added
    instructions stand at the end, so the result is not in topological order; replaced ones stay, unread.
    """
    rewritten = list(instructions)
    for (kind, _), members in groups.items():
        body = {index for index in members if instructions[index].opcode not in FILLS}
        inputs = {
            operand
            for index in body
            for operand in instructions[index].operands
            if operand not in body and not _is_filled(instructions, operand)
        }
        read = {operand for index, one in enumerate(instructions) if index not in members for operand in one.operands}
        results = body & (read | set(outputs))
        if len(inputs) != 1 or len(results) != 1:
            continue
        argument, result = inputs.pop(), results.pop()
        like = instructions[result]
        if instructions[argument].dimensions != like.dimensions:
            continue
        erf = Instruction(like.name, "erf", like.dtype, like.dimensions, like.layout, (argument,))
        if kind == "Erf":
            rewritten[result] = erf
            continue
        first = len(rewritten)
        rewritten += [
            Instruction(like.name, "constant", like.dtype, (), (), value=(1.0,)),
            Instruction(like.name, "broadcast", like.dtype, like.dimensions, like.layout, (first,)),
            erf,
        ]
        rewritten[result] = erf.replace(opcode="subtract", operands=(first + 1, first + 2))
    return rewritten


def _is_filled(instructions: Sequence[Instruction], index: int) -> bool:
    instruction = instructions[index]
    while instruction.opcode == "broadcast":
        instruction = instructions[instruction.operands[0]]
    return instruction.opcode == "constant"
