"""FLOPs and bytes against pencil and paper."""

from lib.program.program import ConvolutionDimensions
from lib.program.work import program_work
from tests.lib.program.program_examples import Writer, dense, padded_convolution, window


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
