"""The hardware variants of a shard: one, or all that an entry of the study samples."""

from collections.abc import Mapping
from typing import Any

from lib.hardware.datapath import Datapath, datapath_from_spec

STAND_IN: dict[str, Any] = {
    "clock_hz": 1e9, "cores": 1, "pes_x": 1, "pes_y": 1, "systolic_rows": 1, "systolic_columns": 1, "vector_lanes": 1,
    "l1_config": "shared", "l1_input_bytes": 2**40, "l1_weight_bytes": 2**40, "l1_output_bytes": 2**40,
    "l2_config": "disabled", "l2_input_multiplier": 1, "l2_weight_multiplier": 1, "l2_output_multiplier": 1,
    "global_buffer_bytes": 2**40, "dram_kind": "gddr6", "dram_channels": 1, "dram_bytes_per_s": 1e9,
    "number_format": "float32", "depthwise_mapping": "taps", "vector_path": "direct", "array_efficiency": 1.0,
    "register_sublanes": 1, "register_lanes": 1, "native_batch": 1,
}  # fmt: skip
"""In place of the datapath of a device that is measured and not described: one of everything, and room for all. No
runtime is estimated with it; what features say of it is the same for all rows, and features of tiles are then about
sizes alone."""


def datapaths_of(hardware: Mapping[str, Any]) -> dict[str, Datapath]:
    """Datapath by variant, in order of the ids, from the `hardware` of a shard's resolved entry.

    A sampled entry has `variants`: what each has of its own, beside the `datapath` that they share. A measured entry
    may have no datapath: STAND_IN takes its place, see :func:`has_datapath`.
    """
    common = hardware.get("datapath") or STAND_IN
    variants = hardware.get("variants") or {hardware["id"]: {}}
    return {id: datapath_from_spec(common | variants[id]) for id in sorted(variants)}


def has_datapath(hardware: Mapping[str, Any]) -> bool:
    """Whether the entry says what the hardware is made of, so that models of it can estimate runtimes."""
    return hardware.get("datapath") is not None
