"""Datapaths for tests: TPU-v3 and a toy of round numbers."""

from lib.hardware.datapath import Datapath, datapath_from_spec

TPU_V3_SPEC = {
    "clock_hz": 0.94e9, "cores": 2, "pes_x": 2, "pes_y": 1, "systolic_rows": 128, "systolic_columns": 128,
    "vector_lanes": 512, "l1_config": "shared", "l1_input_bytes": 16384, "l1_weight_bytes": 32768,
    "l1_output_bytes": 16384, "l2_config": "disabled", "l2_input_multiplier": 1, "l2_weight_multiplier": 1,
    "l2_output_multiplier": 1, "global_buffer_bytes": 16 * 2**20, "dram_kind": "hbm2", "dram_channels": 32,
    "dram_bytes_per_s": 900e9, "number_format": "bfloat16", "depthwise_mapping": "diagonal", "vector_path": "direct",
    "array_efficiency": 1.0, "register_sublanes": 8, "register_lanes": 128,
    "native_batch": 64,
}  # fmt: skip


def tpu_v3(**changes) -> Datapath:
    """One core of TPU-v3, spec keys changed as given."""
    return datapath_from_spec(TPU_V3_SPEC | changes)


def toy(**changes) -> Datapath:
    """1 GHz, one 128 x 128 array, 128 lanes, 100 GB/s, 16 MiB."""
    numbers = {"clock_hz": 1e9, "cores": 1, "pes_x": 1, "vector_lanes": 128, "dram_bytes_per_s": 100e9}
    return datapath_from_spec(TPU_V3_SPEC | numbers | changes)
