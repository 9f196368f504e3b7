"""From where to where the inputs of a module are drawn: numbers that serve as indices are valid, floats keep their size
through a whole network, so that neither infinities nor denormals slow anything down.
"""

from collections.abc import Mapping, Sequence

from lib.program.folding import is_float
from lib.program.program import Instruction

LOW, HIGH = 0.5, 1.5
"""Of floats. Positive, so that logarithms, roots and powers are numbers."""
SMALL_INTEGERS = 8
"""Integers that are no indices are smaller than this."""

Range = tuple[float, float]
"""The least and the first number beyond the largest."""


def input_range(parameter: Instruction, bound: int | None) -> Range:
    """The range of an input; `bound`: how many values it may have as an index, None: it is none.

    Weights of several dimensions are divided by the elements that add up in one output (all dimensions but the last):
    activations then stay near 1 from layer to layer.
    """
    if bound is not None:
        return 0, max(bound, 1)
    if parameter.dtype == "pred":
        return 0, 2
    if parameter.dtype in ("u32", "u64"):
        return 0, 1 << 32  # random bits
    if not is_float(parameter.dtype):
        return 0, SMALL_INTEGERS
    added = 1
    if parameter.role == "weight" and len(parameter.dimensions) > 1:
        added = parameter.elements // parameter.dimensions[-1]
    return LOW / added, HIGH / added


def index_bounds(instructions: Mapping[int, Instruction], outside: Sequence[int]) -> dict[int, int]:
    """How many values each integer of `outside` may have to be a valid index wherever it becomes one; those that
    become none are left out.

    `instructions`: by index in topological order, what is computed and what comes from outside.
    """
    bound: dict[int, int] = {}

    def limit(index: int, most: int) -> None:
        if not is_float(instructions[index].dtype) and instructions[index].dtype != "pred":
            bound[index] = min(bound.get(index, most), most)

    for index in reversed(list(instructions)):
        if index in outside:
            continue
        one = instructions[index]
        if one.opcode in ("gather", "scatter"):
            limit(one.operands[1], _indexed_places(one, instructions))
        elif one.opcode in ("dynamic-slice", "dynamic-update-slice"):
            first = 1 if one.opcode == "dynamic-slice" else 2
            part = one if first == 1 else instructions[one.operands[1]]
            table = instructions[one.operands[0]]
            for operand, extent, size in zip(one.operands[first:], table.dimensions, part.dimensions, strict=False):
                limit(operand, extent - size + 1)
        if index in bound:
            for operand in one.operands:
                if operand not in one.operands[1:] or one.opcode not in ("gather", "dynamic-slice"):
                    limit(operand, bound[index])
    return {index: bound[index] for index in outside if index in bound}


def _indexed_places(one: Instruction, instructions: Mapping[int, Instruction]) -> int:
    """Places along the indexed dimension of a gather's or scatter's table, the fewest where several are indexed."""
    numbers = one.indexing
    assert numbers is not None
    table = instructions[one.operands[0]]
    slices = one if one.opcode == "gather" else instructions[one.operands[2]]
    within = iter([slices.dimensions[dimension] for dimension in numbers.window])
    single = (*numbers.collapsed, *numbers.table_batch)
    sizes = [1 if dimension in single else next(within) for dimension in range(len(table.dimensions))]
    return min(table.dimensions[dimension] - sizes[dimension] + 1 for dimension in numbers.indexed)
