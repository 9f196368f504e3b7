"""Area of a whole chip, from the datapath template's parts.

FAST keeps its area model to itself (section 6.1 names only "analytical models correlated with production
designs"); ours is linear in the number of units and bytes, with the constants of
`schemas/presets/power_area.yaml`.
"""

from typing import Any, NamedTuple

from schemas.power_area import PowerAreaModel, power_area_values

MIB = 2**20
UM2_PER_MM2 = 1e6


class Area(NamedTuple):
    """mm2 by component, whole chip."""

    systolic_arrays: float
    vector_units: float
    l1: float
    l2: float
    global_buffer: float
    dram_interface: float
    fixed: float

    @property
    def total(self) -> float:
        """mm2"""
        return sum(self)


def chip_pes(datapath: dict[str, Any]) -> int:
    """PEs of the whole chip."""
    return datapath["cores"] * datapath["pes_x"] * datapath["pes_y"]


def l1_bytes(datapath: dict[str, Any]) -> tuple[int, int, int]:
    """Bytes of one PE's L1 for inputs, weights and outputs; shared memories are the sum of the three."""
    return datapath["l1_input_bytes"], datapath["l1_weight_bytes"], datapath["l1_output_bytes"]


def l2_bytes(datapath: dict[str, Any]) -> tuple[int, int, int]:
    """Bytes of one PE's L2 for inputs, weights and outputs (FAST table 3: multiples of L1); 0 if disabled."""
    if datapath["l2_config"] == "disabled":
        return 0, 0, 0
    multipliers = ("l2_input_multiplier", "l2_weight_multiplier", "l2_output_multiplier")
    inputs, weights, outputs = (
        size * datapath[name] for size, name in zip(l1_bytes(datapath), multipliers, strict=True)
    )
    return inputs, weights, outputs


def chip_area(datapath: dict[str, Any], model: PowerAreaModel) -> Area:
    """Area in mm2 of the chip that a resolved `datapath:` describes (bytes, Hz, bytes/s; chip level)."""
    return area_with(datapath, power_area_values(model))


def area_with(datapath: dict[str, Any], constant: dict[str, float]) -> Area:
    """The same with constants by name (:class:`schemas.power_area.PowerAreaConstants`)."""
    pes = chip_pes(datapath)
    macs = pes * datapath["systolic_rows"] * datapath["systolic_columns"]
    buffer_bytes = datapath["cores"] * datapath["global_buffer_bytes"]
    return Area(
        systolic_arrays=macs * constant["mac_area_um2"] / UM2_PER_MM2,
        vector_units=pes * datapath["vector_lanes"] * constant["vector_lane_area_um2"] / UM2_PER_MM2,
        l1=pes * sum(l1_bytes(datapath)) / MIB * constant["sram_area_mm2_per_mib"],
        l2=pes * sum(l2_bytes(datapath)) / MIB * constant["sram_area_mm2_per_mib"],
        global_buffer=buffer_bytes / MIB * constant["buffer_area_mm2_per_mib"],
        dram_interface=datapath["dram_bytes_per_s"] / 1e9 * constant[f"{datapath['dram_kind']}_area_mm2_per_gb_per_s"],
        fixed=constant["fixed_area_mm2"],
    )
