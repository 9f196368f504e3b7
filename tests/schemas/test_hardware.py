"""Hardware variants: presets against the papers' numbers, bases, writing back."""

from schemas.hardware import HARDWARE_PRESETS, study_entry
from schemas.study import Study


def resolved(hardware: dict, id: str) -> dict:
    return Study.model_validate({"hardware": hardware}).resolved_hardware(id)["datapath"]


def test_presets_reach_the_printed_peak_rate():
    """FAST table 5: 123, 131, 32 TFLOPS; TPU-v2 46 TFLOPS (Jouppi et al. 2020)."""
    for preset, printed in {"tpu-v2": 46, "tpu-v3": 123, "fast-large": 131, "fast-small": 32.8}.items():
        d = resolved({"x": {"base": preset}}, "x")
        units = d["cores"] * d["pes_x"] * d["pes_y"] * d["systolic_rows"] * d["systolic_columns"]
        assert abs(2 * units * d["clock_hz"] / 1e12 - printed) < 0.5


def test_presets_have_the_printed_memories():
    """FAST table 5: L1 of 64 and 8 KiB a PE, global buffers of 16, 128 and 8 MiB a core, 900 and 448 GB/s."""
    mib = 1024 * 1024
    for preset, (l1_kib, buffer_mib, gb_per_s) in {
        "tpu-v3": (64, 16, 900),
        "fast-large": (8, 128, 448),
        "fast-small": (8, 8, 448),
    }.items():
        d = resolved({"x": {"base": preset}}, "x")
        assert d["l1_input_bytes"] + d["l1_weight_bytes"] + d["l1_output_bytes"] == l1_kib * 1024
        assert (d["global_buffer_bytes"], d["dram_bytes_per_s"]) == (buffer_mib * mib, gb_per_s * 1e9)


def test_presets_are_complete_and_in_one_order():
    keys = [list(resolved({"x": {"base": preset}}, "x")) for preset in HARDWARE_PRESETS]
    assert all(row == keys[0] for row in keys)
    assert len(keys[0]) == 26


def test_a_base_is_extended_through_other_entries():
    hardware = {
        "edge": {"base": "small", "datapath": {"global_buffer": "2 MiB"}},
        "small": {"base": "tpu-v3", "datapath": {"cores": 1, "global_buffer": "4 MiB"}},
    }
    d = resolved(hardware, "edge")
    assert (d["global_buffer_bytes"], d["cores"], d["clock_hz"]) == (2 * 1024 * 1024, 1, 0.94e9)


def test_an_entry_hides_the_preset_of_its_name():
    hardware = {
        "tpu-v3": {"base": "tpu-v3", "datapath": {"clock": "1 GHz"}},
        "edge": {"base": "tpu-v3"},
    }
    assert resolved(hardware, "tpu-v3")["clock_hz"] == resolved(hardware, "edge")["clock_hz"] == 1e9


def test_a_resolved_datapath_can_be_pasted_back():
    for preset in HARDWARE_PRESETS:
        datapath = resolved({"x": {"base": preset}}, "x")
        assert resolved({"x": study_entry(datapath)}, "x") == datapath
    assert study_entry(resolved({"x": {"base": "fast-small"}}, "x"))["datapath"]["l1_weight"] == "4 KiB"
