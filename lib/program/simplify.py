"""Simplification: what XLA's algebraic simplifier and constant folding would take out before fusion.

A pass walks the program in order, rewrites each instruction by the rules of its opcode until none applies, and merges
it with an equal one; passes repeat until nothing changes. The result is in depth-first order, largest operand last.
"""

from typing import Literal

from lib.program.batch import affine_program
from lib.program.graph import Graph
from lib.program.order import depth_first, users
from lib.program.program import Instruction, Program
from lib.program.rewrites import rewritten

Sizing = Literal["bfloat16", "as-traced"]
GENERIC_BATCHES = (1_000_003, 1_000_033)
"""Primes larger than any other extent: at these batches no size equals another by chance, so what holds for them
holds for every batch."""
MOST_PASSES = 50


def simplify(program: Program, sizing: Sizing) -> Program:
    """The program with constants folded, form-only ops merged, zero pads moved into convolutions, converts that mean
    nothing under the sizing gone, equal subexpressions merged and dead code dropped; simplifying it again changes
    nothing.

    `bfloat16` sizing stores every f32 in two bytes; integers and predicates keep their types. A program with slopes
    is simplified for every batch at once and keeps its slopes.
    """
    if program.slopes is None:
        return _simplified(program, sizing)
    low, high = (_simplified(program.with_batch(batch), sizing) for batch in GENERIC_BATCHES)
    return affine_program(low, high).with_batch(program.batch)


def _simplified(program: Program, sizing: Sizing) -> Program:
    instructions = tuple(_sized(instruction, sizing) for instruction in program.instructions)
    program = program.replace(instructions=instructions, slopes=None)
    for _ in range(MOST_PASSES):
        shorter = _pass(program)
        if shorter == program:
            return program
        program = shorter
    raise RuntimeError(f"program '{program.name}': simplification does not settle")


def _sized(instruction: Instruction, sizing: Sizing) -> Instruction:
    return instruction.replace(dtype="bf16") if sizing == "bfloat16" and instruction.dtype == "f32" else instruction


def _pass(program: Program) -> Program:
    graph = Graph()
    foldable = _pads_of_windows(program)
    place: list[int] = []
    for index, instruction in enumerate(program.instructions):
        moved = instruction.replace(operands=tuple(place[operand] for operand in instruction.operands))
        place.append(rewritten(graph, moved))
        if index in foldable:
            graph.foldable_pads.add(place[-1])
    outputs = tuple(place[output] for output in program.outputs)
    carried = tuple(dict.fromkeys(place[value] for value in program.carried))
    simpler = program.replace(instructions=tuple(graph.instructions), outputs=outputs, carried=carried)
    return depth_first(simpler, largest_last=True)


def _pads_of_windows(program: Program) -> set[int]:
    """Indices of pads that only convolutions and reduce-windows read, as their input."""
    readers = users(program.instructions)
    return {
        index
        for index, instruction in enumerate(program.instructions)
        if instruction.opcode == "pad"
        and index not in program.outputs + program.carried
        and all(
            program.instructions[reader].opcode in ("convolution", "reduce-window")
            and program.instructions[reader].operands[1] != index
            for reader in readers[index]
        )
    }
