"""An instruction as a line of HLO text, for people to read: what it computes, not every attribute that XLA has."""

from collections.abc import Sequence

from lib.program.program import ConvolutionDimensions, DotDimensions, Instruction, Window


def instruction_text(instruction: Instruction, names: Sequence[str]) -> str:
    """E.g. `%sum = bf16[8,128]{1,0} add(%left, %right)`; `names`: of all instructions of the program."""
    shape = f"{instruction.dtype}[{_listed(instruction.dimensions)}]"
    layout = f"{{{_listed(instruction.layout)}}}" if instruction.layout else ""
    operands = ", ".join(f"%{names[operand]}" for operand in instruction.operands)
    line = f"%{instruction.name} = {shape}{layout} {instruction.opcode}({operands or _value(instruction)})"
    return ", ".join([line, *_attributes(instruction)])


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _value(instruction: Instruction) -> str:
    """What stands between the brackets of an instruction without operands."""
    if instruction.value is not None:
        numbers = ", ".join(f"{number:g}" for number in instruction.value)
        return numbers if not instruction.dimensions else f"{{{numbers}}}"
    return instruction.role


def _attributes(instruction: Instruction) -> list[str]:
    found = [f"dimensions={{{_listed(instruction.axes)}}}"] if instruction.axes else []
    if instruction.window is not None:
        found.append(f"window={{{_window(instruction.window)}}}")
    if instruction.convolution is not None:
        found.append(_convolution(instruction.convolution))
    if instruction.dot is not None:
        found += _dot(instruction.dot)
    if instruction.slice_limit:
        triples = zip(instruction.slice_start, instruction.slice_limit, instruction.slice_stride, strict=True)
        ranges = [f"[{start}:{limit}" + (f":{step}]" if step != 1 else "]") for start, limit, step in triples]
        found.append(f"slice={{{', '.join(ranges)}}}")
    elif instruction.padding_low:
        found.append(f"padding={_padding(instruction)}")
    if instruction.reducer:
        found.append(f"to_apply={instruction.reducer}")
    if instruction.comparison:
        found.append(f"direction={instruction.comparison}")
    return found


def _window(window: Window) -> str:
    """As XLA writes it: parts that do nothing are left out."""
    parts = [("size", window.size, None), ("stride", window.stride, 1)]
    parts += [("lhs_dilate", window.base_dilation, 1), ("rhs_dilate", window.window_dilation, 1)]
    parts += [("rhs_reversal", window.reversal, 0)]
    text = [f"{name}={'x'.join(map(str, values))}" for name, values, idle in parts if set(values) - {idle}]
    if any((*window.padding_low, *window.padding_high)):
        pairs = zip(window.padding_low, window.padding_high, strict=True)
        text.insert(2 if set(window.stride) != {1} else 1, "pad=" + "x".join(f"{low}_{high}" for low, high in pairs))
    return " ".join(text)


def _convolution(dimensions: ConvolutionDimensions) -> str:
    """XLA's `dim_labels`, e.g. b01f_01io->b01f, and groups of more than one."""

    def labels(first: str, at: int, second: str, also: int, spatial: Sequence[int]) -> str:
        letters = {at: first, also: second} | {dimension: str(n) for n, dimension in enumerate(spatial)}
        return "".join(letters[dimension] for dimension in range(len(letters)))

    one = dimensions
    left = labels("b", one.input_batch, "f", one.input_feature, one.input_spatial)
    kernel = labels("i", one.kernel_input_feature, "o", one.kernel_output_feature, one.kernel_spatial)
    out = labels("b", one.output_batch, "f", one.output_feature, one.output_spatial)
    groups = [("feature_group_count", one.feature_groups), ("batch_group_count", one.batch_groups)]
    return ", ".join([f"dim_labels={left}_{kernel}->{out}", *(f"{name}={n}" for name, n in groups if n != 1)])


def _dot(dimensions: DotDimensions) -> list[str]:
    parts = {
        "lhs_batch_dims": dimensions.left_batch,
        "lhs_contracting_dims": dimensions.left_contracting,
        "rhs_batch_dims": dimensions.right_batch,
        "rhs_contracting_dims": dimensions.right_contracting,
    }
    return [f"{name}={{{_listed(numbers)}}}" for name, numbers in parts.items() if numbers]


def _padding(instruction: Instruction) -> str:
    """XLA's low_high_interior by dimension."""
    interior = instruction.padding_interior or (0,) * len(instruction.padding_low)
    triples = zip(instruction.padding_low, instruction.padding_high, interior, strict=True)
    return "x".join(f"{low}_{high}" + (f"_{within}" if within else "") for low, high, within in triples)
