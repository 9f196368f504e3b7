"""A graph of TpuGraphs' tile files as a :class:`Program`: one flat computation, fusions written out.

What the files do not hold: the order of an instruction's operands (they are sorted and de-duplicated), values of
constants, contracted dimensions of a dot, more than two dimensions of a slice or pad. Operands are put in order by
their shapes; where shapes say nothing the order has no bearing on cost.
"""

from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from lib.program.program import ELEMENT_BYTES, Instruction, Program, Role
from lib.targets import tpugraphs_columns as column
from lib.targets.tpugraphs_columns import LONGEST_LIST, OPCODES, TYPES
from lib.targets.tpugraphs_instructions import DETAILS, NotRepresentable, listed


class RecordedProgram(NamedTuple):
    """The kernel of a file."""

    program: Program
    """One output: the largest, where the kernel has several."""
    dropped_bytes: int
    """Bytes of the other outputs."""


def program_of_graph(name: str, features: np.ndarray, opcodes: np.ndarray, edges: np.ndarray) -> RecordedProgram:
    """The program of a graph: float[n, 140] features, int[n] opcode numbers, int[m, 2] edges (reader, what it reads).

    Parameters that only a convolution's second operand depends on are weights, the others inputs. Raises
    NotRepresentable.
    """
    graph = _Graph(features, opcodes, edges)
    entry = graph.entry()
    values = graph.flatten(entry, None)
    outputs = list(values) if isinstance(values, tuple) else [values]
    instructions = graph.instructions
    kept = max(outputs, key=lambda index: instructions[index].bytes)
    dropped = sum(instructions[index].bytes for index in dict.fromkeys(outputs) if index != kept)
    program = _reachable(Program(name, 1, tuple(instructions), (kept,)))
    return RecordedProgram(_with_weights(program), dropped)


class _Graph:
    """Nodes of all computations of a kernel; `instructions` grows as computations are written out."""

    def __init__(self, features: np.ndarray, opcodes: np.ndarray, edges: np.ndarray):
        self.features = features.astype(np.int64)
        self.opcodes = [OPCODES[number] for number in opcodes.tolist()]
        self.reads: list[list[int]] = [[] for _ in self.opcodes]
        for reader, source in edges.tolist():
            self.reads[reader].append(source)
        self.instructions: list[Instruction] = []

    def entry(self) -> int:
        """The result of the computation that no other calls."""
        called = {node for sources in self.reads for node in sources}
        roots = [node for node in range(len(self.opcodes)) if self.is_root(node) and node not in called]
        if len(roots) != 1:
            raise NotRepresentable(f"{len(roots)} nodes are the result of a computation that no other calls; 1 must be")
        return roots[0]

    def is_root(self, node: int) -> bool:
        """Whether the node is the result of its computation."""
        return bool(self.features[node, column.ROOT])

    def describe(self, node: int) -> str:
        """Number and opcode, for messages."""
        return f"node {node} ({self.opcodes[node]})"

    def flatten(self, root: int, arguments: dict[int, int] | None) -> int | tuple[int, ...]:
        """Write out the computation that ends in `root`; `arguments`: instruction by parameter number, None for the
        kernel's own.

        Returns the index of the instruction with its result, or one a member of a tuple.
        """
        done: dict[int, int | tuple[int, ...]] = {}
        for node in self._in_order(root):
            done[node] = self._write(node, done, arguments)
        return done[root]

    def _in_order(self, root: int) -> list[int]:
        """Nodes of the root's computation, each after what it reads."""
        order: list[int] = []
        seen = {root}
        stack = [(root, iter(self._operands(root)))]
        while stack:
            node, sources = stack[-1]
            source = next((s for s in sources if s not in seen), None)
            if source is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(source)
                stack.append((source, iter(self._operands(source))))
        return order

    def _operands(self, node: int) -> list[int]:
        return [source for source in self.reads[node] if not self.is_root(source)]

    def _called(self, node: int) -> int:
        roots = [source for source in self.reads[node] if self.is_root(source)]
        if len(roots) != 1:
            raise NotRepresentable(f"{self.describe(node)} calls {len(roots)} computations; 1 is known")
        return roots[0]

    def _write(self, node: int, done: dict, arguments: dict[int, int] | None) -> int | tuple[int, ...]:
        opcode = self.opcodes[node]
        sources: list[Any] = [done[source] for source in self._operands(node)]
        if opcode == "tuple":
            return tuple(sources)
        if any(isinstance(source, tuple) for source in sources):
            raise NotRepresentable(f"{self.describe(node)} reads a tuple; only a kernel's result may be one")
        if opcode == "parameter" and arguments is not None:
            return arguments[int(self.features[node, column.PARAMETER_NUMBER])]
        if opcode == "fusion":
            root = self._called(node)
            return self.flatten(root, self._arguments(node, root, sources))
        self.instructions.append(self._instruction(node, sources))
        return len(self.instructions) - 1

    def _arguments(self, node: int, root: int, sources: list[int]) -> dict[int, int]:
        """What each parameter of a called computation stands for: the source of its shape, in order among equals."""
        parameters = sorted(
            (int(self.features[inner, column.PARAMETER_NUMBER]), inner)
            for inner in self._in_order(root)
            if self.opcodes[inner] == "parameter"
        )
        left = list(sources)
        found = {}
        for number, inner in parameters:
            shape = self._shape(inner)
            alike = [s for s in left if _shape_of(self.instructions[s]) == shape] or [
                s for s in sources if _shape_of(self.instructions[s]) == shape
            ]
            if not alike:
                raise NotRepresentable(
                    f"{self.describe(node)}: none of its operands has the shape of parameter {number} of what it calls"
                )
            found[number] = alike[0]
            if alike[0] in left:
                left.remove(alike[0])
        return found

    def _shape(self, node: int) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
        row = self.features[node]
        places = np.flatnonzero(row[column.TYPE : column.TYPE + len(TYPES)])
        dtype = TYPES[places[0]] if len(places) == 1 else "unknown"
        if dtype not in ELEMENT_BYTES:
            raise NotRepresentable(
                f"{self.describe(node)} has the element type {dtype}; supported: {', '.join(ELEMENT_BYTES)}"
            )
        dimensions = listed(row, column.SHAPE)
        if prod(dimensions) != row[column.SHAPE_PRODUCT]:
            raise NotRepresentable(
                f"{self.describe(node)}: its extents {list(dimensions)} are empty, dynamic or more than {LONGEST_LIST}"
            )
        layout = tuple(row[column.LAYOUT : column.LAYOUT + len(dimensions)].tolist())
        if sorted(layout) != list(range(len(dimensions))):
            raise NotRepresentable(
                f"{self.describe(node)}: the layout {list(layout)} is no order of its {len(dimensions)} dimensions"
            )
        return dtype, dimensions, layout

    def _instruction(self, node: int, sources: list[int]) -> Instruction:
        row, opcode = self.features[node], self.opcodes[node]
        dtype, dimensions, layout = self._shape(node)
        read = [self.instructions[source] for source in sources]
        plain = Instruction(f"{opcode}.{node}", opcode, dtype, dimensions, layout, tuple(sources))
        complete = DETAILS.get(opcode)
        if complete is not None:
            try:
                plain = complete(row, plain, read)
            except NotRepresentable as error:
                raise NotRepresentable(f"{self.describe(node)}: {error}") from None
        if opcode in ("reduce", "reduce-window", "select-and-scatter"):
            called = [source for source in self.reads[node] if self.is_root(source)]
            plain = replace(plain, reducer=self.opcodes[called[0]] if called else "")
        return plain


def _shape_of(instruction: Instruction) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    return instruction.dtype, instruction.dimensions, instruction.layout


def _reachable(program: Program) -> Program:
    """The program without what its output does not depend on."""
    needed = [False] * len(program.instructions)
    needed[program.outputs[0]] = True
    for index in reversed(range(len(needed))):
        if needed[index]:
            for operand in program.instructions[index].operands:
                needed[operand] = True
    place = (np.cumsum(needed) - 1).tolist()
    instructions = tuple(
        instruction.replace(operands=tuple(place[operand] for operand in instruction.operands))
        for instruction, kept in zip(program.instructions, needed, strict=True)
        if kept
    )
    return program.replace(instructions=instructions, outputs=(place[program.outputs[0]],))


def _with_weights(program: Program) -> Program:
    """Parameters that every path to the result reads through a convolution's second operand are weights."""
    other = [False] * len(program.instructions)
    other[program.outputs[0]] = True
    for index in reversed(range(len(other))):
        instruction = program.instructions[index]
        for position, operand in enumerate(instruction.operands):
            if other[index] and not (instruction.opcode == "convolution" and position == 1):
                other[operand] = True

    def role(index: int, instruction: Instruction) -> Role:
        return "" if instruction.opcode != "parameter" else ("input" if other[index] else "weight")

    return program.replace(
        instructions=tuple(one.replace(role=role(index, one)) for index, one in enumerate(program.instructions))
    )
