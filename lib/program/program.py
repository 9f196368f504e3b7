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
    axes: tuple[int, ...] = ()
    """HLO's `dimensions`: broadcast, reduce, transpose, concatenate, reverse, iota."""
    slice_start: tuple[int, ...] = ()
    slice_limit: tuple[int, ...] = ()
    slice_stride: tuple[int, ...] = ()
    padding_low: tuple[int, ...] = ()
    padding_high: tuple[int, ...] = ()
    padding_interior: tuple[int, ...] = ()
    reducer: str = ""
    """Opcode that a reduce, reduce-window or scatter applies: add, maximum, ..."""
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
