"""A program under construction: equal instructions are added once."""

from lib.program.program import LOOP_OPCODES, Instruction


class Graph:
    """Instructions in topological order; :meth:`add` merges equal ones (value numbering)."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.foldable_pads: set[int] = set()
        """Pads that only convolutions and reduce-windows read."""
        self._places: dict[Instruction, int] = {}
        self._names: set[str] = set()

    def __getitem__(self, index: int) -> Instruction:
        return self.instructions[index]

    def add(self, instruction: Instruction) -> int:
        """Index of the instruction, or of an earlier one that computes the same."""
        own = instruction.opcode in ("parameter", *LOOP_OPCODES)
        own |= instruction.opcode == "constant" and instruction.value is None
        key = instruction if own else instruction.replace(name="")
        place = self._places.get(key)
        if place is not None:
            return place
        self._places[key] = len(self.instructions)
        self.instructions.append(instruction.replace(name=self._free_name(instruction.name)))
        return len(self.instructions) - 1

    def scalar(self, index: int) -> float | None:
        """The value that all elements have, if it is known."""
        instruction = self.instructions[index]
        if instruction.opcode == "broadcast":
            instruction = self.instructions[instruction.operands[0]]
        if instruction.value is None or len(set(instruction.value)) != 1:
            return None
        return instruction.value[0]

    def filled(self, like: Instruction, value: float) -> int:
        """An array of the shape of `like`, all elements `value`."""
        scalar = self.add(Instruction(f"{like.name}.constant", "constant", like.dtype, (), (), value=(float(value),)))
        if not like.dimensions:
            return scalar
        return self.add(
            Instruction(f"{like.name}.broadcast", "broadcast", like.dtype, like.dimensions, like.layout, (scalar,))
        )

    def _free_name(self, name: str) -> str:
        free, count = name, 0
        while free in self._names:
            count += 1
            free = f"{name}.{count}"
        self._names.add(free)
        return free
