"""Table 1: how large EfficientNet's activations and weights are."""

from collections.abc import Iterator, Mapping

from lib.fidelity.fast.published import beside
from lib.fidelity.fast.regions import BLOCK
from lib.fidelity.figure import Figure
from lib.program.program import Program
from schemas.reference import load_reference

TABLE = "fast-working-sets"
MIB = 2**20
ERRATUM = "printed: 5.1, an erratum that 16 channels in stage 1 would explain; the width multiplier gives 24"


def size_figures(programs: Mapping[str, Program]) -> Iterator[Figure]:
    """Working set and weights of each EfficientNet."""
    for name in load_reference().tables[TABLE].rows:
        if name in programs:
            program = programs[name].with_batch(1)
            working_set = beside(TABLE, name, "max_working_set", max_working_set_bytes(program) / MIB)
            if name == "efficientnet-b3":
                working_set = working_set._replace(theirs=float("nan"), note=ERRATUM)
            yield working_set
            yield beside(TABLE, name, "weights", block_weight_bytes(program) / MIB)


def max_working_set_bytes(program: Program) -> int:
    """Input and output of the convolution for which they are largest."""
    return max(
        instruction.bytes + program.instructions[instruction.operands[0]].bytes
        for instruction in program.instructions
        if instruction.convolution is not None
    )


def block_weight_bytes(program: Program) -> int:
    """Weights of the convolutions in MBConv blocks, without batch normalisation and biases: what the table counts."""
    return sum(
        program.instructions[instruction.operands[1]].bytes
        for instruction in program.instructions
        if instruction.convolution is not None and BLOCK.match(instruction.name)
    )
