"""How much a figure of ours depends on constants that are known only within a range."""

from collections.abc import Callable
from typing import Any, NamedTuple

from lib.cost.simulator_constants import SimulatorConstants

BOX = tuple(SimulatorConstants(dram_efficiency=share) for share in (0.87, 1.00))
"""Corners of the range. DRAM efficiency: calibration figures of the paper disagree between 0.87 and 1.00."""


class Spread(NamedTuple):
    """A value with its range over the box."""

    ours: float
    low: float
    high: float


def spread(value: Callable[..., float], *arguments: Any) -> Spread:
    """`value(*arguments, constants)` with the simulator's constants, and its least and most over those and the corners
    of the box."""
    ours = float(value(*arguments, SimulatorConstants()))
    others = [float(value(*arguments, constants)) for constants in BOX]
    return Spread(ours, min(ours, *others), max(ours, *others))
