"""FLOPs and bytes against pencil and paper."""

import dataclasses

from lib.fusion import default_fusion, group
from lib.program.extraction import extract, kernel_work
from lib.program.program import ConvolutionDimensions, DotDimensions
from lib.program.simplify import simplify
from lib.program.work import program_work
from tests.lib.program.program_examples import NHWC, Writer, dense, padded_convolution, window


def test_dense():
    work = program_work(dense(batch=2))
    assert work["flops"] == 2 * 2 * 32 * 10
    # The reduction reads 20 elements, the subtraction makes 20.
    assert work["vector_ops"] == 40
    assert work["transcendentals"] == 0
    assert work["weight_bytes"] == 32 * 10 * 4
    assert work["input_bytes"] == 2 * 32 * 4
    assert work["output_bytes"] == 2 * 10 * 4
    # dot 20, reduce 2, subtract 20 elements of four bytes
    assert work["activation_bytes"] == 42 * 4


def test_convolution_counts_padding():
    # 2 x 4 x 4 outputs of 16 features, each 3 x 3 x 3 multiply-accumulates
    assert program_work(padded_convolution(batch=2))["flops"] == 2 * (2 * 4 * 4 * 16) * 27


def test_depthwise_convolution():
    # 5 x 5 taps for each of 2 x 8 x 8 x 32 outputs: one input feature a group
    numbers = ConvolutionDimensions(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2), feature_groups=32)
    w = Writer()
    root = w.add(
        "convolution", (2, 8, 8, 32), w.input(2, 8, 8, 32), w.weight(5, 5, 1, 32),
        window=window(5, low=2, high=2), convolution=numbers,
    )  # fmt: skip
    assert program_work(w.program(root))["flops"] == 2 * (2 * 8 * 8 * 32) * 25


def test_weight_gradient_with_batch_groups():
    # Depthwise 3x3 gradient: for each of 3 x 3 x 32 results a sum over 8 x 8 positions of 2 samples.
    numbers = ConvolutionDimensions(3, 0, (1, 2), 0, 3, (1, 2), 2, 3, (0, 1), batch_groups=32)
    w = Writer()
    root = w.add(
        "convolution", (3, 3, 1, 32), w.input(2, 8, 8, 32), w.input(2, 8, 8, 32),
        window=window(8, low=1, high=1), convolution=numbers,
    )  # fmt: skip
    assert program_work(w.program(root))["flops"] == 2 * (3 * 3 * 32) * (8 * 8 * 2)


def test_pooling_and_transcendentals():
    w = Writer()
    pool = w.add("reduce-window", (4, 4), w.input(8, 8), w.constant(0.0), reducer="add", window=window(2, 2))
    work = program_work(w.program(w.add("tanh", (4, 4), pool)))
    assert work["vector_ops"] == 16 * 4 + 16
    assert work["transcendentals"] == 16


def test_grouped_convolution():
    # 3 groups of 4 input and 6 output features: each of 2 x 5 x 5 x 18 results contracts 3 x 3 taps of 4 features.
    numbers = dataclasses.replace(NHWC, feature_groups=3)
    w = Writer()
    root = w.add(
        "convolution", (2, 5, 5, 18), w.input(2, 5, 5, 12), w.weight(3, 3, 4, 18),
        window=window(3, low=1, high=1), convolution=numbers,
    )  # fmt: skip
    assert flops(w.program(root)) == 2 * (2 * 5 * 5 * 18) * 9 * 4


def test_transposed_convolution_counts_the_zeros_between_pixels():
    # 4 x 4 to 8 x 8 with stride 2: each of 2 x 8 x 8 x 4 results contracts 3 x 3 taps of 16 features.
    w = Writer()
    root = w.add(
        "convolution", (2, 8, 8, 4), w.input(2, 4, 4, 16), w.weight(3, 3, 16, 4),
        window=window(3, low=1, high=2, base=2), convolution=NHWC,
    )  # fmt: skip
    assert flops(w.program(root)) == 2 * (2 * 8 * 8 * 4) * 9 * 16


def test_convolution_without_pixels():
    numbers = ConvolutionDimensions(0, 1, (), 0, 1, (), 0, 1, ())
    w = Writer()
    root = w.add("convolution", (2, 8), w.input(2, 32), w.weight(32, 8), convolution=numbers)
    assert flops(w.program(root)) == 2 * 2 * 8 * 32


def test_dot_with_two_batch_and_two_contracted_dimensions():
    numbers = DotDimensions((1, 4), (3, 1), (0, 2), (0, 2))
    w = Writer()
    root = w.add("dot", (2, 3, 5, 7), w.input(2, 4, 3, 5, 6), w.weight(2, 6, 3, 4, 7), dot=numbers)
    assert flops(w.program(root)) == 2 * (2 * 3 * 5 * 7) * (4 * 6)


def test_sums_over_middle_dimensions_and_scalars():
    w = Writer()
    total = w.add("reduce", (2, 5), w.input(2, 3, 4, 5), w.constant(0.0), axes=(1, 2), reducer="add")
    scalar = w.add("reduce", (), total, w.constant(0.0), axes=(0, 1), reducer="add")
    work = program_work(w.program(w.add("exponential", (), scalar)))
    assert work["vector_ops"] == 2 * 3 * 4 * 5 + 2 * 5 + 1
    assert work["transcendentals"] == 1
    assert work["output_bytes"] == 4


def test_a_program_that_returns_its_input_does_nothing():
    w = Writer()
    x = w.input(3, 4)
    program = w.program(x, x)
    assert program_work(program) == {
        "flops": 0, "vector_ops": 0, "transcendentals": 0, "weight_bytes": 0, "input_bytes": 48, "output_bytes": 96,
        "activation_bytes": 0,
    }  # fmt: skip
    found = extract(program, group(program, default_fusion(program)))
    assert found.kernels.number == len(found.executions) == len(found.occurrence_edge) == 0


def test_integers_keep_their_size_under_bfloat16():
    w = Writer()
    ids, mask, x = w.input(8, dtype="s32"), w.input(8, dtype="pred"), w.input(8)
    chosen = w.add("select", (8,), mask, w.add("convert", (8,), ids), x)
    work = program_work(simplify(w.program(chosen), "bfloat16"))
    assert work["input_bytes"] == 8 * (4 + 1 + 2)
    assert work["output_bytes"] == 8 * 2


def flops(program) -> int:
    """Of the program, and, which must be the same, of its kernels."""
    found = extract(program, group(program, default_fusion(program)))
    counted = program_work(program)["flops"]
    assert found.executions @ kernel_work(found.kernels).flops == counted
    return counted
