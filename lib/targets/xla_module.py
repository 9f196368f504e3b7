"""Kernels and whole programs as modules that XLA compiles: StableHLO text.

A kernel's module computes what its instructions compute. Parameters and results are row-major; all layouts in between
are XLA's choice. No name of the program stands in it, so that equal kernels of different programs have equal texts.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lib.program.dataflow import IN_PLACE, Dataflow, UnsupportedInstruction, describe, needs_no_array
from lib.program.program import LOOP_OPCODES, Instruction, Program
from lib.targets.module import Module
from lib.targets.xla_inputs import index_bounds, input_range
from lib.targets.xla_operations import SAME_ARRAY, operation, result_types
from lib.targets.xla_types import type_of

RUNTIME = "xla"
OTHER_RESULT = "other-result"
"""Opcode of a further result of an operation of several."""


class Cut(NamedTuple):
    """What of a program a module holds; indices of instructions."""

    computed: set[int]
    inputs: list[int]
    """The module's parameters, in order: what it reads and does not compute."""
    results: list[int]
    """The module's results, in order."""


class KernelModules:
    """Makes the modules of one program's kernels."""

    def __init__(self, program: Program):
        """Raises UnsupportedInstruction."""
        self.flow = Dataflow(program)

    def module(self, instructions: Iterable[int]) -> Module:
        """The module of one kernel, see :func:`kernel_module`."""
        flow, cut = self.flow, self.cut(instructions)
        where = f"program '{flow.program.name}', kernel '{flow.instructions[cut.results[-1]].name}'"
        return _written(flow.instructions, cut, where)

    def cut(self, instructions: Iterable[int]) -> Cut:
        """What a kernel computes, reads and leaves. Raises ValueError for one that computes nothing."""
        flow = self.flow
        members = sorted(index for index in instructions if not flow.free[index])
        if not members:
            raise ValueError(f"program '{flow.program.name}': a kernel of which no instruction computes anything")
        inside = set(members)
        results = [
            index
            for index in members
            if flow.output[index] or any(use.reader not in inside for use in flow.uses[index])
        ]
        return _cut(flow.instructions, inside | self._between(members, inside), results or members[-1:])

    def _between(self, members: Sequence[int], inside: set[int]) -> set[int]:
        """Free instructions that the members read through, and the numbers that need no array."""
        flow, found = self.flow, set[int]()
        waiting = [operand for member in members for operand in flow.instructions[member].operands]
        while waiting:
            index = waiting.pop()
            one = flow.instructions[index]
            if index in inside or index in found or one.opcode in ("parameter", *LOOP_OPCODES):
                continue
            if flow.free[index] and (one.operands or needs_no_array(one)):
                found.add(index)
                waiting.extend(one.operands)
        return found


def kernel_module(program: Program, instructions: Iterable[int]) -> Module:
    """A kernel of a program as a module of its own; for many kernels of one keep a :class:`KernelModules`.

    `instructions`: indices of the kernel's instructions, as one group of :meth:`lib.fusion.space.FusionSpace.group`;
    free ones are found anyway. What they read from outside (parameters, results of other kernels, states of loops) is a
    parameter of the module; what others read of them, or leaves the program, is a result. An array of which a part is
    written in place (dynamic-update-slice, scatter) is parameter and result in one buffer.

    Raises UnsupportedInstruction, naming program, kernel and instruction, for what no module can say: computations of
    reductions and scatters that are more than one known op.
    """
    return KernelModules(program).module(instructions)


def program_module(program: Program) -> Module:
    """A whole program as one module: a parameter for each of its parameters that anything reads, and all outputs.

    Raises UnsupportedInstruction for what no module can say; among it loops, of which a program knows what a step
    computes and how often, but no longer which instructions of it decide whether there is another one.
    """
    where = f"program '{program.name}'"
    loop = next((one for one in program.instructions if one.opcode in LOOP_OPCODES[:3]), None)
    if loop is not None:
        raise UnsupportedInstruction(
            f"{where}: {describe(loop)}: a program with loops can't be compiled as one module: its loops are flattened;"
            " its kernels can"
        )
    computed = {
        index
        for index, one in enumerate(program.instructions)
        if one.opcode != "parameter" and (one.opcode != "constant" or needs_no_array(one))
    }
    return _written(program.instructions, _cut(program.instructions, computed, program.outputs), where)


def _cut(instructions: Sequence[Instruction], computed: set[int], results: Iterable[int]) -> Cut:
    read = {operand for index in computed for operand in instructions[index].operands}
    ends = list(dict.fromkeys(results))
    return Cut(computed, sorted((read | {*ends}) - computed), ends)


def _written(instructions: Sequence[Instruction], cut: Cut, where: str) -> Module:
    body = _Body(instructions, cut.inputs, where)
    for index in sorted(cut.computed):
        body.add(index)
    bounds = index_bounds({index: instructions[index] for index in sorted({*cut.inputs} | cut.computed)}, cut.inputs)
    in_place = _in_place(instructions, cut)
    lines = ["module @main {", "  func.func public @main("]
    for number, index in enumerate(cut.inputs):
        one = instructions[index]
        low, high = input_range(one, bounds.get(index))
        alias = f" {{tf.aliasing_output = {in_place[index]} : i32}}" if index in in_place else ""
        comma = "," if number + 1 < len(cut.inputs) else ""
        lines.append(f"    %arg{number}: {type_of(one)}{alias}{comma} // {low:.12g} to {high:.12g}")
    types = ", ".join(type_of(instructions[index]) for index in cut.results)
    returned = ", ".join(body.name[index] for index in cut.results)
    lines += [f"  ) -> ({types}) {{", *body.lines, f"    return {returned} : {types}", "  }", "}"]
    return Module(RUNTIME, "\n".join(lines) + "\n")


def _in_place(instructions: Sequence[Instruction], cut: Cut) -> dict[int, int]:
    """Number of the result, by parameter, that takes the parameter's buffer: it is that array with a part rewritten."""
    found: dict[int, int] = {}
    for number, result in enumerate(cut.results):
        array, in_part = result, False
        while array in cut.computed and instructions[array].opcode in (*IN_PLACE, "reshape", "bitcast"):
            in_part |= instructions[array].opcode in IN_PLACE
            array = instructions[array].operands[0]
        same = type_of(instructions[array]) == type_of(instructions[result])
        if in_part and same and array in cut.inputs and array not in found:
            found[array] = number
    return found


class _Body:
    """The lines of a function. `name`: of the value of each instruction."""

    def __init__(self, instructions: Sequence[Instruction], outside: Sequence[int], where: str):
        self.instructions, self.where = instructions, where
        self.lines: list[str] = []
        self.name = {index: f"%arg{number}" for number, index in enumerate(outside)}
        self._several: dict[int, tuple[str, list[str]]] = {}

    def add(self, index: int) -> None:
        one = self.instructions[index]
        operands = [self.instructions[operand] for operand in one.operands]
        if one.opcode == OTHER_RESULT:
            self._add_other_result(index, one)
        elif one.opcode in SAME_ARRAY and type_of(one) == type_of(operands[0]):
            self.name[index] = self.name[one.operands[0]]
        else:
            self._add_operation(index, one, operands)

    def _add_operation(self, index: int, one: Instruction, operands: list[Instruction]) -> None:
        names = [self.name[operand] for operand in one.operands]
        places = self._places_of_sort(index, one, operands)
        if places is not None:
            operands.append(places)
            names.append(self._line(places, [], []))
        try:
            value = self._line(one, operands, names)
        except UnsupportedInstruction as error:
            raise UnsupportedInstruction(f"{self.where}: {describe(one)}: {error}") from None
        results = result_types(one, operands)
        if len(results) == 1:
            self.name[index] = value
            return
        self._several[index] = value, results
        own = results.index(type_of(one)) if type_of(one) in results else 0
        self.name[index] = f"{value}#{own}"

    def _places_of_sort(self, index: int, one: Instruction, operands: Sequence[Instruction]) -> Instruction | None:
        """The second array of a sort (of TopK), where an element came from, which the program leaves out."""
        if one.opcode != "sort":
            return None
        types = {type_of(operand) for operand in operands}
        for other in self.instructions[index:]:
            if other.opcode == OTHER_RESULT and other.operands == (index,) and type_of(other) not in types:
                return other.replace(opcode="iota", operands=(), axes=one.axes)
        return None

    def _add_other_result(self, index: int, one: Instruction) -> None:
        (whole,) = one.operands
        if whole in self._several:
            value, types = self._several[whole]
            places = [place for place, each in enumerate(types) if each == type_of(one)]
            taken = {self.name[whole], *(self.name.get(other, "") for other in self._others(whole))}
            free = [f"{value}#{place}" for place in places if f"{value}#{place}" not in taken]
            if free:
                self.name[index] = free[0]
                return
        # The other result is made by another kernel: what is left is a pass that reads one array and writes another.
        self.name[index] = self._line(one.replace(opcode="convert"), [self.instructions[whole]], [self.name[whole]])

    def _others(self, whole: int) -> list[int]:
        return [other for other in self.name if self.instructions[other].operands == (whole,)]

    def _line(self, one: Instruction, operands: Sequence[Instruction], names: Sequence[str]) -> str:
        """Write an operation on operands of those names; the name of its result."""
        name, attributes, regions = operation(one, operands)
        results = result_types(one, operands)
        value = f"%{len(self.lines)}"
        count = f":{len(results)}" if len(results) > 1 else ""
        properties = f" <{{{attributes}}}>" if attributes else ""
        within = f" {regions}" if regions else ""
        made = results[0] if len(results) == 1 else f"({', '.join(results)})"
        types = f"({', '.join(map(type_of, operands))}) -> {made}"
        self.lines.append(f'    {value}{count} = "{name}"({", ".join(names)}){properties}{within} : {types}')
        return value
