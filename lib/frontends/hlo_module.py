"""An HLO module (protocol buffer) as a :class:`Program`."""

from collections.abc import Sequence
from typing import Any

from lib.frontends.copy_insertion import carried_values, with_copies
from lib.frontends.error_function import with_error_functions
from lib.frontends.hlo_reader import Reader
from lib.frontends.several_results import with_sole_results
from lib.frontends.unsupported import check_supported
from lib.program.order import depth_first
from lib.program.program import Instruction, Program

FORM_ONLY = ("reshape", "bitcast", "broadcast", "transpose", "convert", "copy")
"""Opcodes through which a weight may reach the op that reads it."""
RIGHT_HAND = {"convolution": 1, "dot": 1, "gather": 0}
"""Operand of an op that is a weight as a rule: a filter, a matrix, a table."""


def program_of(
    module: Any, workload: str, batch: int, *, inputs: int | None, scope: str = "", trip_count: int | None = None
) -> Program:
    """The entry computation of an `HloModuleProto`, flattened.

    The first `inputs` parameters have the role input and the others weight; None: what only feeds the right-hand
    side of a convolution or dot or is the table of a gather, or has rank <= 1, is a weight. Instructions are named by
    their metadata, path components that begin with `scope` left out. Random bits are an input: how they are made is
    not part of the program. `trip_count` is that of loops whose own can't be told. Raises FrontendError naming
    workload and instruction for whatever a program can't hold.
    """
    reader = Reader(module, workload, scope, trip_count)
    outputs = reader.entry()
    carried = carried_values(reader.instructions, outputs, reader.loops)
    kept = [*outputs, *carried]
    instructions = with_error_functions(reader.instructions, kept, reader.error_functions)
    instructions = with_sole_results(instructions, kept)
    instructions = with_copies(instructions, kept, reader.loops)
    program = Program(workload, batch, tuple(instructions), tuple(outputs), tuple(carried))
    program = depth_first(program, largest_last=False)
    check_supported(program, reader.refused)
    return program.replace(instructions=_named(_with_roles(program.instructions, inputs), inputs))


def _with_roles(instructions: Sequence[Instruction], inputs: int | None) -> list[Instruction]:
    if inputs is None:
        weights = _weights(instructions)
    else:
        weights = {i for i, one in enumerate(instructions) if _is_argument(one) and one.axes[0] >= inputs}
    return [
        one.replace(role="weight" if index in weights else "input") if _is_argument(one) else one
        for index, one in enumerate(instructions)
    ]


def _is_argument(instruction: Instruction) -> bool:
    """A parameter, but no random bits, which have their role from the start."""
    return instruction.opcode == "parameter" and bool(instruction.axes)


def _weights(instructions: Sequence[Instruction]) -> set[int]:
    """Parameters of rank <= 1 and those that only feed right-hand sides, through ops that only change form."""
    only_right = [True] * len(instructions)
    for index in reversed(range(len(instructions))):
        one = instructions[index]
        for position, operand in enumerate(one.operands):
            passes = one.opcode in FORM_ONLY and only_right[index]
            right = RIGHT_HAND.get(one.opcode) == position
            only_right[operand] &= passes or right
    read = {operand for one in instructions for operand in one.operands}
    return {
        index
        for index, one in enumerate(instructions)
        if _is_argument(one) and (len(one.dimensions) <= 1 or (only_right[index] and index in read))
    }


def _named(instructions: Sequence[Instruction], inputs: int | None) -> tuple[Instruction, ...]:
    """Unique names: the source's name, and a count from the second use on; parameters by role and number."""
    used: dict[str, int] = {}
    named = []
    for one in instructions:
        if _is_argument(one):
            number = one.axes[0] - (inputs if one.role == "weight" and inputs else 0)
            label, one = f"{one.role}.{number}", one.replace(axes=())
        else:
            label = one.name
        count = used.get(label, 0)
        used[label] = count + 1
        named.append(one.replace(name=f"{label}.{count}" if count else label))
    return tuple(named)
