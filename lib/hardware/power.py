"""Thermal design power of a whole chip: a power virus keeps every component busy every cycle.

FAST section 6.1: "TDP" is the power of a power virus; the paper's own constants are not published. Ours are
in `schemas/presets/power_area.yaml`.
"""

from typing import Any, NamedTuple

from lib.hardware.area import chip_area, chip_pes, l1_bytes, l2_bytes
from lib.hardware.datapath import ELEMENT_BYTES, datapath_from_spec, mesh_bytes_per_cycle
from schemas.power_area import PowerAreaModel, power_area_constants

KIB, MIB = 2**10, 2**20
ACCESS_BYTES = 8
"""Bytes of the 64-bit access that memory energies are given for."""
PICO = 1e-12


class Power(NamedTuple):
    """W by component, whole chip."""

    systolic_arrays: float
    vector_units: float
    l1: float
    l2: float
    global_buffer: float
    dram: float
    leakage: float

    @property
    def total(self) -> float:
        """W"""
        return sum(self)


def chip_power(datapath: dict[str, Any], model: PowerAreaModel) -> Power:
    """Power-virus W of the chip that a resolved `datapath:` describes (bytes, Hz, bytes/s; chip level)."""
    constant = power_area_constants(model).values()
    pes, clock = chip_pes(datapath), datapath["clock_hz"]
    macs = pes * datapath["systolic_rows"] * datapath["systolic_columns"]
    buffer_bytes = datapath["global_buffer_bytes"]
    buffer_energy = (
        constant["buffer_energy_at_16mib_pj"] * (buffer_bytes / (16 * MIB)) ** constant["buffer_energy_exponent"]
    )
    buffer_rate = datapath["cores"] * mesh_bytes_per_cycle(datapath_from_spec(datapath)) * clock / ACCESS_BYTES
    dram_rate = datapath["dram_bytes_per_s"] / ACCESS_BYTES
    return Power(
        systolic_arrays=macs * clock * constant["mac_energy_pj"] * PICO,
        vector_units=pes * datapath["vector_lanes"] * clock * constant["vector_lane_energy_pj"] * PICO,
        l1=pes * clock * _energy_per_cycle_pj(datapath, l1_bytes(datapath), datapath["l1_config"], constant) * PICO,
        l2=pes * clock * _energy_per_cycle_pj(datapath, l2_bytes(datapath), datapath["l2_config"], constant) * PICO,
        global_buffer=buffer_rate * buffer_energy * PICO,
        dram=dram_rate * constant[f"{datapath['dram_kind']}_energy_pj"] * PICO,
        leakage=chip_area(datapath, model).total * constant["leakage_w_per_mm2"],
    )


def _energy_per_cycle_pj(
    datapath: dict[str, Any], sizes: tuple[int, int, int], config: str, constant: dict[str, float]
) -> float:
    """pJ a cycle of one PE's memory level when it feeds its array at full rate.

    A cycle reads one input a row and one weight a column and exchanges partial sums with every column. An
    access of a shared memory costs what a memory of the whole size costs.
    """
    if config == "disabled":
        return 0.0
    element = ELEMENT_BYTES[datapath["number_format"]]
    rows, columns = datapath["systolic_rows"], datapath["systolic_columns"]
    traffic = (element * rows, element * columns, constant["output_bytes_per_column"] * columns)
    energy = 0.0
    for size, moved_bytes in zip(sizes, traffic, strict=True):
        capacity = sum(sizes) if config == "shared" else size
        energy += moved_bytes / ACCESS_BYTES * _sram_access_pj(capacity, constant)
    return energy


def _sram_access_pj(capacity_bytes: int, constant: dict[str, float]) -> float:
    """pJ of a 64-bit access of a small memory."""
    slope = "sram_energy_exponent" if capacity_bytes > 8 * KIB else "sram_energy_exponent_below_8kib"
    return constant["sram_energy_at_8kib_pj"] * (capacity_bytes / (8 * KIB)) ** constant[slope]
