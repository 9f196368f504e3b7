"""The size of FAST's table 3 and what its points mean."""

import pytest

from lib.hardware.datapath import datapath_from_spec
from lib.search.space import datapath_of, space_from_spec
from schemas.datapath_limits import datapath_problem
from schemas.search_space import TABLE_3 as PRESET
from tests.lib.hardware.designs import FAST_LARGE, FAST_SMALL, KIB, MIB
from tests.lib.search.table_3 import TABLE_3, table_3

LARGE_POINT = {
    "pes_x": 8, "pes_y": 8, "systolic_rows": 32, "systolic_columns": 32, "vector_multiplier": 1,
    "l1_config": "shared", "l1_input_bytes": 2 * KIB, "l1_weight_bytes": 4 * KIB, "l1_output_bytes": 2 * KIB,
    "l2_config": "disabled", "l2_input_multiplier": 1, "l2_weight_multiplier": 1, "l2_output_multiplier": 1,
    "global_buffer_bytes": 128 * MIB, "dram_channels": 8, "native_batch": 8,
}  # fmt: skip


def test_size_of_the_whole_space():
    by_hand = 9**4 * 5 * 2 * 11**3 * 3 * 8**3 * 10 * 4 * 9
    assert table_3().size == by_hand
    assert by_hand == pytest.approx(4.83e13, rel=1e-3)


def test_the_preset_is_the_whole_table():
    assert PRESET == TABLE_3


def test_points_of_table_5_are_the_printed_designs():
    assert datapath_of(LARGE_POINT) == FAST_LARGE
    small = {"pes_x": 4, "pes_y": 2, "systolic_columns": 64, "native_batch": 64}
    assert datapath_of(LARGE_POINT | small | {"global_buffer_bytes": 8 * MIB}) == FAST_SMALL


def test_a_point_is_a_datapath():
    datapath = datapath_from_spec(datapath_of(LARGE_POINT))
    assert datapath.dram_bytes_per_s == 448e9
    assert datapath.cores == 1


def test_multipliers_of_a_disabled_l2_mean_nothing():
    assert datapath_of(LARGE_POINT | {"l2_weight_multiplier": 128}) == FAST_LARGE
    with_l2 = datapath_of(LARGE_POINT | {"l2_config": "shared", "l2_weight_multiplier": 128})
    assert with_l2["l2_weight_multiplier"] == 128


def test_registers_are_never_wider_than_128_lanes():
    wide = datapath_of(LARGE_POINT | {"systolic_columns": 256, "vector_multiplier": 16})
    assert wide["vector_lanes"] == 4096
    assert wide["register_lanes"] == 128


def test_unknown_and_empty_parameters_are_named():
    with pytest.raises(ValueError, match=r"unknown \['pe_x'\]"):
        space_from_spec(TABLE_3 | {"pe_x": [1]})
    with pytest.raises(ValueError, match=r"without values \['pes_y'\]"):
        space_from_spec(TABLE_3 | {"pes_y": []})


def test_l1_has_to_feed_the_array():
    assert datapath_problem(FAST_LARGE) is None
    private = FAST_LARGE | {"l1_config": "private", "l1_output_bytes": KIB}
    assert datapath_problem(private | {"systolic_columns": 128}) is None  # 2 x 128 x 4 B = 1 KiB
    problem = datapath_problem(private | {"systolic_columns": 256})
    assert problem == "l1_output_bytes is 1024 B, a 32 x 256 array needs 2048 B"
    shared = FAST_LARGE | {"l1_input_bytes": KIB, "l1_weight_bytes": KIB, "l1_output_bytes": KIB}
    assert datapath_problem(shared | {"systolic_rows": 256}) is None  # 1024 + 128 + 256 <= 3072
    assert "shared L1 has 3072 B" in datapath_problem(shared | {"systolic_rows": 256, "systolic_columns": 256})
