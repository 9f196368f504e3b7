"""Who reads what in a program, looking through the instructions that cost nothing."""

from typing import NamedTuple

from lib.program.executions import executions
from lib.program.op_kinds import ELEMENTWISE_CLASSES, op_classes_by_opcode
from lib.program.program import LARGEST_VALUE, Instruction, Program

MATRIX, REDUCTION, WINDOW = "matrix", "reduction", "window"
HERO_CLASSES = (MATRIX, REDUCTION, WINDOW)
"""Classes of the ops of which a kernel has at most one: convolution, dot; reduce; reduce-window."""
IN_MEMORY = ("loop-state", "loop-result")
"""Free ops behind which nobody looks: arrays that a loop keeps in memory."""
IN_PLACE = ("dynamic-update-slice", "scatter")
"""Opcodes that write a part of the array that they get."""
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
    """The parameter, large constant, array of a loop or non-free instruction that holds the data."""


class Use(NamedTuple):
    """One place where an instruction is read."""

    reader: int
    operand: Operand


class Dataflow:
    """The program without its free instructions.

    `free[i]`: bool, a parameter, constant, iota, broadcast, reshape or bitcast. `live[i]`: bool, an output depends on
    it. `operands[i]`: tuple of Operand of a live non-free instruction (small constants and iotas are no operands).
    `uses[i]`: list of Use by non-free instructions. `output[i]`: bool, its result leaves the program, perhaps through
    free instructions, or must be in memory for a loop or an update in place. `runs[i]`: how often it runs.

    Raises UnsupportedInstruction for an opcode that is not in the table of op kinds.
    """

    def __init__(self, program: Program):
        self.program = program
        self.instructions = program.instructions
        classes = op_classes_by_opcode()
        for instruction in self.instructions:
            if instruction.opcode not in classes:
                raise UnsupportedInstruction(
                    f"program '{program.name}': {describe(instruction)}: its opcode is not in"
                    " schemas/presets/op_kinds.yaml, so no kernel has it"
                )
        self.op_class = [classes[instruction.opcode] for instruction in self.instructions]
        self.free = [cls == "free" for cls in self.op_class]
        self.live = self._live()
        self.runs = executions(self.instructions)
        count = len(self.instructions)
        self.operands: list[tuple[Operand, ...]] = [()] * count
        self.uses: list[list[Use]] = [[] for _ in range(count)]
        self.output = [False] * count
        kinds = (*IN_MEMORY, *IN_PLACE)
        in_memory = [i for i in range(count) if self.live[i] and self.instructions[i].opcode in kinds]
        starts = [self.instructions[i].operands[0] for i in in_memory]
        for output in (*program.outputs, *program.carried, *starts):
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
        for output in (*self.program.outputs, *self.program.carried):
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
            if needs_no_array(self.instructions[operand.source]):
                continue
            operands.append(operand)
            self.uses[operand.source].append(Use(index, operand))
        self.operands[index] = tuple(operands)

    def _is_looked_through(self, index: int) -> bool:
        one = self.instructions[index]
        return self.free[index] and bool(one.operands) and one.opcode not in IN_MEMORY

    def _walk(self, position: int, first: int) -> Operand:
        path: list[int] = []
        current = first
        while self._is_looked_through(current):
            path.append(current)
            current = self.instructions[current].operands[0]
        return Operand(position, tuple(path), current)


def needs_no_array(source: Instruction) -> bool:
    """Whether a kernel holds the values itself: iotas, counters, small constants and those of one value."""
    if source.opcode == "constant":
        return source.value is not None or source.elements <= LARGEST_VALUE
    return source.opcode in ("iota", "loop-counter")


def describe(instruction: Instruction) -> str:
    """Name, opcode and shape for messages."""
    shape = ",".join(map(str, instruction.dimensions))
    return f"instruction '{instruction.name}' ({instruction.opcode}, {instruction.dtype}[{shape}])"
