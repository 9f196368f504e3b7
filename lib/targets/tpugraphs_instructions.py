"""Instructions of TpuGraphs' tile files: what a node's features say of an instruction beyond its shape."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lib.program.program import ConvolutionDimensions, Instruction, Window
from lib.targets import tpugraphs_columns as column
from lib.targets.tpugraphs_columns import LONGEST_LIST


class NotRepresentable(ValueError):
    """What a kernel of ours can't express, in words."""


def listed(row: np.ndarray, first: int) -> tuple[int, ...]:
    """A list of positive numbers, from column `first` of int64[140] `row`, without the zeros that fill it up."""
    entries = row[first : first + LONGEST_LIST].tolist()
    return tuple(entries[: next((place for place, entry in enumerate(entries) if entry == 0), LONGEST_LIST)])


def _count(row: np.ndarray, first: int, count: int) -> tuple[int, ...]:
    return tuple(row[first : first + count].tolist())


def _window(row: np.ndarray) -> Window | None:
    size = listed(row, column.WINDOW_SIZE)
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
