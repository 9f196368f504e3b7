"""Energy of single events on a datapath: what TDP adds up at full rate and the simulator as often as they happen.

Constants: `schemas/presets/power_area.yaml`.
"""

from typing import Any, NamedTuple

from lib.hardware.area import area_with, l1_bytes, l2_bytes
from schemas.datapath_limits import ELEMENT_BYTES
from schemas.power_area import PowerAreaModel, power_area_values

KIB, MIB = 2**10, 2**20
ACCESS_BYTES = 8
"""Bytes of the 64-bit access that memory energies are given for."""
PICO = 1e-12
MAC_ENERGY = {"bfloat16": 1.0, "int8": 0.10 / 0.59, "float32": 1.69 / 0.59}
"""Of one multiply-accumulate, relative to bfloat16 with float32 sums (0.21 + 0.38 pJ): int8 0.07 + int32 0.03, float32
1.31 + 0.38 (Jouppi et al., "Ten Lessons From Three Generations", ISCA 2021, table 2, 7 nm)."""


class EnergyRates(NamedTuple):
    """Joules an event. L1 and L2: an input, a weight, a partial sum that the array takes or gives; an L2 that there is
    sees all of them, too."""

    mac_j: float
    lane_cycle_j: float
    l1_j: tuple[float, float, float]
    l2_j: tuple[float, float, float]
    mesh_byte_j: float
    """A byte between global buffer and PEs; filling the buffer from DRAM is part of the DRAM's energy."""
    dram_byte_j: float
    leakage_w: float
    """Of the whole chip, whatever happens."""


def energy_rates(datapath: dict[str, Any], model: PowerAreaModel) -> EnergyRates:
    """Of a resolved `datapath:` (bytes, Hz, bytes/s; chip level)."""
    return energy_rates_with(datapath, power_area_values(model))


def energy_rates_with(datapath: dict[str, Any], constant: dict[str, float]) -> EnergyRates:
    """The same with constants by name (:class:`schemas.power_area.PowerAreaConstants`)."""
    size = datapath["global_buffer_bytes"] / (16 * MIB)
    buffer_pj = constant["buffer_energy_at_16mib_pj"] * size ** constant["buffer_energy_exponent"]
    return EnergyRates(
        mac_j=MAC_ENERGY[datapath["number_format"]] * constant["mac_energy_pj"] * PICO,
        lane_cycle_j=constant["vector_lane_energy_pj"] * PICO,
        l1_j=_level(datapath, l1_bytes(datapath), datapath["l1_config"], constant),
        l2_j=_level(datapath, l2_bytes(datapath), datapath["l2_config"], constant),
        mesh_byte_j=buffer_pj / ACCESS_BYTES * PICO,
        dram_byte_j=constant[f"{datapath['dram_kind']}_energy_pj"] / ACCESS_BYTES * PICO,
        leakage_w=area_with(datapath, constant).total * constant["leakage_w_per_mm2"],
    )


def _level(
    datapath: dict[str, Any], sizes: tuple[int, int, int], config: str, constant: dict[str, float]
) -> tuple[float, float, float]:
    """Joules of an input, a weight and a partial sum in one PE's memory level. An access of a shared memory costs what
    a memory of the whole size costs."""
    if config == "disabled":
        return 0.0, 0.0, 0.0
    element = ELEMENT_BYTES[datapath["number_format"]]
    inputs, weights, sums = (
        moved_bytes / ACCESS_BYTES * _access_pj(sum(sizes) if config == "shared" else size, constant) * PICO
        for size, moved_bytes in zip(sizes, (element, element, constant["output_bytes_per_column"]), strict=True)
    )
    return inputs, weights, sums


def _access_pj(capacity_bytes: int, constant: dict[str, float]) -> float:
    """pJ of a 64-bit access of a small memory."""
    slope = "sram_energy_exponent" if capacity_bytes > 8 * KIB else "sram_energy_exponent_below_8kib"
    return constant["sram_energy_at_8kib_pj"] * (capacity_bytes / (8 * KIB)) ** constant[slope]
