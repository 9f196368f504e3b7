"""The three designs of FAST's table 5 as resolved `datapath:` entries (sizes in bytes, Hz, bytes/s)."""

KIB, MIB = 2**10, 2**20

_COMMON = {
    "l1_config": "shared", "l2_config": "disabled", "l2_input_multiplier": 1, "l2_weight_multiplier": 1,
    "l2_output_multiplier": 1, "number_format": "bfloat16", "register_sublanes": 8,
}  # fmt: skip

TPU_V3 = _COMMON | {
    "clock_hz": 0.94e9, "cores": 2, "pes_x": 2, "pes_y": 1, "systolic_rows": 128, "systolic_columns": 128,
    "vector_lanes": 512, "l1_input_bytes": 32 * KIB, "l1_weight_bytes": 16 * KIB, "l1_output_bytes": 16 * KIB,
    "global_buffer_bytes": 16 * MIB, "dram_kind": "hbm2", "dram_channels": 32, "dram_bytes_per_s": 900e9,
    "register_lanes": 128, "native_batch": 64,
}  # fmt: skip

FAST_LARGE = _COMMON | {
    "clock_hz": 1e9, "cores": 1, "pes_x": 8, "pes_y": 8, "systolic_rows": 32, "systolic_columns": 32,
    "vector_lanes": 32, "l1_input_bytes": 4 * KIB, "l1_weight_bytes": 2 * KIB, "l1_output_bytes": 2 * KIB,
    "global_buffer_bytes": 128 * MIB, "dram_kind": "gddr6", "dram_channels": 8, "dram_bytes_per_s": 448e9,
    "register_lanes": 32, "native_batch": 8,
}  # fmt: skip

FAST_SMALL = FAST_LARGE | {
    "pes_x": 4, "pes_y": 2, "systolic_rows": 64, "vector_lanes": 64, "global_buffer_bytes": 8 * MIB,
    "register_lanes": 64, "native_batch": 64,
}  # fmt: skip
