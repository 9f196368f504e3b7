"""Forms of matrix ops."""

from dataclasses import replace

import pytest

from lib.program.op_form import FORMS, op_form
from lib.program.program import ConvolutionDimensions, DotDimensions, Instruction
from tests.lib.program.program_examples import NHWC, window


def forms(bits: int) -> set[str]:
    return {name for bit, name in enumerate(FORMS) if bits >> bit & 1}


def array(*dimensions: int) -> Instruction:
    return Instruction("array", "parameter", "f32", dimensions, tuple(reversed(range(len(dimensions)))))


def convolution(numbers: ConvolutionDimensions, mirrored: bool = False) -> Instruction:
    mirror = replace(window(3), reversal=(1, 1) if mirrored else (0, 0))
    return array(2, 8, 8, 16).replace(opcode="convolution", convolution=numbers, window=mirror)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (NHWC, set()),  # [b,0,1,f] x [0,1,i,o] -> [b,0,1,f]
        (replace(NHWC, feature_groups=16), {"feature_groups"}),
        # gradient of the input: [b,0,1,f] x [0,1,o,i] -> [b,0,1,f]
        (replace(NHWC, kernel_input_feature=3, kernel_output_feature=2), {"weights_turned"}),
        # gradient of the weights: [f,0,1,b] x [i,0,1,o] -> [0,1,b,f]
        (
            ConvolutionDimensions(3, 0, (1, 2), 0, 3, (1, 2), 2, 3, (0, 1), batch_groups=16),
            {"source_turned", "weights_turned", "result_turned", "batch_groups"},
        ),
        # channels first: [b,f,0,1] x [o,i,0,1] -> [b,f,0,1]
        (
            ConvolutionDimensions(0, 1, (2, 3), 1, 0, (2, 3), 0, 1, (2, 3)),
            {"source_turned", "weights_turned", "result_turned"},
        ),
    ],
)
def test_forms_of_convolutions(numbers, expected):
    operands = [array(2, 8, 8, 16), array(3, 3, 16, 16)]
    assert forms(op_form(convolution(numbers), operands)) == expected
    assert forms(op_form(convolution(numbers, mirrored=True), operands)) == expected | {"window_mirrored"}


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (DotDimensions((1,), (0,)), set()),  # [rows, contracted] x [contracted, columns]
        (DotDimensions((1,), (1,)), {"weights_turned"}),
        (DotDimensions((0,), (0,)), {"source_turned"}),
        (DotDimensions((0,), (1,)), {"source_turned", "weights_turned"}),
    ],
)
def test_forms_of_dots(numbers, expected):
    dot = array(4, 4).replace(opcode="dot", dot=numbers)
    assert forms(op_form(dot, [array(4, 4), array(4, 4)])) == expected


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (DotDimensions((2,), (1,), (0,), (0,)), set()),
        # attention: [batch, rows, heads, width] on both sides, heads in the middle
        (DotDimensions((3,), (3,), (0, 2), (0, 2)), {"source_turned", "weights_turned"}),
    ],
)
def test_forms_of_dots_with_batches(numbers, expected):
    rank = 3 if numbers.left_batch == (0,) else 4
    operand = array(*range(2, 2 + rank))
    assert forms(op_form(operand.replace(opcode="dot", dot=numbers), [operand, operand])) == expected


def test_other_ops_have_one_form():
    assert op_form(array(4).replace(opcode="add"), [array(4), array(4)]) == 0
