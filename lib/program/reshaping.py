"""Rewrite rules of ops that only change an array's form. See `lib.program.rewrites`."""

import math

from lib.program.graph import Graph
from lib.program.program import Instruction, row_major

NEUTRAL_ELEMENTS = {"add": 0.0, "multiply": 1.0, "maximum": -math.inf, "minimum": math.inf, "or": 0.0}
"""Starting values that change no result, by reducer."""


def simpler_reshape(graph: Graph, instruction: Instruction) -> int | Instruction | None:
    """A reshape that changes nothing, of another reshape, or of a broadcast."""
    index = instruction.operands[0]
    operand = graph[index]
    if operand.dimensions == instruction.dimensions:
        return index
    if operand.opcode == "reshape":
        return instruction.replace(operands=operand.operands)
    if operand.opcode == "broadcast":
        return _reshaped_broadcast(graph, instruction, operand)
    return None


def _reshaped_broadcast(graph: Graph, instruction: Instruction, broadcast: Instruction) -> Instruction | None:
    """The broadcast to the new shape, where only dimensions of one element come or go."""
    if not graph[broadcast.operands[0]].dimensions:
        return instruction.replace(opcode="broadcast", operands=broadcast.operands)
    before = [d for d, extent in enumerate(broadcast.dimensions) if extent != 1]
    after = [d for d, extent in enumerate(instruction.dimensions) if extent != 1]
    if [broadcast.dimensions[d] for d in before] != [instruction.dimensions[d] for d in after]:
        return None
    axes = tuple(after[before.index(axis)] for axis in broadcast.axes)
    return instruction.replace(opcode="broadcast", operands=broadcast.operands, axes=axes)


def plain_bitcast(graph: Graph, instruction: Instruction) -> Instruction | None:
    """A bitcast between arrays in row-major layout is a reshape."""
    operand = graph[instruction.operands[0]]
    same_type = operand.dtype == instruction.dtype and operand.elements == instruction.elements
    plain = all(one.layout == row_major(len(one.dimensions)) for one in (operand, instruction))
    return instruction.replace(opcode="reshape") if same_type and plain else None


def simpler_broadcast(graph: Graph, instruction: Instruction) -> int | Instruction | None:
    """A broadcast that changes nothing or only adds dimensions of one element, or of another broadcast. What is
    broadcast has no dimensions of one element. Known values stay a broadcast scalar (`fold_constant`)."""
    index = instruction.operands[0]
    operand, axes = graph[index], instruction.axes
    if operand.dimensions == instruction.dimensions and axes == tuple(range(len(axes))):
        return index
    if operand.elements == instruction.elements and tuple(sorted(axes)) == axes and operand.value is None:
        return instruction.replace(opcode="reshape", axes=())
    if operand.opcode == "broadcast":
        return instruction.replace(operands=operand.operands, axes=tuple(axes[axis] for axis in operand.axes))
    if 1 in operand.dimensions:
        kept = [d for d, extent in enumerate(operand.dimensions) if extent != 1]
        squeezed = operand.replace(
            name=f"{instruction.name}.reshape", opcode="reshape", operands=(index,), layout=row_major(len(kept)),
            dimensions=tuple(operand.dimensions[d] for d in kept),
        )  # fmt: skip
        return instruction.replace(operands=(_reshape(graph, squeezed),), axes=tuple(axes[d] for d in kept))
    return None


def _reshape(graph: Graph, instruction: Instruction) -> int:
    reshape = Instruction(
        instruction.name, "reshape", instruction.dtype, instruction.dimensions, instruction.layout, instruction.operands
    )
    outcome = simpler_reshape(graph, reshape)
    if isinstance(outcome, int):
        return outcome
    return graph.add(outcome or reshape)


def simpler_transpose(graph: Graph, instruction: Instruction) -> int | Instruction | None:
    """A transpose that keeps the order of all dimensions of more than one element, or of another transpose, or of a
    broadcast."""
    index = instruction.operands[0]
    operand, axes = graph[index], instruction.axes
    moved = [axis for axis in axes if operand.dimensions[axis] != 1]
    if moved == sorted(moved):
        return instruction.replace(opcode="reshape", axes=())
    if operand.opcode == "transpose":
        return instruction.replace(operands=operand.operands, axes=tuple(operand.axes[axis] for axis in axes))
    if operand.opcode == "broadcast":
        spread = tuple(axes.index(axis) for axis in operand.axes)
        if spread == tuple(sorted(spread)):
            return instruction.replace(opcode="broadcast", operands=operand.operands, axes=spread)
    return None


def same_layout(graph: Graph, instruction: Instruction) -> int | None:
    """A copy that changes no layout."""
    index = instruction.operands[0]
    return index if graph[index].layout == instruction.layout else None


def whole_slice(graph: Graph, instruction: Instruction) -> int | Instruction | None:
    """A slice of everything, or of a broadcast scalar."""
    index = instruction.operands[0]
    operand = graph[index]
    if operand.dimensions == instruction.dimensions:
        return index
    return _same_everywhere(graph, instruction, operand)


def no_padding(graph: Graph, instruction: Instruction) -> int | None:
    """A pad by nothing; there is nothing between the elements of a dimension that has one."""
    index = instruction.operands[0]
    edges = any((*instruction.padding_low, *instruction.padding_high))
    return index if not edges and graph[index].dimensions == instruction.dimensions else None


def single_part(graph: Graph, instruction: Instruction) -> int | None:
    """A concatenation of one array."""
    return instruction.operands[0] if len(instruction.operands) == 1 else None


def nothing_reversed(graph: Graph, instruction: Instruction) -> int | Instruction | None:
    """Dimensions of one element, and broadcast scalars, are the same backwards."""
    axes = tuple(axis for axis in instruction.axes if instruction.dimensions[axis] != 1)
    if not axes:
        return instruction.operands[0]
    if axes != instruction.axes:
        return instruction.replace(axes=axes)
    return _same_everywhere(graph, instruction, graph[instruction.operands[0]])


def _same_everywhere(graph: Graph, instruction: Instruction, operand: Instruction) -> Instruction | None:
    if operand.opcode != "broadcast" or graph[operand.operands[0]].dimensions:
        return None
    return operand.replace(name=instruction.name, dimensions=instruction.dimensions, layout=instruction.layout)


def nothing_reduced(graph: Graph, instruction: Instruction) -> Instruction | None:
    """A reduction over dimensions of one element is a reshape, joined with the starting value unless it is neutral."""
    if len(instruction.operands) != 2 or not instruction.reducer:
        return None
    index, start = instruction.operands
    if graph[index].elements != instruction.elements:
        return None
    form = Instruction(
        instruction.name, "reshape", instruction.dtype, instruction.dimensions, instruction.layout, (index,)
    )
    if starts_neutral(graph, instruction):
        return form
    spread = graph.add(form.replace(opcode="broadcast", operands=(start,))) if form.dimensions else start
    return form.replace(opcode=instruction.reducer, operands=(_reshape(graph, form), spread))


def starts_neutral(graph: Graph, instruction: Instruction) -> bool:
    """Whether the starting value of a reduce or reduce-window changes no result."""
    return graph.scalar(instruction.operands[1]) == NEUTRAL_ELEMENTS.get(instruction.reducer, math.nan)


RESHAPING_RULES = {
    "reshape": (simpler_reshape,),
    "bitcast": (plain_bitcast,),
    "broadcast": (simpler_broadcast,),
    "transpose": (simpler_transpose,),
    "copy": (same_layout,),
    "slice": (whole_slice,),
    "pad": (no_padding,),
    "concatenate": (single_part,),
    "reverse": (nothing_reversed,),
    "reduce": (nothing_reduced,),
}
