"""Limits of a search that a design can be held against without running anything."""

from functools import lru_cache
from typing import Any, NamedTuple

from lib.hardware.area import chip_area
from lib.hardware.power import chip_power
from lib.search.evaluate import LIMIT_MODEL
from schemas.datapath_limits import datapath_problem


class FreeLimits(NamedTuple):
    """The most that a design may take."""

    area_mm2: float
    tdp_w: float

    def keeps(self, spec: dict[str, Any]) -> bool:
        """Whether a resolved datapath can be built and keeps both."""
        return (
            datapath_problem(spec) is None
            and chip_area(spec, LIMIT_MODEL).total <= self.area_mm2
            and design_tdp_w(spec) <= self.tdp_w
        )


def free_limits(baseline: dict[str, Any], limits: dict[str, float]) -> FreeLimits:
    """Of the `limits:` of a search relative to the resolved datapath of its baseline."""
    return FreeLimits(
        limits["area_ratio"] * chip_area(baseline, LIMIT_MODEL).total,
        limits["tdp_ratio"] * chip_power(baseline, LIMIT_MODEL).total,
    )


def design_tdp_w(spec: dict[str, Any]) -> float:
    """TDP of a resolved datapath in W; the latest ones are remembered."""
    return _tdp_w(tuple(spec.items()))


@lru_cache(maxsize=1024)
def _tdp_w(items: tuple[tuple[str, Any], ...]) -> float:
    return chip_power(dict(items), LIMIT_MODEL).total
