"""`conditional`: the branch that computes most stands for all of them."""

from typing import TYPE_CHECKING, Any

from lib.frontends.errors import FrontendError
from lib.program.op_kinds import op_classes_by_opcode
from lib.program.order import post_order
from lib.program.work import instruction_work

if TYPE_CHECKING:
    from lib.frontends.hlo_reader import Reader, Value


def read_conditional(reader: "Reader", proto: Any, operands: list["Value"]) -> "Value":
    """The results of the branch with the most FLOPs and vector operations (the first on ties), or of the one that is
    chosen where that is known. Branches are `true_computation` first for a predicate, by number for an index."""
    branches = list(proto.called_computation_ids)
    if len(operands) != len(branches) + 1:
        raise FrontendError(f"{reader.where(proto)}: {len(branches)} branches for {len(operands) - 1} arguments")
    chosen = reader.instructions[operands[0]]
    if chosen.value is not None:
        number = 1 - int(chosen.value[0]) if chosen.dtype == "pred" else int(chosen.value[0])
        number = number if 0 <= number < len(branches) else len(branches) - 1
        branches, operands = [branches[number]], [operands[0], operands[1 + number]]
    results = []
    for branch, argument in zip(branches, operands[1:], strict=True):
        start = len(reader.instructions)
        result = reader.computation(reader.computations[branch], [argument])
        results.append((_work(reader, result, start), result))
    return max(results, key=lambda entry: entry[0])[1]


def _work(reader: "Reader", result: "Value", start: int) -> int:
    """FLOPs and vector operations of what was read since `start` and is needed for the result."""
    ends: list[int] = []
    _collect(result, ends)
    total = 0
    for index in post_order(reader.instructions, ends):
        one = reader.instructions[index]
        if index >= start and one.opcode in op_classes_by_opcode():
            total += sum(instruction_work(one, [reader.instructions[operand] for operand in one.operands]))
    return total


def _collect(value: "Value", ends: list[int]) -> None:
    if isinstance(value, tuple):
        for part in value:
            _collect(part, ends)
    else:
        ends.append(value)
