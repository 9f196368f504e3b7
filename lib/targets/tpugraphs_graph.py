"""A graph of TpuGraphs' tile files as a :class:`Program`: one flat computation, fusions written out.

What the files do not hold: the order of an instruction's operands (they are sorted and de-duplicated), values of
constants, contracted dimensions of a dot, more than two dimensions of a slice or pad. Operands are put in order by
their shapes; where shapes say nothing the order has no bearing on cost.
"""

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from lib.program.program import ELEMENT_BYTES, ConvolutionDimensions, Instruction, Program, Role, Window
from lib.targets import tpugraphs_columns as column
from lib.targets.tpugraphs_columns import LONGEST_LIST, OPCODES, TYPES


class NotRepresentable(ValueError):
    """What a kernel of ours can't express, in words."""


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
        dimensions = _list(row, column.SHAPE)
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


def _list(row: np.ndarray, first: int) -> tuple[int, ...]:
    """A list of positive numbers without the zeros that fill it up."""
    entries = row[first : first + LONGEST_LIST].tolist()
    return tuple(entries[: next((place for place, entry in enumerate(entries) if entry == 0), LONGEST_LIST)])


def _shape_of(instruction: Instruction) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    return instruction.dtype, instruction.dimensions, instruction.layout


def _count(row: np.ndarray, first: int, count: int) -> tuple[int, ...]:
    return tuple(row[first : first + count].tolist())


def _window(row: np.ndarray) -> Window | None:
    size = _list(row, column.WINDOW_SIZE)
    if not size:
        return None
    reversal = _count(row, column.REVERSAL, len(size))
    return Window(
        size=size,
        stride=_count(row, column.WINDOW_STRIDE, len(size)),
        padding_low=_count(row, column.WINDOW_LOW, len(size)),
        padding_high=_count(row, column.WINDOW_HIGH, len(size)),
        window_dilation=_count(row, column.WINDOW_DILATION, len(size)),
        base_dilation=_count(row, column.BASE_DILATION, len(size)),
        reversal=reversal if any(reversal) else (),
    )


def _broadcast(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    return replace(plain, axes=_count(row, column.DIMENSIONS, len(read[0].dimensions)))


def _every_axis(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    return replace(plain, axes=_count(row, column.DIMENSIONS, len(plain.dimensions)))


def _one_axis(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    return replace(plain, axes=_count(row, column.DIMENSIONS, 1))


def _reduce(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    first, initial = _largest_first(plain, read)
    axes = _count(row, column.DIMENSIONS, len(first.dimensions) - len(plain.dimensions))
    kept = tuple(extent for dimension, extent in enumerate(first.dimensions) if dimension not in axes)
    if kept != plain.dimensions:
        raise NotRepresentable(f"reducing {list(axes)} of {list(first.dimensions)} gives {list(kept)}, not its shape")
    return replace(plain, axes=axes, operands=_ordered(plain, read, [first, initial]))


def _reduce_window(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    return replace(plain, window=_window(row), operands=_ordered(plain, read, [*_largest_first(plain, read)]))


def _pad(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    rank = len(plain.dimensions)
    low = high = (0,) * rank
    if rank <= column.LONGEST_SLICE:
        low, high = _count(row, column.PADDING_LOW, rank), _count(row, column.PADDING_HIGH, rank)
    return replace(
        plain, padding_low=low, padding_high=high, padding_interior=(0,) * rank,
        operands=_ordered(plain, read, [*_largest_first(plain, read)]),
    )  # fmt: skip


def _slice(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    rank = len(plain.dimensions)
    if rank <= column.LONGEST_SLICE:
        start, stride, limit = (
            _count(row, first, rank) for first in (column.SLICE_START, column.SLICE_STRIDE, column.SLICE_LIMIT)
        )
        return replace(plain, slice_start=start, slice_stride=stride, slice_limit=limit)
    if row[column.SLICE_STRIDE_PRODUCT] != 1:
        raise NotRepresentable("the strides of a slice of more than two dimensions are not in the file")
    return replace(plain, slice_start=(0,) * rank, slice_stride=(1,) * rank, slice_limit=plain.dimensions)


def _bitcast(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    """A bitcast relabels what lies in memory: a reshape where both sides lie row-major or alike. Otherwise a parameter
    is taken to have the new shape from the start."""
    source = read[0]
    if source.element_bytes != plain.element_bytes:
        raise NotRepresentable("it changes the size of an element")
    same = source.dimensions == plain.dimensions and _in_memory(source) == _in_memory(plain)
    if same or all(_in_memory(one) == sorted(_in_memory(one), reverse=True) for one in (source, plain)):
        return plain
    if source.opcode == "parameter":
        return replace(plain, opcode="parameter", operands=())
    raise NotRepresentable("it gives the dimensions of a computed value another meaning")


def _in_memory(instruction: Instruction) -> list[int]:
    """Dimensions above 1 from minor to major."""
    return [dimension for dimension in instruction.layout if instruction.dimensions[dimension] > 1]


def _convolution(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    spatial = len(plain.dimensions) - 2
    if spatial > column.LONGEST_SPATIAL:
        raise NotRepresentable(f"{spatial} spatial dimensions; the file names {column.LONGEST_SPATIAL}")
    batch, feature = int(row[column.OUTPUT_BATCH]), int(row[column.OUTPUT_FEATURE])
    numbers = ConvolutionDimensions(
        input_batch=int(row[column.INPUT_BATCH]),
        input_feature=int(row[column.INPUT_FEATURE]),
        input_spatial=_count(row, column.INPUT_SPATIAL, spatial),
        kernel_input_feature=int(row[column.KERNEL_INPUT_FEATURE]),
        kernel_output_feature=int(row[column.KERNEL_OUTPUT_FEATURE]),
        kernel_spatial=_count(row, column.KERNEL_SPATIAL, spatial),
        output_batch=batch,
        output_feature=feature,
        # Not in the file; the other dimensions in their order, as XLA writes them.
        output_spatial=tuple(d for d in range(len(plain.dimensions)) if d not in (batch, feature)),
        feature_groups=max(1, int(row[column.FEATURE_GROUPS])),
        batch_groups=max(1, int(row[column.BATCH_GROUPS])),
    )
    window = _window(row) if spatial else None
    pairs = [(read[0], read[0])] if len(read) == 1 else [(read[0], read[1]), (read[1], read[0])]
    for pair in pairs:
        if _convolves(numbers, window, plain, *pair):
            return replace(plain, convolution=numbers, window=window, operands=_ordered(plain, read, [*pair]))
    raise NotRepresentable("neither order of its operands fits its dimension numbers and its shape")


def _convolves(
    numbers: ConvolutionDimensions,
    window: Window | None,
    result: Instruction,
    source: Instruction,
    weights: Instruction,
) -> bool:
    """Whether the shapes agree (OpenXLA's operation semantics, ConvWithGeneralPadding)."""
    rank = len(result.dimensions)
    if len(source.dimensions) != rank or len(weights.dimensions) != rank:
        return False
    if window is not None and len(window.size) != rank - 2:
        return False
    agree = (
        source.dimensions[numbers.input_feature]
        == weights.dimensions[numbers.kernel_input_feature] * numbers.feature_groups,
        source.dimensions[numbers.input_batch] == result.dimensions[numbers.output_batch] * numbers.batch_groups,
        weights.dimensions[numbers.kernel_output_feature] == result.dimensions[numbers.output_feature],
    )
    if not all(agree):
        return False
    for position in range(rank - 2):
        assert window is not None
        size = window.size[position]
        if weights.dimensions[numbers.kernel_spatial[position]] != size:
            return False
        extent = source.dimensions[numbers.input_spatial[position]]
        padded = (extent - 1) * window.base_dilation[position] + 1
        padded += window.padding_low[position] + window.padding_high[position]
        reach = (size - 1) * window.window_dilation[position] + 1
        steps = (padded - reach) // window.stride[position] + 1
        if steps != result.dimensions[numbers.output_spatial[position]]:
            return False
    return True


def _select_and_scatter(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    """The array of which the windows are, the gradients, the initial value."""
    arrays = [one for one in read if one.dimensions]
    pooled = [one for one in arrays if one.dimensions == plain.dimensions]
    if len(arrays) != 2 or len(read) != 3 or not pooled:
        raise NotRepresentable("its operands are not an array of its shape, gradients and a scalar")
    gradients = next(one for one in arrays if one is not pooled[0])
    initial = next(one for one in read if not one.dimensions)
    ordered = _ordered(plain, read, [pooled[0], gradients, initial])
    return replace(plain, window=_window(row), operands=ordered)


def _dynamic(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    """The largest array, the update of a dynamic-update-slice, then the offsets."""
    return replace(plain, operands=_ordered(plain, read, sorted(read, key=lambda one: one.elements, reverse=True)))


def _unknown(row: np.ndarray, plain: Instruction, read: list[Instruction]) -> Instruction:
    raise NotRepresentable(f"the dimensions that a {plain.opcode} works along are not in the file")


def _largest_first(plain: Instruction, read: list[Instruction]) -> tuple[Instruction, Instruction]:
    """Operand and initial value or padding: the array and the scalar."""
    if len(read) != 2 or min(len(one.dimensions) for one in read) > 0:
        raise NotRepresentable("its operands are not one array and one scalar")
    first, second = sorted(read, key=lambda one: len(one.dimensions), reverse=True)
    return first, second


def _ordered(plain: Instruction, read: list[Instruction], wanted: list[Instruction]) -> tuple[int, ...]:
    return tuple(plain.operands[next(p for p, one in enumerate(read) if one is instruction)] for instruction in wanted)


DETAILS: dict[str, Callable[[np.ndarray, Instruction, list[Instruction]], Instruction]] = {
    "broadcast": _broadcast,
    "transpose": _every_axis,
    "reverse": _one_axis,
    "concatenate": _one_axis,
    "iota": _one_axis,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "pad": _pad,
    "slice": _slice,
    "bitcast": _bitcast,
    "convolution": _convolution,
    "select-and-scatter": _select_and_scatter,
    "dynamic-slice": _dynamic,
    "dynamic-update-slice": _dynamic,
    "dot": _unknown,
    "gather": _unknown,
    "scatter": _unknown,
    "sort": _unknown,
}
"""What an opcode's instruction holds beyond its shape."""


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
