"""Thermal design power of a whole chip: a power virus keeps every component busy every cycle.

FAST section 6.1: "TDP" is the power of a power virus; the paper's own constants are not published. Ours are
in `schemas/presets/power_area.yaml`.
"""

from typing import Any, NamedTuple

from lib.hardware.area import chip_pes
from lib.hardware.datapath import datapath_from_spec, mesh_bytes_per_cycle
from lib.hardware.energy import energy_rates_with
from schemas.power_area import PowerAreaModel, power_area_values


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
    return power_with(datapath, power_area_values(model))


def power_with(datapath: dict[str, Any], constant: dict[str, float]) -> Power:
    """The same with constants by name (:class:`schemas.power_area.PowerAreaConstants`).

    Every cycle each array multiplies in all cells, reads one input a row and one weight a column and exchanges partial
    sums with every column, all lanes work, and the edges of the mesh and DRAM are busy.
    """
    rates = energy_rates_with(datapath, constant)
    clock = datapath["clock_hz"]
    pes_per_s = chip_pes(datapath) * clock
    rows, columns = datapath["systolic_rows"], datapath["systolic_columns"]
    core = datapath_from_spec(datapath)
    # As Python: handing a datapath to compiled code takes longer than these few products.
    mesh_bytes_per_s = datapath["cores"] * mesh_bytes_per_cycle.py_func(core) * clock
    return Power(
        systolic_arrays=pes_per_s * rows * columns * rates.mac_j,
        vector_units=pes_per_s * datapath["vector_lanes"] * rates.lane_cycle_j,
        l1=pes_per_s * (rows * rates.l1_j[0] + columns * (rates.l1_j[1] + rates.l1_j[2])),
        l2=pes_per_s * (rows * rates.l2_j[0] + columns * (rates.l2_j[1] + rates.l2_j[2])),
        global_buffer=mesh_bytes_per_s * rates.mesh_byte_j,
        dram=datapath["dram_bytes_per_s"] * rates.dram_byte_j,
        leakage=rates.leakage_w,
    )
