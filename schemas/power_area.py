"""The constants of the power and area models: `schemas/presets/power_area.yaml`."""

from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from schemas.base import StrictModel

PRESET = Path(__file__).parent / "presets" / "power_area.yaml"

PowerAreaModel = Literal["public", "fast-fitted"]


class Constant(StrictModel):
    """One number with where it comes from."""

    value: float
    """In `unit`."""
    unit: str
    """Unit of the value."""
    role: Literal["published", "derived", "assumed", "fitted"]
    """published: printed in the source; derived: arithmetic on published numbers; assumed: a choice of ours
    where nothing is published; fitted: chosen to meet the ratios of FAST's table 5."""
    source: str
    """Publication, or the reason for the choice."""


class PowerAreaConstants(StrictModel):
    """Constants of one model. Energies count one access of 64 bits unless their name says otherwise."""

    mac_energy_pj: Constant
    """One bfloat16 multiply with a float32 accumulate."""
    vector_lane_energy_pj: Constant
    """One lane of the vector unit for one cycle, registers and control included."""
    sram_energy_at_8kib_pj: Constant
    """64 bits read from or written to an L1 or L2 memory of 8 KiB."""
    sram_energy_exponent: Constant
    """Energy of an access grows like capacity to this power above 8 KiB."""
    sram_energy_exponent_below_8kib: Constant
    """And like this one below."""
    output_bytes_per_column: Constant
    """Bytes of partial sums that a column of the array exchanges with L1 a cycle."""
    buffer_energy_at_16mib_pj: Constant
    """64 bits read from or written to a global buffer of 16 MiB."""
    buffer_energy_exponent: Constant
    """Energy of an access grows like capacity to this power."""
    gddr6_energy_pj: Constant
    """64 bits to or from GDDR6, device and interface."""
    hbm2_energy_pj: Constant
    """64 bits to or from HBM2, device and interface."""
    leakage_w_per_mm2: Constant
    """Static power by chip area."""
    mac_area_um2: Constant
    """One multiply-accumulate unit of a systolic array."""
    vector_lane_area_um2: Constant
    """One lane of the vector unit."""
    sram_area_mm2_per_mib: Constant
    """L1 and L2 memories."""
    buffer_area_mm2_per_mib: Constant
    """The global buffer."""
    gddr6_area_mm2_per_gb_per_s: Constant
    """Interface and controllers by bandwidth in 1e9 bytes a second."""
    hbm2_area_mm2_per_gb_per_s: Constant
    """Interface and controllers by bandwidth in 1e9 bytes a second."""
    fixed_area_mm2: Constant
    """Host interface, control, management: the same for every chip."""

    def values(self) -> dict[str, float]:
        """Plain numbers by name."""
        return {name: getattr(self, name).value for name in type(self).model_fields}


class PowerAreaFile(StrictModel):
    """The whole preset file."""

    models: dict[PowerAreaModel, PowerAreaConstants]
    """Constants by model name."""


@cache
def power_area_constants(model: PowerAreaModel) -> PowerAreaConstants:
    """Constants of a named model. Raises ValueError naming the known models for another name."""
    models = PowerAreaFile.model_validate(yaml.safe_load(PRESET.read_text(encoding="utf-8"))).models
    if model not in models:
        raise ValueError(f"unknown power and area model {model!r}; known: {', '.join(sorted(models))}")
    return models[model]


@cache
def power_area_values(model: PowerAreaModel) -> dict[str, float]:
    """The same as plain numbers by name; shared, so not to be changed."""
    return power_area_constants(model).values()
