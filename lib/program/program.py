"""The tensor program: an HLO graph, flattened, in our own format.

A frontend makes a :class:`Program`; simplification, fusion and kernel extraction read it. Sizes are
concrete for one batch; :meth:`Program.with_batch` gives the same graph for another one, because every
size of a traced model is an affine function of the batch.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

Role = Literal["", "input", "weight"]

ELEMENT_BYTES = {
    "pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "s32": 4, "u32": 4, "s64": 8, "u64": 8,
    "bf16": 2, "f16": 2, "f32": 4, "f64": 8,
}  # fmt: skip
"""Bytes of one element by type: the types that a program may hold."""
SIZE_FIELDS = (
    "dimensions", "slice_start", "slice_limit", "slice_stride", "padding_low", "padding_high", "padding_interior",
)  # fmt: skip
WINDOW_SIZE_FIELDS = ("size", "stride", "padding_low", "padding_high", "window_dilation", "base_dilation")
CONVOLUTION_SIZE_FIELDS = ("feature_groups", "batch_groups")
"""The integers of an instruction that may change with the batch; all others are the same at every batch."""
LOOP_OPCODES = ("loop-state", "loop-counter", "loop-result", "inserted-copy")
"""Ops that stand for parts of loops: an array that each step of a `while` reads and the next one finds changed; a
number that only counts the steps; an array as the last step leaves it; a copy that must be made, because the original
is overwritten or has no buffer (XLA's copy insertion)."""
LARGEST_INTEGER = 2**63 - 1
"""The largest number that arrays of sizes hold (int64)."""
LARGEST_VALUE = 16
"""Constants of at most this many elements carry their values."""


def row_major(rank: int) -> tuple[int, ...]:
    """The layout whose last dimension is the most minor."""
    return tuple(reversed(range(rank)))


class BatchError(ValueError):
    """A program that can't be had at the batch asked for."""


@dataclass(frozen=True, slots=True)
class Window:
    """The sliding window of a convolution, reduce-window or select-and-scatter, one entry a dimension."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    padding_low: tuple[int, ...]
    padding_high: tuple[int, ...]
    window_dilation: tuple[int, ...]
    base_dilation: tuple[int, ...]
    reversal: tuple[int, ...] = ()
    """1 where the window is mirrored (gradients of convolutions); empty: nowhere."""


@dataclass(frozen=True, slots=True)
class ConvolutionDimensions:
    """Which dimension of input, kernel (weights) and output means what."""

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]
    feature_groups: int = 1
    batch_groups: int = 1


@dataclass(frozen=True, slots=True)
class DotDimensions:
    """Contracted and batch dimensions of a dot's two operands."""

    left_contracting: tuple[int, ...]
    right_contracting: tuple[int, ...]
    left_batch: tuple[int, ...] = ()
    right_batch: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Indexing:
    """Which dimension of a gather or scatter means what (OpenXLA operation semantics, Gather and Scatter). The array
    with slices is a gather's result or a scatter's updates; the table is what is read or written at indexed places."""

    window: tuple[int, ...]
    """Dimensions of the array with slices that run within a slice; the others run over the indices."""
    collapsed: tuple[int, ...]
    """Dimensions of the table of which a slice holds one position and which the array with slices lacks."""
    indexed: tuple[int, ...]
    """Dimensions of the table of which the indices say the position."""
    table_batch: tuple[int, ...] = ()
    """Dimensions of the table that go together with `indices_batch` of the indices."""
    indices_batch: tuple[int, ...] = ()
    vector: tuple[int, ...] = ()
    """The dimension of the indices that holds the numbers of one position; none where that is a single number."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One HLO instruction with a single array as its result."""

    name: str
    """Unique within the program."""
    opcode: str
    """The HLO opcode, as in `schemas/presets/op_kinds.yaml`."""
    dtype: str
    """Element type: f32, bf16, s32, pred, ..."""
    dimensions: tuple[int, ...]
    """Extents, major dimension first."""
    layout: tuple[int, ...]
    """Dimension numbers from the most minor to the most major."""
    operands: tuple[int, ...] = ()
    """Indices into `Program.instructions`, all smaller than this instruction's own."""
    role: Role = ""
    """Set for parameters only: what varies between calls (input) and what does not (weight)."""
    window: Window | None = None
    convolution: ConvolutionDimensions | None = None
    dot: DotDimensions | None = None
    indexing: Indexing | None = None
    axes: tuple[int, ...] = ()
    """HLO's `dimensions`: broadcast, reduce, transpose, concatenate, reverse, iota, sort, scan."""
    slice_start: tuple[int, ...] = ()
    slice_limit: tuple[int, ...] = ()
    slice_stride: tuple[int, ...] = ()
    padding_low: tuple[int, ...] = ()
    padding_high: tuple[int, ...] = ()
    padding_interior: tuple[int, ...] = ()
    reducer: str = ""
    """Opcode that a reduce, reduce-window or scatter applies: add, maximum, ...; empty if that is not a single one."""
    body_ops: int = 1
    """Vector operations that a reduce, window or scatter applies at each point of its iteration space, and a sort at
    each element in a step of its network."""
    executions: int = 1
    """How often one of LOOP_OPCODES runs: once a step of its loop, 1 outside of loops. Other ops run as often as what
    they read, see `lib.program.executions`."""
    comparison: str = ""
    """Direction of a compare: EQ, NE, GE, GT, LE, LT."""
    value: tuple[float, ...] | None = None
    """Elements of a small constant (at most 16), row-major; None where unknown or not a constant."""

    @property
    def elements(self) -> int:
        """Number of elements of the result."""
        count = 1
        for extent in self.dimensions:
            count *= extent
        return count

    @property
    def element_bytes(self) -> int:
        """Bytes of one element."""
        return ELEMENT_BYTES[self.dtype]

    @property
    def bytes(self) -> int:
        """Bytes of the result."""
        return self.elements * self.element_bytes

    def replace(self, **changes) -> "Instruction":
        """A copy with some fields changed; itself if none is."""
        if all(getattr(self, name) == value for name, value in changes.items()):
            return self
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Program:
    """A flattened HLO graph in topological order."""

    name: str
    """The workload's id."""
    batch: int
    """The batch that the sizes hold for."""
    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]
    """Indices of the instructions whose results leave the program."""
    carried: tuple[int, ...] = ()
    """Indices of the instructions whose results the next step of a loop reads; kept like outputs."""
    slopes: tuple[Instruction, ...] | None = None
    """For each instruction a copy that holds, in place of every size (SIZE_FIELDS and its like) and of every value,
    its change with one more sample; None: the batch is fixed."""

    def replace(self, **changes) -> "Program":
        """A copy with some fields changed."""
        return replace(self, **changes)

    def with_batch(self, batch: int) -> "Program":
        """The same graph with the sizes of another batch; it keeps its slopes.

        Raises BatchError for a batch below 1, for a program whose batch is fixed, and where a size would vanish.
        """
        if batch == self.batch:
            return self
        if batch < 1:
            raise BatchError(f"program '{self.name}': a batch of {batch} was asked for; it must be at least 1")
        if self.slopes is None:
            raise BatchError(
                f"program '{self.name}' has the fixed batch {self.batch} (it comes from an HLO file) and can't be had"
                f" at batch {batch}; give the workload batch: {self.batch}, or a file traced at batch {batch}"
            )
        more = batch - self.batch
        moved = tuple(
            map_sizes(lambda size, slope: size + more * slope, instruction, slope)
            for instruction, slope in zip(self.instructions, self.slopes, strict=True)
        )
        for instruction in moved:
            if min(instruction.dimensions, default=1) < 1:
                raise BatchError(f"program '{self.name}': '{instruction.name}' has no elements at batch {batch}")
        return self.replace(batch=batch, instructions=moved)


def map_sizes(function: Callable[..., int], *instructions: Instruction) -> Instruction:
    """The first instruction, each of its sizes replaced by `function` of that size in all `instructions`.

    Values of constants go through the same function; they are dropped where one instruction has none.
    """
    first = instructions[0]
    changes: dict = {name: _map_field(function, instructions, name) for name in SIZE_FIELDS if getattr(first, name)}
    if first.window is not None:
        windows = [instruction.window for instruction in instructions]
        changes["window"] = replace(
            first.window, **{name: _map_field(function, windows, name) for name in WINDOW_SIZE_FIELDS}
        )
    if first.convolution is not None:
        groups: dict = {
            name: function(*(getattr(instruction.convolution, name) for instruction in instructions))
            for name in CONVOLUTION_SIZE_FIELDS
        }
        changes["convolution"] = replace(first.convolution, **groups)
    if first.value is not None:
        known = all(instruction.value is not None for instruction in instructions)
        changes["value"] = _map_field(function, instructions, "value") if known else None
    return replace(first, **changes)


def _map_field(function: Callable[..., int], parts, name: str) -> tuple:
    return tuple(function(*sizes) for sizes in zip(*(getattr(part, name) for part in parts), strict=True))
