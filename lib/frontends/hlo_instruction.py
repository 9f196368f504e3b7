"""One instruction of an HLO module (protocol buffer) as an :class:`Instruction`, without operands.

Field names: xla/service/hlo.proto and xla/xla_data.proto of OpenXLA.
"""

import math
from typing import Any

import numpy as np

from lib.frontends.errors import FrontendError
from lib.program.program import (
    ELEMENT_BYTES,
    LARGEST_INTEGER,
    LARGEST_VALUE,
    ConvolutionDimensions,
    DotDimensions,
    Indexing,
    Instruction,
    Window,
    row_major,
)

LITERAL_FIELDS = {
    "pred": "preds", "s32": "s32s", "s64": "s64s", "u32": "u32s", "u64": "u64s", "f32": "f32s", "f64": "f64s",
}  # fmt: skip
"""Literal types that are lists of numbers in the protocol buffer."""
LITERAL_BYTES = {"s8": np.int8, "u8": np.uint8, "s16": np.int16, "u16": np.uint16, "f16": np.float16}
"""Literal types that are little-endian bytes there."""


def instruction_of(proto: Any, name: str, where: str, shape: Any = None) -> Instruction:
    """The instruction without operands, of the shape given or else its own.

    Raises FrontendError, opening with `where`, for unsupported shapes, but for empty ones, which a program may name
    as long as no output needs them.
    """
    dtype, dimensions, layout = _shape(shape or proto.shape, where)
    return Instruction(
        name=name,
        opcode=proto.opcode,
        dtype=dtype,
        dimensions=dimensions,
        layout=layout,
        window=_window(proto.window) if proto.window.dimensions else None,
        convolution=_convolution(proto) if proto.opcode == "convolution" else None,
        dot=_dot(proto.dot_dimension_numbers) if proto.opcode == "dot" else None,
        axes=tuple(proto.dimensions),
        slice_start=tuple(d.start for d in proto.slice_dimensions),
        slice_limit=tuple(d.limit for d in proto.slice_dimensions),
        slice_stride=tuple(d.stride for d in proto.slice_dimensions),
        padding_low=tuple(d.edge_padding_low for d in proto.padding_config.dimensions),
        padding_high=tuple(d.edge_padding_high for d in proto.padding_config.dimensions),
        padding_interior=tuple(d.interior_padding for d in proto.padding_config.dimensions),
        comparison=proto.comparison_direction,
    )


def indexing_of(proto: Any, indices_rank: int) -> Indexing:
    """What the dimensions of a gather or scatter mean, for indices of that rank."""
    if proto.opcode == "gather":
        numbers = proto.gather_dimension_numbers
        window, collapsed, indexed = numbers.offset_dims, numbers.collapsed_slice_dims, numbers.start_index_map
        batch = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    else:
        numbers = proto.scatter_dimension_numbers
        window, collapsed = numbers.update_window_dims, numbers.inserted_window_dims
        indexed = numbers.scatter_dims_to_operand_dims
        batch = numbers.input_batching_dims, numbers.scatter_indices_batching_dims
    vector = (numbers.index_vector_dim,) if numbers.index_vector_dim < indices_rank else ()
    return Indexing(tuple(window), tuple(collapsed), tuple(indexed), tuple(batch[0]), tuple(batch[1]), vector)


def literal_values(proto: Any, instruction: Instruction) -> tuple[float, ...] | None:
    """Elements of a constant; one value where all are equal; None where unknown or more than LARGEST_VALUE."""
    literal, dtype = proto.literal, instruction.dtype
    if dtype in LITERAL_FIELDS:
        elements = np.array(getattr(literal, LITERAL_FIELDS[dtype]))
    elif dtype == "bf16":
        elements = (np.frombuffer(literal.bf16s, dtype="<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        elements = np.frombuffer(getattr(literal, f"{dtype}s"), dtype=LITERAL_BYTES[dtype])
    if elements.size != instruction.elements:
        return None
    if elements.size > 1 and (elements == elements[0]).all():
        return (float(elements[0]),)
    if elements.size > LARGEST_VALUE:
        return None
    return tuple(float(element) for element in elements)


def _shape(shape: Any, where: str) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    dtype = _type_name(shape.element_type)
    if dtype.startswith("c"):
        raise FrontendError(
            f"{where}: complex numbers (element type '{dtype}') are not supported; write the real and the imaginary"
            " part as two real tensors"
        )
    if dtype not in ELEMENT_BYTES:
        raise FrontendError(
            f"{where}: the element type '{dtype}' is not supported; use one of {', '.join(ELEMENT_BYTES)}"
        )
    dimensions = tuple(shape.dimensions)
    if any(extent < 0 for extent in dimensions):
        raise FrontendError(
            f"{where}: its shape {_in_words(shape)} is dynamic without a bound; every extent must be known: give the"
            " workload an input_shape, or the tensors of the model a fixed size"
        )
    if any(shape.is_dynamic_dimension):
        raise FrontendError(
            f"{where}: its shape {_in_words(shape)} is dynamic (only the largest extents are known); every extent must"
            " be known: give the workload an input_shape, or pad to the largest size in the model"
        )
    size = math.prod(dimensions) * ELEMENT_BYTES[dtype]
    if size > LARGEST_INTEGER:
        raise FrontendError(
            f"{where}: its {size} bytes (shape {list(dimensions)}) are more than a 64-bit integer counts"
            f" ({LARGEST_INTEGER}); make the tensor smaller"
        )
    minor_to_major = tuple(shape.layout.minor_to_major)
    return dtype, dimensions, minor_to_major or row_major(len(dimensions))


def _in_words(shape: Any) -> str:
    """`[2, <=8, ?]`: an extent, a bound, nothing known."""
    dynamic = list(shape.is_dynamic_dimension) or [False] * len(shape.dimensions)
    extents = [
        "?" if extent < 0 else f"<={extent}" if open_ else str(extent)
        for extent, open_ in zip(shape.dimensions, dynamic, strict=True)
    ]
    return f"[{', '.join(extents)}]"


def _type_name(number: int) -> str:
    from tensorflow.compiler.xla import xla_data_pb2

    return xla_data_pb2.PrimitiveType.Name(number).lower()


def _window(window: Any) -> Window:
    dimensions = window.dimensions
    reversal = tuple(int(d.window_reversal) for d in dimensions)
    return Window(
        size=tuple(d.size for d in dimensions),
        stride=tuple(d.stride for d in dimensions),
        padding_low=tuple(d.padding_low for d in dimensions),
        padding_high=tuple(d.padding_high for d in dimensions),
        window_dilation=tuple(d.window_dilation or 1 for d in dimensions),
        base_dilation=tuple(d.base_dilation or 1 for d in dimensions),
        reversal=reversal if any(reversal) else (),
    )


def _convolution(proto: Any) -> ConvolutionDimensions:
    numbers = proto.convolution_dimension_numbers
    return ConvolutionDimensions(
        input_batch=numbers.input_batch_dimension,
        input_feature=numbers.input_feature_dimension,
        input_spatial=tuple(numbers.input_spatial_dimensions),
        kernel_input_feature=numbers.kernel_input_feature_dimension,
        kernel_output_feature=numbers.kernel_output_feature_dimension,
        kernel_spatial=tuple(numbers.kernel_spatial_dimensions),
        output_batch=numbers.output_batch_dimension,
        output_feature=numbers.output_feature_dimension,
        output_spatial=tuple(numbers.output_spatial_dimensions),
        feature_groups=max(proto.feature_group_count, 1),
        batch_groups=max(proto.batch_group_count, 1),
    )


def _dot(numbers: Any) -> DotDimensions:
    return DotDimensions(
        left_contracting=tuple(numbers.lhs_contracting_dimensions),
        right_contracting=tuple(numbers.rhs_contracting_dimensions),
        left_batch=tuple(numbers.lhs_batch_dimensions),
        right_batch=tuple(numbers.rhs_batch_dimensions),
    )
