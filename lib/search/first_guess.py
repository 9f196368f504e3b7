"""What a design may be worth before any trial: arrays that are always busy, or a learned model's prediction
(:mod:`lib.search.learned_guess`)."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from lib.hardware.area import chip_pes
from lib.search.free_limits import design_tdp_w
from lib.search.space import Point, datapath_of


class FirstGuess(Protocol):
    """Guesses the logarithm of a point's value, but for a constant that is the same for all points."""

    def __call__(self, points: Sequence[Point]) -> np.ndarray:
        """float64[n], natural logarithms; larger is better."""


class BusyArrays:
    """The value if the systolic arrays were busy all the time. What is left to learn is how busy they are, which
    varies far less than the value."""

    def __init__(self, objective: str):
        self.objective = objective

    def __call__(self, points: Sequence[Point]) -> np.ndarray:
        """float64[n] of the peak rate in place of queries a second."""
        return np.array([self._one(datapath_of(point)) for point in points])

    def _one(self, spec: dict[str, Any]) -> float:
        macs = chip_pes(spec) * spec["systolic_rows"] * spec["systolic_columns"]
        return log_value(self.objective, macs * spec["clock_hz"], spec)


def log_value(objective: str, queries_per_s: float, spec: dict[str, Any]) -> float:
    """Logarithm of what an objective makes of queries a second on a resolved datapath, but for a constant. The energy
    of a query is taken as TDP over queries a second."""
    if objective == "throughput":
        return math.log(queries_per_s)
    if objective == "latency":
        return math.log(queries_per_s / (spec["cores"] * spec["native_batch"]))
    return math.log(queries_per_s / design_tdp_w(spec))
