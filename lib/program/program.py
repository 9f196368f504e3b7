"""The tensor program: an HLO graph, flattened, in our own format.

A frontend makes a :class:`Program`; simplification, fusion and kernel extraction read it. Sizes are
concrete for one batch; :meth:`Program.with_batch` gives the same graph for another one, because every
size of a traced model is an affine function of the batch.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

Role = Literal["", "input", "weight"]


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
    """HLO's `dimensions`: broadcast, reduce, transpose, concatenate, reverse."""
    slice_start: tuple[int, ...] = ()
    slice_limit: tuple[int, ...] = ()
    slice_stride: tuple[int, ...] = ()
    padding_low: tuple[int, ...] = ()
    padding_high: tuple[int, ...] = ()
    padding_interior: tuple[int, ...] = ()
    reducer: str = ""
    """Opcode that a reduce, reduce-window or scatter applies: add, maximum, ..."""
    value: tuple[float, ...] | None = None
    """Elements of a small constant (at most 16), row-major; None where unknown or not a constant."""

    @property
    def elements(self) -> int:
        """Number of elements of the result."""
        count = 1
        for extent in self.dimensions:
            count *= extent
        return count


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
    slopes: tuple[Instruction, ...] | None = field(default=None)
    """For each instruction the change of every size with one more sample; None: the batch is fixed."""

    def replace(self, **changes) -> "Program":
        """A copy with some fields changed."""
        return replace(self, **changes)
