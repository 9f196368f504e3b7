"""What L1 lets an array do, by hand, and what is left for reuse."""

import numpy as np
import pytest

from lib.cost.pe_memory import fits_on_pe, longest_chunk, usable_array, with_empty_cells
from lib.schedule.schedules import INPUT_STATIONARY, OUTPUT_STATIONARY, WEIGHT_STATIONARY
from tests.lib.cost.random_kernels import EDGE, TPU_V3

KIB = 1024
PRIVATE = TPU_V3._replace(l1_shared=False, l1_input_bytes=64 * KIB, l1_weight_bytes=80 * KIB, l1_output_bytes=96 * KIB)
DATAFLOWS = (WEIGHT_STATIONARY, OUTPUT_STATIONARY, INPUT_STATIONARY)


def test_weights_that_do_not_fit_in_l1_shrink_the_array():
    # 8 KiB hold 2 x 16 columns x 128 rows of bfloat16: an eighth of the columns.
    small = TPU_V3._replace(l1_input_bytes=2048, l1_weight_bytes=4096, l1_output_bytes=2048)
    assert usable_array(small, WEIGHT_STATIONARY)[:2] == (128, 16)
    assert usable_array(TPU_V3, WEIGHT_STATIONARY)[:2] == (128, 128)
    tiny = small._replace(l1_input_bytes=16, l1_weight_bytes=16, l1_output_bytes=16)
    assert usable_array(tiny, WEIGHT_STATIONARY)[:2] == (12, 1)


@pytest.mark.parametrize("dataflow", DATAFLOWS)
def test_a_private_l1_serves_the_array_by_the_role_of_what_is_stationary(dataflow):
    # 128 x 128: two folds of bfloat16 are 64 KiB, one of float32 sums is 64 KiB. Half of that serves half the columns.
    needed = ("l1_weight_bytes", "l1_output_bytes", "l1_input_bytes")[dataflow]
    assert usable_array(PRIVATE, dataflow)[:2] == (128, 128)
    assert usable_array(PRIVATE._replace(**{needed: 32 * KIB}), dataflow)[:2] == (128, 64)
    others = {name: 64 for name in ("l1_weight_bytes", "l1_output_bytes", "l1_input_bytes") if name != needed}
    assert usable_array(PRIVATE._replace(**others), dataflow)[:2] == (128, 128)
    assert usable_array(PRIVATE._replace(l1_shared=True, **others), dataflow)[:2] == (128, 128)


def test_what_the_fold_leaves_is_kept_for_reuse():
    # Registers: 32 of 512 lanes of float32 = 64 KiB, for sums.
    assert usable_array(PRIVATE, WEIGHT_STATIONARY)[2:6] == (64 * KIB, 16 * KIB, 96 * KIB + 64 * KIB, 0)
    assert usable_array(PRIVATE, INPUT_STATIONARY)[2:6] == (80 * KIB, 0, 96 * KIB + 64 * KIB, 0)
    assert usable_array(PRIVATE, OUTPUT_STATIONARY)[2:6] == (64 * KIB, 80 * KIB, 32 * KIB + 64 * KIB, 0)
    assert usable_array(PRIVATE._replace(l1_shared=True), WEIGHT_STATIONARY)[2:6] == (0, 0, 64 * KIB, 176 * KIB)
    # 32 x 32, 8 KiB shared: two folds of weights are 4 KiB.
    assert usable_array(EDGE, WEIGHT_STATIONARY)[2:6] == (0, 0, 4 * KIB, 4 * KIB)


def test_l2_adds_to_what_is_left():
    l2 = {"l2_input_multiplier": 2, "l2_weight_multiplier": 3, "l2_output_multiplier": 4}
    private = usable_array(PRIVATE._replace(l2_kind=1, **l2), WEIGHT_STATIONARY)
    assert private[2:6] == (3 * 64 * KIB, (16 + 240) * KIB, (5 * 96 + 64) * KIB, 0)
    shared = usable_array(PRIVATE._replace(l2_kind=2, **l2), WEIGHT_STATIONARY)
    assert shared[2:6] == (64 * KIB, 16 * KIB, 160 * KIB, (128 + 240 + 384) * KIB)


def test_the_level_that_holds_the_tiles_keeps_nothing_else():
    alone = PRIVATE._replace(global_buffer_bytes=0)
    assert usable_array(alone, WEIGHT_STATIONARY)[2:6] == (0, 0, 64 * KIB, 0)
    with_l2 = alone._replace(l2_kind=2, l2_input_multiplier=8)
    assert usable_array(with_l2, WEIGHT_STATIONARY) == usable_array(PRIVATE, WEIGHT_STATIONARY)


def test_int8_and_float32_folds_take_a_byte_and_four():
    # 64 KiB: two folds of 128 x 128 float32 need 128 KiB.
    assert usable_array(TPU_V3._replace(element_bytes=4), WEIGHT_STATIONARY)[:2] == (128, 64)
    int8 = usable_array(TPU_V3._replace(element_bytes=1), WEIGHT_STATIONARY)
    assert int8[:2] == (128, 128)
    assert int8.shared_bytes == 32 * KIB


def test_cells_that_a_mapping_leaves_empty_free_memory():
    # 9 taps x 32 channels of a 32 x 32 array: 23 rows of 32 double-buffered bfloat16 cells are free.
    assert with_empty_cells(usable_array(EDGE, WEIGHT_STATIONARY), 9 * 32).shared_bytes == 4 * KIB + 23 * 32 * 4
    private = with_empty_cells(usable_array(PRIVATE, WEIGHT_STATIONARY), 128)
    assert private[2:6] == (64 * KIB, 80 * KIB - 128 * 4, 160 * KIB, 0)
    alone = usable_array(PRIVATE._replace(global_buffer_bytes=0), WEIGHT_STATIONARY)
    assert with_empty_cells(alone, 128)[2:6] == alone[2:6]


def test_chunks_by_hand():
    array = usable_array(EDGE, WEIGHT_STATIONARY)  # 4 KiB of registers for sums, 4 KiB for anything
    assert longest_chunk(array, 0.0, 0.0, 128.0) == 64
    assert longest_chunk(array, 64.0, 0.0, 0.0) == 64
    assert longest_chunk(array, 64.0, 0.0, 128.0) == 8192 / 192
    assert longest_chunk(array, 0.0, 4096.0, 128.0) == 32
    assert longest_chunk(array, 0.0, 4097.0, 128.0) == 0
    assert longest_chunk(array, 0.0, 0.0, 0.0) == np.inf
    assert fits_on_pe(array, 1024.0, 1024.0, 6144.0)
    assert not fits_on_pe(array, 1024.0, 1025.0, 6144.0)
