"""One instruction as an operation of StableHLO, in MLIR's generic form.

Names and attributes: the StableHLO specification (openxla/stablehlo, docs/spec.md). What a program does not say is set
to what costs the same; each such choice stands beside the operation.
"""

from collections.abc import Callable, Sequence

from lib.program.dataflow import UnsupportedInstruction
from lib.program.op_kinds import ELEMENTWISE_CLASSES, op_classes_by_opcode
from lib.program.program import ConvolutionDimensions, Indexing, Instruction, Window
from lib.targets.xla_types import EXPONENT_BITS, booleans, constant, integers, listed, padding, tensor, type_of

SAME_ARRAY = ("copy", "inserted-copy", "reshape", "bitcast")
"""Opcodes whose result has the elements of their operand in the same order: nothing to compute where shapes agree."""
REDUCERS = {
    "add": "add", "multiply": "multiply", "maximum": "maximum", "minimum": "minimum", "and": "and", "or": "or",
    "xor": "xor",
}  # fmt: skip
"""What a reduction, reduce-window, scan or scatter may apply, as StableHLO names it."""

Form = tuple[str, str, str]
"""Name, attributes and regions of an operation."""


def operation(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    """Name, attributes (`a = 1, b = 2`) and regions (with the brackets around them, or nothing) of an instruction.

    Operations of several results (sort, reduce on several arrays) have one for each array, see :func:`result_types`.
    Raises UnsupportedInstruction, with the reason alone, for what StableHLO can't say or the program has lost.
    """
    opcode = instruction.opcode
    if opcode in FORMS:
        return FORMS[opcode](instruction, operands)
    if op_classes_by_opcode().get(opcode) in ELEMENTWISE_CLASSES:
        return f"stablehlo.{opcode.replace('-', '_')}", "", ""
    raise UnsupportedInstruction(f"StableHLO has no operation for the op kind '{opcode}'")


def result_types(instruction: Instruction, operands: Sequence[Instruction]) -> list[str]:
    """Types of the operation's results: one, but as many as there are arrays for a sort or reduction on several."""
    arrays = arrays_of(instruction, operands)
    return [tensor(one.dtype, instruction.dimensions) for one in arrays] if arrays else [type_of(instruction)]


def arrays_of(instruction: Instruction, operands: Sequence[Instruction]) -> Sequence[Instruction]:
    """The arrays that a sort or reduction on several arrays works on; none for other instructions."""
    if instruction.opcode == "sort":
        return operands
    if instruction.opcode in ("reduce", "reduce-window") and len(operands) > 2:
        return operands[: len(operands) // 2]
    return ()


def _constant(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.constant", f"value = {constant(instruction)}", ""


def _iota(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.iota", f"iota_dimension = {instruction.axes[0] if instruction.axes else 0} : i64", ""


def _broadcast(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.broadcast_in_dim", f"broadcast_dimensions = {integers(instruction.axes)}", ""


def _reshape(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.reshape", "", ""


def _error_function(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "chlo.erf", "", ""


def _compare(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    if not instruction.comparison:
        raise UnsupportedInstruction("the program has lost the direction of the comparison")
    return "stablehlo.compare", f"comparison_direction = {_direction(instruction.comparison)}", ""


def _reduce_precision(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    # To how many bits is not in the program: bfloat16's.
    exponent, mantissa = EXPONENT_BITS["bf16"]
    return "stablehlo.reduce_precision", f"exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32", ""


def _transpose(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.transpose", f"permutation = {integers(instruction.axes)}", ""


def _reverse(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.reverse", f"dimensions = {integers(instruction.axes)}", ""


def _concatenate(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.concatenate", f"dimension = {instruction.axes[0]} : i64", ""


def _slice(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    bounds = {
        "start_indices": instruction.slice_start,
        "limit_indices": instruction.slice_limit,
        "strides": instruction.slice_stride,
    }
    return "stablehlo.slice", ", ".join(f"{name} = {integers(numbers)}" for name, numbers in bounds.items()), ""


def _pad(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    sizes = {
        "edge_padding_low": instruction.padding_low,
        "edge_padding_high": instruction.padding_high,
        "interior_padding": instruction.padding_interior,
    }
    return "stablehlo.pad", ", ".join(f"{name} = {integers(numbers)}" for name, numbers in sizes.items()), ""


def _dynamic_slice(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.dynamic_slice", f"slice_sizes = {integers(instruction.dimensions)}", ""


def _dynamic_update_slice(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.dynamic_update_slice", "", ""


def _dot(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    numbers = instruction.dot
    assert numbers is not None
    parts = {
        "lhs_batching_dimensions": numbers.left_batch,
        "rhs_batching_dimensions": numbers.right_batch,
        "lhs_contracting_dimensions": numbers.left_contracting,
        "rhs_contracting_dimensions": numbers.right_contracting,
    }
    text = ", ".join(f"{name} = {listed(dimensions)}" for name, dimensions in parts.items() if dimensions)
    return "stablehlo.dot_general", f"dot_dimension_numbers = #stablehlo.dot<{text}>", ""


def _convolution(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    window, numbers = instruction.window, instruction.convolution
    assert numbers is not None
    window = window or Window((), (), (), (), (), ())
    attributes = [
        f"window_strides = {integers(window.stride)}",
        f"padding = {padding(window.padding_low, window.padding_high)}",
        f"lhs_dilation = {integers(window.base_dilation)}",
        f"rhs_dilation = {integers(window.window_dilation)}",
        f"dimension_numbers = {_convolution_dimensions(numbers)}",
        f"feature_group_count = {numbers.feature_groups} : i64",
        f"batch_group_count = {numbers.batch_groups} : i64",
    ]
    if window.reversal:
        attributes.append(f"window_reversal = {booleans(window.reversal)}")
    return "stablehlo.convolution", ", ".join(attributes), ""


def _convolution_dimensions(numbers: ConvolutionDimensions) -> str:
    """E.g. `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`."""

    def labels(first: str, at: int, second: str, also: int, spatial: Sequence[int]) -> str:
        letters = {at: first, also: second} | {dimension: str(n) for n, dimension in enumerate(spatial)}
        return f"[{', '.join(letters[dimension] for dimension in range(len(letters)))}]"

    one = numbers
    left = labels("b", one.input_batch, "f", one.input_feature, one.input_spatial)
    kernel = labels("i", one.kernel_input_feature, "o", one.kernel_output_feature, one.kernel_spatial)
    out = labels("b", one.output_batch, "f", one.output_feature, one.output_spatial)
    return f"#stablehlo.conv<{left}x{kernel}->{out}>"


def _reduce(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    return "stablehlo.reduce", f"dimensions = {integers(instruction.axes)}", _reduction(instruction, operands)


def _reduce_window(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    window = instruction.window
    assert window is not None
    attributes = ", ".join([
        f"window_dimensions = {integers(window.size)}",
        f"window_strides = {integers(window.stride)}",
        f"base_dilations = {integers(window.base_dilation)}",
        f"window_dilations = {integers(window.window_dilation)}",
        f"padding = {padding(window.padding_low, window.padding_high)}",
    ])  # fmt: skip
    return "stablehlo.reduce_window", attributes, _reduction(instruction, operands)


def _scan(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    # Which end it begins at is not in the program: the first.
    rank, axis = len(instruction.dimensions), instruction.axes[0]
    ones, zeros = (1,) * rank, (0,) * rank
    extent = instruction.dimensions[axis]

    def at_axis(numbers: tuple[int, ...], number: int) -> tuple[int, ...]:
        return (*numbers[:axis], number, *numbers[axis + 1 :])

    window = Window(at_axis(ones, extent), ones, at_axis(zeros, extent - 1), zeros, ones, ones)
    return _reduce_window(instruction.replace(window=window), operands)


def _select_and_scatter(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    # What is selected and how it is combined is not in the program: the largest, added (gradient of max pooling).
    window = instruction.window
    assert window is not None
    element = tensor(instruction.dtype, ())
    attributes = ", ".join([
        f"window_dimensions = {integers(window.size)}",
        f"window_strides = {integers(window.stride)}",
        f"padding = {padding(window.padding_low, window.padding_high)}",
    ])  # fmt: skip
    select = _region([element] * 2, [_comparison("GE", "%in0", "%in1", element)], ["%go"], ["tensor<i1>"])
    scatter = _region([element] * 2, [_binary("add", element)], ["%out"], [element])
    return "stablehlo.select_and_scatter", attributes, f"({select}, {scatter})"


def _sort(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    # Its order is not in the program: ascending by the first array, which costs the same.
    types = [tensor(one.dtype, ()) for one in operands for _ in range(2)]
    region = _region(types, [_comparison("LT", "%in0", "%in1", types[0])], ["%go"], ["tensor<i1>"])
    return "stablehlo.sort", f"dimension = {instruction.axes[0]} : i64, is_stable = false", f"({region})"


def _gather(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    numbers = instruction.indexing
    assert numbers is not None
    table, indices = operands
    within = iter([instruction.dimensions[dimension] for dimension in numbers.window])
    single = (*numbers.collapsed, *numbers.table_batch)
    sizes = [1 if dimension in single else next(within) for dimension in range(len(table.dimensions))]
    parts = {
        "offset_dims": numbers.window,
        "collapsed_slice_dims": numbers.collapsed,
        "operand_batching_dims": numbers.table_batch,
        "start_indices_batching_dims": numbers.indices_batch,
        "start_index_map": numbers.indexed,
    }
    attributes = [
        f"dimension_numbers = #stablehlo.gather<{_indexing(parts, numbers, indices)}>",
        f"slice_sizes = {integers(sizes)}",
        "indices_are_sorted = false",
    ]
    return "stablehlo.gather", ", ".join(attributes), ""


def _scatter(instruction: Instruction, operands: Sequence[Instruction]) -> Form:
    numbers = instruction.indexing
    assert numbers is not None
    table, indices, _ = operands
    parts = {
        "update_window_dims": numbers.window,
        "inserted_window_dims": numbers.collapsed,
        "input_batching_dims": numbers.table_batch,
        "scatter_indices_batching_dims": numbers.indices_batch,
        "scatter_dims_to_operand_dims": numbers.indexed,
    }
    attributes = [
        f"scatter_dimension_numbers = #stablehlo.scatter<{_indexing(parts, numbers, indices)}>",
        "indices_are_sorted = false",
        "unique_indices = false",
    ]
    element = tensor(table.dtype, ())
    if not instruction.reducer and instruction.body_ops == 1:  # the update takes the element's place
        region = f"({_region([element] * 2, [], ['%in1'], [element])})"
    else:
        region = _combination(instruction, table.dtype)
    return "stablehlo.scatter", ", ".join(attributes), region


def _indexing(parts: dict[str, tuple[int, ...]], numbers: Indexing, indices: Instruction) -> str:
    vector = numbers.vector[0] if numbers.vector else len(indices.dimensions)
    text = [f"{name} = {listed(dimensions)}" for name, dimensions in parts.items() if dimensions]
    return ", ".join([*text, f"index_vector_dim = {vector}"])


def _reduction(instruction: Instruction, operands: Sequence[Instruction]) -> str:
    """The region of a reduction or reduce-window."""
    arrays = arrays_of(instruction, operands)
    return _choice(instruction, arrays) if len(arrays) > 1 else _combination(instruction, operands[0].dtype)


def _combination(instruction: Instruction, dtype: str) -> str:
    """The region that combines two elements."""
    if instruction.reducer not in REDUCERS:
        raise UnsupportedInstruction(
            f"what it applies to elements ({instruction.reducer or f'{instruction.body_ops} operations'}) is not in the"
            f" program; known: {', '.join(REDUCERS)}"
        )
    element = tensor(dtype, ())
    return f"({_region([element] * 2, [_binary(REDUCERS[instruction.reducer], element)], ['%out'], [element])})"


def _choice(instruction: Instruction, arrays: Sequence[Instruction]) -> str:
    """The region of a reduction on several arrays, which a program has lost: the largest element of the first array
    decides, as in an argmax; what it brings along is chosen with it."""
    types = [tensor(one.dtype, ()) for one in arrays]
    count = len(types)
    lines = [_comparison("GE", "%in0", f"%in{count}", types[0])]
    for number, element in enumerate(types):
        operands = f"%go, %in{number}, %in{count + number}"
        lines.append(f'%out{number} = "stablehlo.select"({operands}) : (tensor<i1>, {element}, {element}) -> {element}')
    return f"({_region(types * 2, lines, [f'%out{number}' for number in range(count)], types)})"


def _region(types: Sequence[str], lines: Sequence[str], results: Sequence[str], result_types: Sequence[str]) -> str:
    arguments = ", ".join(f"%in{number}: {element}" for number, element in enumerate(types))
    returned = f'"stablehlo.return"({", ".join(results)}) : ({", ".join(result_types)}) -> ()'
    return "\n".join(["{", f"    ^bb0({arguments}):", *(f"      {line}" for line in (*lines, returned)), "    }"])


def _binary(name: str, element: str) -> str:
    return f'%out = "stablehlo.{name}"(%in0, %in1) : ({element}, {element}) -> {element}'


def _comparison(direction: str, left: str, right: str, element: str) -> str:
    attribute = f"comparison_direction = {_direction(direction)}"
    return f'%go = "stablehlo.compare"({left}, {right}) <{{{attribute}}}> : ({element}, {element}) -> tensor<i1>'


def _direction(direction: str) -> str:
    return f"#stablehlo<comparison_direction {direction}>"


FORMS: dict[str, Callable[[Instruction, Sequence[Instruction]], Form]] = {
    "constant": _constant,
    "iota": _iota,
    "broadcast": _broadcast,
    "reshape": _reshape,
    "bitcast": _reshape,
    "erf": _error_function,
    "compare": _compare,
    "reduce-precision": _reduce_precision,
    "transpose": _transpose,
    "reverse": _reverse,
    "concatenate": _concatenate,
    "slice": _slice,
    "pad": _pad,
    "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update_slice,
    "dot": _dot,
    "convolution": _convolution,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "scan": _scan,
    "select-and-scatter": _select_and_scatter,
    "sort": _sort,
    "gather": _gather,
    "scatter": _scatter,
}
"""Opcodes that are not written as StableHLO's operation of the same name without attributes."""
