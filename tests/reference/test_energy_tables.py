"""Every published or derived constant of the `public` power and area model, worked out again from the printed figures
in `schemas/presets/energy_tables.csv`."""

from math import log

import pandas as pd
import pytest

from schemas.power_area import power_area_constants
from schemas.presets import FOLDER

TABLE = pd.read_csv(FOLDER / "energy_tables.csv", comment="#").set_index("item")
PUBLIC = power_area_constants("public")


def middle(item: str) -> float:
    return (TABLE.loc[item, "low"] + TABLE.loc[item, "high"]) / 2


BUFFER_EXPONENT = log(middle("CMEM 128 MB read") / middle("VMEM 4 MB read")) / log(128 / 4)
EXPECTED = {
    "mac_energy_pj": middle("bf16 multiply") + middle("fp32 add"),
    # 32-bit accesses are half of 64-bit ones.
    "vector_lane_energy_pj": middle("fp32 multiply") + middle("fp32 add") + 3 * middle("SRAM 8 KB") / 2,
    "sram_energy_at_8kib_pj": middle("SRAM 8 KB"),
    "sram_energy_exponent": log(middle("SRAM 1 MB") / middle("SRAM 8 KB")) / log(1024 / 8),
    "sram_energy_exponent_below_8kib": log(middle("SRAM 1 MB") / middle("SRAM 8 KB")) / log(1024 / 8),
    "buffer_energy_at_16mib_pj": 64 * middle("VMEM 4 MB read") * (16 / 4) ** BUFFER_EXPONENT,
    "buffer_energy_exponent": BUFFER_EXPONENT,
    "gddr6_energy_pj": middle("GDDR6"),
    "hbm2_energy_pj": middle("HBM2"),
    "mac_area_um2": middle("int8 MAC area"),
    "buffer_area_mm2_per_mib": middle("CMEM 128 MB area") / 128,
}
"""Constant to its value from the table."""


@pytest.mark.parametrize("name", EXPECTED)
def test_a_constant_equals_its_printed_source(name):
    # Constants are written with three digits.
    assert getattr(PUBLIC, name).value == pytest.approx(EXPECTED[name], rel=6e-3)


def test_no_published_or_derived_constant_is_left_out():
    from_print = {name for name in type(PUBLIC).model_fields if getattr(PUBLIC, name).role in ("published", "derived")}
    assert from_print == set(EXPECTED)


def test_the_power_law_of_small_memories_meets_the_size_between():
    # 32 KB isn't used by the fit: 8.5 pJ are printed, 9.0 come out.
    found = PUBLIC.sram_energy_at_8kib_pj.value * 4**PUBLIC.sram_energy_exponent.value
    assert found == pytest.approx(middle("SRAM 32 KB"), rel=0.06)
