"""A batch split conserves work: twice the samples are twice the work of the kernels, however the network looks."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lib.fusion.default_kernels import default_kernels
from lib.program.batch import TRACE_BATCHES, affine_program
from lib.program.kernel_work import kernel_work
from lib.program.program import Program
from lib.program.simplify import simplify
from tests.program_examples import Sketch

LAYERS = ("convolution", "depthwise", "grouped", "transposed", "swish", "residual", "attention")


@st.composite
def networks(draw):
    """A function from batch to a network of random layers on an image; channels are multiples of 4."""
    size = draw(st.integers(4, 9))
    channels = 4 * draw(st.integers(1, 4))
    layers = draw(st.lists(st.tuples(st.sampled_from(LAYERS), st.integers(1, 3), st.integers(1, 4)), max_size=6))

    def at(batch: int) -> Program:
        s = Sketch()
        x = s.input(batch, size, size, channels)
        for kind, number, width in layers:
            x = _layer(s, x, kind, number, 4 * width)
        pooled = s.reduce(x, (1, 2))
        classes = s.dot(pooled, s.weight(s.shape(x)[3], 10), (batch, 10), (1, 0))
        return s.program(s.op("tanh", classes)).replace(batch=batch)

    return at


def _layer(s: Sketch, x: int, kind: str, number: int, width: int) -> int:
    batch, height, _, channels = s.shape(x)
    if kind == "convolution":  # `number` is the stride
        out = (height - 1) // number + 1
        return s.convolution(x, s.weight(3, 3, channels, width), (batch, out, out, width), stride=number, pad=(1, 1))
    if kind == "depthwise":
        return s.depthwise(x)
    if kind == "grouped":
        weights = s.weight(1, 1, channels // 4, width)
        return s.convolution(x, weights, (batch, height, height, width), groups=4)
    if kind == "transposed":  # `number` zeros between inputs, less one
        out = (height - 1) * number + 1
        return s.convolution(x, s.weight(3, 3, channels, width), (batch, out, out, width), base=number, pad=(1, 1))
    if kind == "swish":
        return s.swish(x)
    if kind == "residual":
        return s.op("add", x, s.pointwise(s.swish(x), channels))
    scores = s.dot(x, x, (batch, height, height, height), (3, 3), ((0, 1), (0, 1)))
    return s.dot(scores, x, (batch, height, height, channels), (3, 2), ((0, 1), (0, 1)))


@settings(max_examples=60, deadline=None)
@given(network=networks(), batch=st.integers(1, 5))
def test_twice_the_batch_is_twice_the_work(network, batch):
    program = simplify(affine_program(*map(network, TRACE_BATCHES)), "bfloat16")
    single, double = (default_kernels(program.with_batch(b)) for b in (batch, 2 * batch))
    once, twice = kernel_work(single.kernels), kernel_work(double.kernels)
    assert double.executions @ twice.flops == 2 * (single.executions @ once.flops)
    assert (double.executions @ twice.vector_ops).sum() == 2 * (single.executions @ once.vector_ops).sum()
    assert double.executions @ twice.bytes_written == 2 * (single.executions @ once.bytes_written)
