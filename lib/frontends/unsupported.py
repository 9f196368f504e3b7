"""What an error says about an op that a program can't hold."""

from collections.abc import Mapping

from lib.frontends.errors import FrontendError
from lib.program.op_kinds import op_classes_by_opcode
from lib.program.program import Instruction, Program
from schemas.problem import nearest

DYNAMIC = ("set-dimension-size", "get-dimension-size", "dynamic-reshape", "dynamic-pad", "dynamic-convolution")
"""Opcodes of arrays whose size is known only while they run."""
REPLACED = "call, fusion, tuple, while, conditional, batch-norm and random ops, which are replaced"


def custom_call(target: str) -> str:
    """What a custom-call is refused with."""
    return (
        f"a custom-call of '{target}', a routine of a library: the program does not say what it computes, so it has no"
        " cost; write the model without it, or leave that part out"
    )


def check_supported(program: Program, refused: Mapping[str, str]) -> None:
    """Refuse a program with an unknown op kind or an empty tensor; what no output needs may be of any kind.

    `refused`: why, by name of instruction, where the frontend knows more than that the op kind is unknown. Raises
    FrontendError naming workload, instruction and remedy.
    """
    for instruction in program.instructions:
        if instruction.opcode in op_classes_by_opcode() and instruction.elements:
            continue
        name = instruction.name or f"parameter {instruction.axes[0]}"
        why = _empty(instruction) if not instruction.elements else refused.get(name) or _unknown(instruction.opcode)
        raise FrontendError(f"workload '{program.name}': HLO instruction '{name}' ({instruction.opcode}): {why}")


def _empty(instruction: Instruction) -> str:
    return (
        f"it has no elements (shape {list(instruction.dimensions)}); empty tensors are not supported: leave the tensor"
        " out of the model, or give it an extent of at least 1"
    )


def _unknown(opcode: str) -> str:
    if opcode in DYNAMIC:
        return (
            "the size of an array would be known only while the program runs (a dynamic shape); give every tensor a"
            " fixed size, for instance by padding to the longest"
        )
    near = nearest(opcode, op_classes_by_opcode())
    hint = f" (did you mean '{near}'?)" if near else ""
    return (
        f"the op kind '{opcode}'{hint} is not supported; write the model without it, or leave that part out;"
        f" supported: {', '.join(sorted(op_classes_by_opcode()))}, and {REPLACED}"
    )
