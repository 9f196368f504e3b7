"""Cycles of systolic arrays by hand; tests/reference/test_scalesim.py compares them with SCALE-Sim's."""

import numpy as np
import pytest

from lib.cost.matrix_unit import array_cycles, fastest_mapping, split_over_pes
from lib.cost.pe_memory import usable_array
from lib.cost.simulator_constants import FOLDS_APART, FOLDS_OVERLAP, SimulatorConstants
from lib.schedule.schedules import INPUT_STATIONARY, OUTPUT_STATIONARY, WEIGHT_STATIONARY
from tests.lib.cost.random_kernels import EDGE, TPU_V3

CONSTANTS = SimulatorConstants()
ONE_PE = TPU_V3._replace(pes_x=1)


def test_input_stationary_swaps_pixels_and_channels():
    # SCALE-Sim's only input-stationary point: 128^3 on 32 x 32, as weight-stationary.
    assert array_cycles(INPUT_STATIONARY, 1, 4, 128, 128, 128, 32, 32, FOLDS_APART) == 3551
    swapped = array_cycles(WEIGHT_STATIONARY, 1, 3, 70, 500, 90, 32, 16, FOLDS_OVERLAP)
    assert array_cycles(INPUT_STATIONARY, 1, 3, 500, 70, 90, 32, 16, FOLDS_OVERLAP) == swapped


def cycles(tile, in_c, *, datapath=ONE_PE, dot=False, dataflow=WEIGHT_STATIONARY, dilation=(1, 1)) -> int:
    """The fewest over all splits."""
    tile = np.array([*tile, 1], dtype=np.int64)
    dilation = np.array(dilation, dtype=np.uint8)
    few_channels = not dot and in_c < CONSTANTS.packed_in_channels
    array = usable_array(datapath, dataflow)
    found = []
    for axis_x, axis_y in np.ndindex(4 if datapath.pes_x > 1 else 1, 4 if datapath.pes_y > 1 else 1):
        share = split_over_pes(tile, dilation, axis_x, axis_y, datapath.pes_x, datapath.pes_y)
        mapping = fastest_mapping(
            dataflow, share, few_channels, dot, datapath.depthwise_mapping, array, CONSTANTS
        )  # fmt: skip
        found.append(mapping.cycles)
    return min(found)


def test_convolution_takes_a_pass_a_tap():
    # 4 * 28 * 28 pixels; 9 taps x 1 fold of 128 input channels x 2 folds of 256 output channels; fill and drain 253.
    assert cycles((4, 28, 28, 256, 128, 3, 3, 1), 128) == 9 * 2 * 4 * 28 * 28 + 253


def test_code_that_loses_a_quarter_of_the_peak_takes_four_thirds_as_long_on_dense_products_alone():
    compiled = ONE_PE._replace(array_efficiency=0.75)
    assert cycles((4, 28, 28, 256, 128, 3, 3, 1), 128, datapath=compiled) == 9 * 2 * 4 * 28 * 28 * 4 // 3 + 253
    assert cycles((4, 28, 28, 1, 1, 3, 3, 256), 1, datapath=compiled) == 2 * 9 * 4 * 28 * 28 + 253


def test_few_input_channels_share_the_rows():
    # 7 x 7 x 3 = 147 rows in 2 folds instead of 49 passes.
    assert cycles((1, 112, 112, 64, 3, 7, 7, 1), 3) == 2 * 112 * 112 + 253
    assert cycles((1, 112, 112, 64, 16, 7, 7, 1), 16) == 49 * 112 * 112 + 253


def test_depthwise_is_block_diagonal_where_the_datapath_maps_it_so():
    # 256 channels are 2 diagonals of 128; 9 passes each; 4 * 28 * 28 pixels.
    assert cycles((4, 28, 28, 1, 1, 3, 3, 256), 1) == 2 * 9 * 4 * 28 * 28 + 253


def test_a_diagonal_takes_at_most_ten_passes_for_25_taps():
    # 5 x 5: 10 passes instead of 25. 7 x 7 begins a second 25 taps: 20. A grouped convolution of two channels a group,
    # 128 of which are 2 diagonals, takes a pass a tap.
    assert cycles((4, 28, 28, 1, 1, 5, 5, 256), 1) == 2 * 10 * 4 * 28 * 28 + 253
    assert cycles((4, 28, 28, 1, 1, 7, 7, 128), 1) == 20 * 4 * 28 * 28 + 253
    assert cycles((4, 28, 28, 2, 2, 5, 5, 128), 2) == 2 * 25 * 4 * 28 * 28 + 253


def test_few_groups_take_several_pixels_at_once():
    # 32 channels fill a quarter of the diagonal: 4 pixels at once.
    assert cycles((1, 112, 112, 1, 1, 3, 3, 32), 1) == 9 * 112 * 112 // 4 + 253
    # 192 are a full diagonal and 64, which take two pixels at once.
    assert cycles((4, 28, 28, 1, 1, 3, 3, 192), 1) == 9 * 4 * 28 * 28 * 3 // 2 + 253


def test_depthwise_puts_taps_on_rows_where_the_datapath_maps_it_so():
    # 9 taps on 32 rows, 192 channels on 6 folds of 32 columns; fill and drain 61.
    one = EDGE._replace(pes_x=1, pes_y=1)
    assert cycles((4, 28, 28, 1, 1, 3, 3, 192), 1, datapath=one) == 6 * 4 * 28 * 28 + 61


@pytest.mark.parametrize("rows", [64, 65, 128])
def test_the_mapping_of_depthwise_has_no_border_at_a_size(rows):
    """FAST, section 3.2: with taps on rows, 9 of 128 rows of a 128 x 128 array work."""
    taps = ONE_PE._replace(systolic_rows=rows, depthwise_mapping=1)
    tile = (4, 128, 128, 1, 1, 3, 3, 256)
    macs = 4 * 128 * 128 * 9 * 256
    assert macs / (cycles(tile, 1, datapath=taps) * rows * 128) == pytest.approx(9 / rows, rel=0.01)
    diagonal = taps._replace(depthwise_mapping=0)
    assert cycles(tile, 1, datapath=diagonal) == pytest.approx(9 * 4 * 128 * 128 * 256 / min(rows, 128), rel=0.05)


def test_groups_of_a_dot_lie_apart():
    # 12 heads, 384 rows, 64 x 384: one fold of rows, three of columns each.
    assert cycles((384, 1, 1, 384, 64, 1, 1, 12), 64, dot=True) == 12 * 3 * 384 + 253


def test_short_streams_wait_for_the_latch():
    # 8 rows stream through in less than the 128 cycles that latching the next fold takes; 16 x 8 folds.
    assert cycles((8, 1, 1, 1024, 2048, 1, 1, 1), 2048, dot=True) == 16 * 8 * 128 + 253


def test_zeros_of_a_transposed_convolution_are_skipped():
    # 4 x 4 taps at dilation 2: each output pixel sees 2 x 2 of them.
    dense = cycles((1, 16, 16, 64, 64, 2, 2, 1), 64)
    assert cycles((1, 16, 16, 64, 64, 4, 4, 1), 64, dilation=(2, 2)) == dense


def test_pes_split_what_there_is_most_of():
    two = TPU_V3
    # One pixel block of 128 rows latches anyway: the split of the output channels halves the folds.
    assert cycles((64, 1, 1, 1024, 128, 1, 1, 1), 128, datapath=two, dot=True) == 4 * 128 + 253
    # Weight gradients: few outputs, a long contraction, which the PEs halve.
    assert cycles((9, 1, 1, 64, 4096, 1, 1, 1), 4096, datapath=two, dot=True) == 16 * 128 + 253
    # Plenty of pixels, one fold of channels: the pixels are split.
    assert cycles((1, 100, 100, 128, 128, 1, 1, 1), 128, datapath=two) == 5000 + 253


def test_pes_that_split_the_contraction_are_no_more_than_there_are():
    # 8 PEs, 3 taps of 512 channels: 2 PEs a tap, 256 channels each. Nothing else can be split.
    eight = TPU_V3._replace(pes_x=8, pes_y=1)
    assert cycles((1, 1, 1, 1, 512, 1, 3, 1), 512, datapath=eight, dataflow=OUTPUT_STATIONARY) == 256 + 253


def test_no_array_does_more_than_a_product_a_cell():
    # 2 x 2 cells, 2 channels of 25 taps and 100 pixels are 5000 products: no ten passes of 100 pixels, but 13.
    tiny = ONE_PE._replace(systolic_rows=2, systolic_columns=2)
    assert cycles((1, 10, 10, 1, 1, 5, 5, 2), 1, datapath=tiny) == 13 * 100 + 1
