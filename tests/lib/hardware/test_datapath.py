"""Quantities of a datapath, against the public figures of TPU-v3 and by hand."""

import pytest

from lib.hardware.datapath import (
    datapath_from_spec,
    double_buffered_bytes,
    on_chip_bytes,
    peak_flops_per_s,
    ridge_flops_per_byte,
    vector_lanes_of_core,
)
from tests.datapath_examples import TPU_V3_SPEC, tpu_v3


def test_tpu_v3_is_123_teraflops_at_137_flops_a_byte():
    core = tpu_v3()
    assert core.dram_bytes_per_s == 450e9
    assert 2 * peak_flops_per_s(core) == pytest.approx(123e12, rel=0.003)  # FAST section 4.1
    assert ridge_flops_per_byte(core) == pytest.approx(137, rel=0.003)
    assert vector_lanes_of_core(core) == 1024


def test_tiles_live_in_the_global_buffer_where_there_is_one():
    assert on_chip_bytes(tpu_v3()) == (16 * 2**20,) * 4
    assert double_buffered_bytes(tpu_v3()) == (8 * 2**20,) * 4


def test_without_a_global_buffer_tiles_live_in_l1_of_all_pes():
    assert on_chip_bytes(tpu_v3(global_buffer_bytes=0)) == (2 * 65536,) * 4
    private = tpu_v3(global_buffer_bytes=0, l1_config="private")
    assert on_chip_bytes(private) == (131072, 32768, 65536, 32768)


def test_without_a_global_buffer_l2_is_l1_times_its_multipliers():
    changes = {"global_buffer_bytes": 0, "l2_input_multiplier": 2, "l2_weight_multiplier": 4, "l2_output_multiplier": 8}
    inputs, weights, outputs = 2 * 16384 * 2, 2 * 32768 * 4, 2 * 16384 * 8
    whole = inputs + weights + outputs
    assert on_chip_bytes(tpu_v3(l2_config="private", **changes)) == (whole, inputs, weights, outputs)
    assert on_chip_bytes(tpu_v3(l2_config="shared", **changes)) == (whole,) * 4


def test_spec_with_wrong_keys_is_refused_with_their_names():
    spec = TPU_V3_SPEC | {"pes": 2}
    del spec["pes_x"]
    with pytest.raises(ValueError, match=r"missing keys \['pes_x'\], unknown keys \['pes'\]"):
        datapath_from_spec(spec)


def test_spec_with_an_unknown_choice_names_the_choices():
    with pytest.raises(ValueError, match="dram_kind: 'ddr4' is not one of gddr6, hbm2"):
        datapath_from_spec(TPU_V3_SPEC | {"dram_kind": "ddr4"})
