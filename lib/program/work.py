"""How much a program computes and how large its arrays are, whatever runs it."""

from math import prod

from lib.program.executions import executions
from lib.program.op_kinds import ELEMENTWISE_CLASSES, op_classes_by_opcode
from lib.program.program import Instruction, Program

NETWORKS = ("sort", "scan")
"""Opcodes that pass over one dimension several times."""


def program_work(program: Program) -> dict[str, int]:
    """Totals of one call at the program's batch.

    - `flops`: two for each multiply-accumulate of convolutions and dots; window positions that fall on padding or on
      zeros inserted by dilation are counted, as the FAST paper counts them.
    - `vector_ops`: one for each element of an elementwise op's result, each element that a reduction reads and each
      position of a pooling window, times the operations that these apply there; a sort's or scan's network likewise.
    - `transcendentals`: the part of `vector_ops` that are exponentials, logarithms, hyperbolic tangents and the like.
    - `weight_bytes`, `input_bytes`: parameters by role; `output_bytes`: results that leave the program.
    - `activation_bytes`: results of all instructions that are not free.
    """
    work = dict.fromkeys(
        (
            "flops", "vector_ops", "transcendentals", "weight_bytes", "input_bytes", "output_bytes",
            "activation_bytes",
        ),
        0,
    )  # fmt: skip
    for instruction, runs in zip(program.instructions, executions(program.instructions), strict=True):
        operands = [program.instructions[operand] for operand in instruction.operands]
        op_class = op_classes_by_opcode()[instruction.opcode]
        if instruction.opcode == "parameter":
            work[f"{instruction.role}_bytes"] += instruction.bytes
        flops, vector_ops = instruction_work(instruction, operands)
        work["flops"] += flops * runs
        work["vector_ops"] += vector_ops * runs
        if op_class == "transcendental":
            work["transcendentals"] += instruction.elements * runs
        if op_class != "free":
            work["activation_bytes"] += written_elements(instruction, operands) * instruction.element_bytes * runs
    work["output_bytes"] = sum(program.instructions[output].bytes for output in program.outputs)
    return work


def instruction_work(instruction: Instruction, operands: list[Instruction]) -> tuple[int, int]:
    """(FLOPs, vector operations) of one run of an instruction with these operands."""
    op_class = op_classes_by_opcode()[instruction.opcode]
    if op_class == "matrix":
        return 2 * multiply_accumulates(instruction, operands), 0
    if instruction.opcode in NETWORKS:
        return 0, instruction.elements * network_steps(instruction) * instruction.body_ops
    if op_class == "reduction":
        return 0, operands[0].elements * instruction.body_ops
    if op_class == "window" and instruction.window is not None:
        source = operands[1] if instruction.opcode == "select-and-scatter" else instruction
        return 0, source.elements * prod(instruction.window.size) * instruction.body_ops
    if op_class in ELEMENTWISE_CLASSES:
        return 0, instruction.elements
    if instruction.opcode == "scatter":
        return 0, operands[2].elements * (instruction.body_ops - 1)
    return 0, 0


def network_steps(instruction: Instruction) -> int:
    """Passes of a sort or scan over all elements of its dimension of n.

    Sort: the log2(n) (log2(n) + 1) / 2 stages of a bitonic network (Batcher, "Sorting networks and their
    applications", AFIPS 1968), which needs no branches. Scan: log2(n) (Hillis and Steele, "Data parallel algorithms",
    CACM 1986).
    """
    levels = max(1, (instruction.dimensions[instruction.axes[0]] - 1).bit_length())
    return levels * (levels + 1) // 2 if instruction.opcode == "sort" else levels


def written_elements(instruction: Instruction, operands: list[Instruction]) -> int:
    """Elements that an instruction writes: of an update in place those of the update."""
    return prod(written_dimensions(instruction, operands))


def written_dimensions(instruction: Instruction, operands: list[Instruction]) -> tuple[int, ...]:
    """Extents of what an instruction writes: of a dynamic-update-slice or scatter those of its updates."""
    place = {"dynamic-update-slice": 1, "scatter": 2}.get(instruction.opcode)
    return instruction.dimensions if place is None else operands[place].dimensions


def multiply_accumulates(instruction: Instruction, operands: list[Instruction]) -> int:
    """Of a convolution or dot with these operands. Raises ValueError for another op."""
    if instruction.convolution is not None:
        # The kernel's input features are those of one feature group; batch groups only shrink the output.
        features = operands[1].dimensions[instruction.convolution.kernel_input_feature]
        taps = prod(instruction.window.size) if instruction.window is not None else 1
        return instruction.elements * features * taps
    if instruction.dot is not None:
        return instruction.elements * prod(operands[0].dimensions[d] for d in instruction.dot.left_contracting)
    raise ValueError(f"'{instruction.name}' is a {instruction.opcode}, no convolution or dot")
