"""Who reads what in a program, looking through the instructions that cost nothing."""

from typing import NamedTuple

from lib.program.op_kinds import ELEMENTWISE_CLASSES, op_classes_by_opcode
from lib.program.program import LARGEST_VALUE, Instruction, Program

MATRIX, REDUCTION, WINDOW = "matrix", "reduction", "window"
HERO_CLASSES = (MATRIX, REDUCTION, WINDOW)
"""Classes of the ops of which a kernel has at most one: convolution, dot; reduce; reduce-window."""
REARRANGING = ("transpose", "copy", "reverse")
"""Movement ops whose result has the elements of their operand in another order."""


class UnsupportedInstruction(ValueError):
    """An instruction that no kernel can represent."""


class Operand(NamedTuple):
    """What a non-free instruction reads at one operand position."""

    position: int
    path: tuple[int, ...]
    """Free instructions between the reader and `source`, the nearest to the reader first."""
    source: int
    """The parameter, large constant or non-free instruction that holds the data."""


class Use(NamedTuple):
    """One place where an instruction is read."""

    reader: int
    operand: Operand


class Dataflow:
    """The program without its free instructions.

    `free[i]`: bool, a parameter, constant, iota, broadcast, reshape or bitcast. `live[i]`: bool, an output depends on
    it. `operands[i]`: tuple of Operand of a live non-free instruction (small constants and iotas are no operands).
    `uses[i]`: list of Use by non-free instructions. `output[i]`: bool, its result leaves the program, perhaps through
    free instructions.

    Raises UnsupportedInstruction for an opcode that is not in the table of op kinds.
    """

    def __init__(self, program: Program):
        self.program = program
        self.instructions = program.instructions
        classes = op_classes_by_opcode()
        for instruction in self.instructions:
            if instruction.opcode not in classes:
                raise UnsupportedInstruction(
                    f"{describe(instruction)}: its opcode is not in schemas/presets/op_kinds.yaml, so no kernel has it"
                )
        self.op_class = [classes[instruction.opcode] for instruction in self.instructions]
        self.free = [cls == "free" for cls in self.op_class]
        self.live = self._live()
        count = len(self.instructions)
        self.operands: list[tuple[Operand, ...]] = [()] * count
        self.uses: list[list[Use]] = [[] for _ in range(count)]
        self.output = [False] * count
        for output in program.outputs:
            self.output[self._walk(0, output).source] = True
        for index in range(count):
            if self.live[index] and not self.free[index]:
                self._connect(index)

    def is_hero(self, index: int) -> bool:
        """Whether the instruction is one of which a kernel has at most one."""
        return self.op_class[index] in HERO_CLASSES

    def is_elementwise(self, index: int) -> bool:
        """Whether each element of the result needs one element of each operand."""
        return self.op_class[index] in ELEMENTWISE_CLASSES

    def _live(self) -> list[bool]:
        live = [False] * len(self.instructions)
        for output in self.program.outputs:
            live[output] = True
        for index in range(len(self.instructions) - 1, -1, -1):
            if live[index]:
                for operand in self.instructions[index].operands:
                    live[operand] = True
        return live

    def _connect(self, index: int) -> None:
        operands = []
        for position, first in enumerate(self.instructions[index].operands):
            operand = self._walk(position, first)
            if self._needs_no_array(self.instructions[operand.source]):
                continue
            operands.append(operand)
            self.uses[operand.source].append(Use(index, operand))
        self.operands[index] = tuple(operands)

    @staticmethod
    def _needs_no_array(source: Instruction) -> bool:
        """Whether a kernel holds the values itself: iotas, small constants and those of one value."""
        if source.opcode == "constant":
            return source.value is not None or source.elements <= LARGEST_VALUE
        return source.opcode == "iota"

    def _walk(self, position: int, first: int) -> Operand:
        path: list[int] = []
        current = first
        while self.free[current] and self.instructions[current].operands:
            path.append(current)
            current = self.instructions[current].operands[0]
        return Operand(position, tuple(path), current)


def describe(instruction: Instruction) -> str:
    """Name, opcode and shape for messages."""
    shape = ",".join(map(str, instruction.dimensions))
    return f"instruction '{instruction.name}' ({instruction.opcode}, {instruction.dtype}[{shape}])"
