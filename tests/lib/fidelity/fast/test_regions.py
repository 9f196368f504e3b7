"""FAST's regions and byte conventions on programs that can be checked with pencil and paper (bfloat16, batch 2)."""

import pytest

from lib.fidelity.fast.conventions import figure_3_bytes, fused_bytes, table_5_bytes
from lib.fidelity.fast.regions import fast_regions
from tests import program_examples
from tests.lib.program.program_examples import NHWC, Writer, window
from tests.program_examples import Sketch

PIXELS = 2 * 8 * 8


def test_squeeze_excite_is_part_of_the_depthwise_region():
    expand, depthwise, project = fast_regions(program_examples.squeeze_excite())
    assert [region.kind for region in (expand, depthwise, project)] == ["convolution", "depthwise", "convolution"]
    assert [region.producer for region in (expand, depthwise, project)] == [-1, 0, 1]
    # 3x3 taps a channel; squeeze and excite are 16 x 4 and 4 x 16 products for each of two samples.
    assert depthwise.flops == 2 * (PIXELS * 16 * 9 + 2 * 2 * 16 * 4)
    assert depthwise.weight_bytes == 2 * (9 * 16 + 16 + 2 * 16 * 4)
    assert depthwise.squeezed_bytes == depthwise.output_bytes == PIXELS * 16 * 2


def test_bytes_of_squeeze_excite_by_convention():
    """By hand: expand reads 4 and writes 16 channels, depthwise 16 and 16, project 16 and 8."""
    regions = fast_regions(program_examples.squeeze_excite())
    weights = 2 * (4 * 16 + (9 * 16 + 16 + 2 * 16 * 4) + (16 * 8 + 8))
    activations = PIXELS * 2 * (4 + 16 + 16 + 16 + 16 + 8)
    assert sum(map(table_5_bytes, regions)) == activations + weights
    assert sum(map(figure_3_bytes, regions)) == activations + weights + 3 * PIXELS * 2 * 16
    assert fused_bytes(regions) == PIXELS * 2 * (4 + 8) + weights
    assert fused_bytes(regions, pinned_weights=True) == PIXELS * 2 * (4 + 8)


def test_the_other_side_of_a_skip_connection_costs_a_read_in_figure_3_only():
    left, right = fast_regions(program_examples.residual())[-2:]
    size = 2 * 4 * 4 * 16 * 2
    assert (left.residual_bytes, right.residual_bytes) == (0, size)
    assert left.output_bytes == right.output_bytes == size
    assert figure_3_bytes(right) - table_5_bytes(right) == size


def test_softmax_takes_passes():
    """Largest; exponential and sum; division: each reads the scores, all but the first write them."""
    largest, exponential, division = fast_regions(program_examples.softmax())
    scores = 4 * 32 * 2
    assert [region.kind for region in (largest, exponential, division)] == ["pass"] * 3
    assert [region.input_bytes for region in (largest, exponential, division)] == [scores] * 3
    assert [region.output_bytes for region in (largest, exponential, division)] == [4 * 2, scores, scores]


def test_softmax_after_a_product_moves_the_scores_six_times():
    """FAST's three-pass softmax between two products: write, read, write, read, write, read."""
    s = Sketch()
    scores = s.dot(s.input(16, 8), s.input(16, 8), (16, 32), (1, 1))
    spread = s.broadcast(s.reduce(scores, (1,)), (16, 32), (0,))
    exponential = s.op("exponential", s.op("subtract", scores, spread))
    shares = s.op("divide", exponential, s.broadcast(s.reduce(exponential, (1,)), (16, 32), (0,)))
    regions = fast_regions(s.program(s.dot(shares, s.input(32, 8), (16, 8), (1, 0))))
    size = 16 * 32 * 2
    transfers = sum((region.input_bytes == size) + (region.output_bytes == size) for region in regions)
    assert (len(regions), transfers) == (4, 6)


def test_both_operands_of_a_product_of_activations_are_read():
    (region,) = fast_regions(program_examples.attention())
    assert region.input_bytes == region.second_bytes == 2 * 16 * 4 * 8 * 2
    assert region.flops == 2 * 2 * 4 * 16 * 16 * 8


def test_a_pooling_window_joins_the_region_of_what_it_reads():
    w = Writer()
    source, weights = w.input(2, 8, 8, 3), w.weight(1, 1, 3, 4)
    convolution = w.add("convolution", (2, 8, 8, 4), source, weights, window=window(1), convolution=NHWC)
    pooled = w.add("reduce-window", (2, 4, 4, 4), convolution, w.constant(0.0), window=window(2, 2), reducer="maximum")
    (region,) = fast_regions(w.program(pooled))
    assert region.output_bytes == 2 * 4 * 4 * 4 * 4


@pytest.mark.parametrize("program", program_examples.all_programs(), ids=lambda program: program.instructions[-1].name)
def test_regions_come_after_what_makes_their_input(program):
    regions = fast_regions(program)
    assert all(region.producer < place for place, region in enumerate(regions))
    assert all(region.output_bytes > 0 for region in regions)
