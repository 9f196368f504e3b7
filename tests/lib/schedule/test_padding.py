"""What a kernel costs where loops are cut into equal parts only, by hand and against the padded form."""

import numpy as np
import pytest

from lib.cost.matrix_unit import fastest_mapping, largest_divisor, split_evenly, split_over_pes, without_padding
from lib.cost.pe_memory import usable_array
from lib.cost.simulator_constants import STREAMS_ALONE, SimulatorConstants
from lib.program.kernel_builder import KernelsBuilder
from lib.schedule.padding import best_schedules_by_padding, even_tiles
from lib.schedule.schedules import (
    INPUT_STATIONARY,
    OUTPUT_STATIONARY,
    WEIGHT_STATIONARY,
    schedules_for_tiles,
)
from tests.kernel_examples import convolution_relu, dot
from tests.lib.cost.random_kernels import EDGE, TPU_V3, random_kernels

EXACT = SimulatorConstants(pads_loops=0, array_timing=STREAMS_ALONE)
PADDED = SimulatorConstants(array_timing=STREAMS_ALONE)


def test_divisors_by_hand():
    assert [largest_divisor(extent, 32) for extent in (144, 80, 37, 32, 20, 361)] == [24, 20, 1, 32, 20, 19]
    # 144 channels on 32 rows: 6 folds of 24; 80: 4 of 20; 37, a prime: 37 folds; what fits is one fold.
    assert [without_padding(extent, 32) // 32 for extent in (144, 80, 37, 64)] == [6, 4, 37, 2]
    assert without_padding(20, 32) == 20


def cycles(dataflow, pixels, out_c, in_c, constants, datapath=TPU_V3, pes=(1, 1)):
    tile = np.array([pixels, 1, 1, out_c, in_c, 1, 1, 1, 1], dtype=np.int64)
    dilation = np.ones(2, dtype=np.uint8)
    split = split_over_pes if constants.pads_loops else split_evenly
    share = split(tile, dilation, 0, 1, *pes)
    array = usable_array(datapath, dataflow)
    return fastest_mapping(dataflow, share, False, True, datapath.depthwise_mapping, array, constants).cycles


@pytest.mark.parametrize(
    ("dataflow", "exact", "padded"),
    [
        # 200 rows and 300 columns on 128 x 128 arrays: 2 x 3 folds either way (100, 100); 127, a prime, is one fold.
        (WEIGHT_STATIONARY, 2 * 3 * 127, 2 * 3 * 127),
        # The pixels lie on columns: 1 fold of 127 and 2 of the contraction, 300 vectors each.
        (INPUT_STATIONARY, 2 * 1 * 300, 2 * 1 * 300),
        (OUTPUT_STATIONARY, 1 * 3 * 200, 1 * 3 * 200),
    ],
)
def test_what_divides_costs_the_same(dataflow, exact, padded):
    assert cycles(dataflow, 127, 300, 200, EXACT) == exact
    assert cycles(dataflow, 127, 300, 200, PADDED) == padded


@pytest.mark.parametrize(
    ("dataflow", "exact", "padded"),
    [
        # A contraction of 131, a prime: 131 folds of one row in place of 2; 3 folds of columns, 50 vectors.
        (WEIGHT_STATIONARY, 131 * 3 * 50, 2 * 3 * 50),
        (INPUT_STATIONARY, 131 * 1 * 300, 2 * 1 * 300),
        # Output-stationary streams it.
        (OUTPUT_STATIONARY, 1 * 3 * 131, 1 * 3 * 131),
    ],
)
def test_a_prime_contraction_leaves_rows_empty(dataflow, exact, padded):
    assert cycles(dataflow, 50, 300, 131, EXACT) == exact
    assert cycles(dataflow, 50, 300, 131, PADDED) == padded


def test_pes_that_do_not_divide_stay_idle():
    # 7 pixels over 4 PEs: one PE does them all; 12 channels over 8: 6 PEs do 2 each.
    tile = np.array([7, 1, 1, 12, 64, 1, 1, 1, 1], dtype=np.int64)
    dilation = np.ones(2, dtype=np.uint8)
    assert split_evenly(tile, dilation, 0, 1, 4, 8)[:2] == (7, 2)
    assert split_over_pes(tile, dilation, 0, 1, 4, 8)[:2] == (2, 2)
    # The contraction, 9 taps x 63 channels over 4 x 8 PEs: a tap each, and of the 3 PEs a tap 3 share the channels.
    window = np.array([7, 1, 1, 12, 63, 3, 3, 1, 1], dtype=np.int64)
    assert split_evenly(window, dilation, 3, 3, 4, 8)[2:4] == (63 // 3, 1)
    assert split_over_pes(window, dilation, 3, 3, 4, 8)[2:4] == (63 // 3, 1)
    # Over 2 x 2 PEs: 3 of them would take 3 taps each, which 4 don't.
    assert split_evenly(window, dilation, 3, 3, 2, 2)[2:4] == (63, 3)


def test_even_tiles_divide_their_loops():
    builder = KernelsBuilder()
    builder.add(convolution_relu(batch=6, height=28, width=28, out_c=200, in_c=60))
    kernels = builder.build()
    rows = schedules_for_tiles(
        np.zeros(3, dtype=np.int32),
        np.array([[4, 28, 20, 128, 60, 3, 3, 1], [3, 28, 15, 100, 60, 3, 3, 1], [6, 28, 28, 200, 60, 3, 3, 1]]),
    )
    found = even_tiles(kernels, rows)
    assert found.tile.tolist() == [[3, 28, 14, 100, 60, 3, 3, 1], [6, 28, 28, 200, 60, 3, 3, 1]]


def test_padding_hardly_ever_hurts():
    """A split without rest may lie better on the array than the even shares of all PEs, by a few percent."""
    kernels = random_kernels(np.random.default_rng(7), 24)
    for datapath in (TPU_V3, EDGE):
        without, padded = best_schedules_by_padding(kernels, datapath, limit=32)
        fits = ~np.isnan(without.seconds)
        assert fits.any()
        assert (padded.seconds[fits] <= 1.05 * without.seconds[fits]).all()
        assert padded.seconds[fits].sum() < without.seconds[fits].sum()


def test_padding_pays_where_nothing_divides():
    builder = KernelsBuilder()
    builder.add(dot(rows=4099, columns=1031, contracted=1033))
    builder.add(dot(rows=4096, columns=1024, contracted=1024))
    without, padded = best_schedules_by_padding(builder.build(), TPU_V3, limit=64)
    assert without.seconds[0] > 3 * padded.seconds[0]
    assert without.seconds[1] == pytest.approx(padded.seconds[1], rel=0.02)
