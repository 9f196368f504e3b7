"""How much a program computes and how large its arrays are, whatever runs it."""

from math import prod

from lib.program.op_kinds import ELEMENTWISE_CLASSES, op_classes_by_opcode
from lib.program.program import Instruction, Program


def program_work(program: Program) -> dict[str, int]:
    """Totals of one call at the program's batch.

    - `flops`: two for each multiply-accumulate of convolutions and dots; window positions that fall on padding or on
      zeros inserted by dilation are counted, as the FAST paper counts them.
    - `vector_ops`: one for each element of an elementwise op's result, each element that a reduction reads and each
      position of a pooling window.
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
    for instruction in program.instructions:
        operands = [program.instructions[operand] for operand in instruction.operands]
        op_class = op_classes_by_opcode()[instruction.opcode]
        if instruction.opcode == "parameter":
            work[f"{instruction.role}_bytes"] += instruction.bytes
        elif op_class == "matrix":
            work["flops"] += 2 * multiply_accumulates(instruction, operands)
        elif op_class == "reduction":
            work["vector_ops"] += operands[0].elements
        elif op_class == "window" and instruction.window is not None:
            work["vector_ops"] += instruction.elements * prod(instruction.window.size)
        elif op_class in ELEMENTWISE_CLASSES:
            work["vector_ops"] += instruction.elements
        if op_class == "transcendental":
            work["transcendentals"] += instruction.elements
        if op_class != "free":
            work["activation_bytes"] += instruction.bytes
    work["output_bytes"] = sum(program.instructions[output].bytes for output in program.outputs)
    return work


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
