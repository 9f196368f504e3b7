"""What a design may be worth before any trial: its roofline, or what a learned model says
(:mod:`lib.search.learned_guess`)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from lib.cost.simulator_constants import SimulatorConstants
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.program.softmax import Softmax
from lib.residency.program_residency import Variant
from lib.search.bound import LeastWork, least_seconds, least_work
from lib.search.evaluate import softmax_of
from lib.search.free_limits import design_tdp_w
from lib.search.space import Point, datapath_of
from lib.search.workload import KernelsByBatch


class FirstGuess(Protocol):
    """Guesses the logarithm of a point's value, but for a constant that is the same for all points."""

    def __call__(self, points: Sequence[Point]) -> np.ndarray:
        """float64[n], natural logarithms; larger is better."""


class Roofline:
    """The value if every kernel took no longer than its products at the peak rate or its bytes at the peak bandwidth
    (:mod:`lib.search.bound`). What is left to learn is how near designs come to it, which varies far less than the
    value."""

    def __init__(
        self, workloads: Mapping[str, KernelsByBatch], weights: Mapping[str, float], objective: str,
        residency: Variant | None, constants: SimulatorConstants,
    ):  # fmt: skip
        """`weights`: of the workloads in the geometric mean."""
        self.workloads, self.weights, self.objective = workloads, weights, objective
        self.residency, self.constants = residency, constants
        self._least: dict[tuple, LeastWork] = {}

    def __call__(self, points: Sequence[Point]) -> np.ndarray:
        """float64[n]"""
        return np.array([self._one(point) for point in points])

    def _one(self, point: Point) -> float:
        spec = datapath_of(point)
        core, softmax = datapath_from_spec(spec), softmax_of(point)
        batch_s = {id: self._seconds(id, core, softmax) for id in self.workloads}
        return log_value(self.objective, mean_log_queries_per_s(batch_s, self.weights, spec), spec)

    def _seconds(self, id: str, core: Datapath, softmax: Softmax) -> float:
        key = id, core.native_batch, softmax
        if key not in self._least:
            self._least[key] = least_work(self.workloads[id](core.native_batch, softmax), self.residency)
        return least_seconds(self._least[key], core, self.constants)


def mean_log_queries_per_s(batch_s: Mapping[str, float], weights: Mapping[str, float], spec: dict[str, Any]) -> float:
    """Logarithm of the weighted geometric mean of queries a second, from the seconds of a batch by workload."""
    total = sum(weights[id] * math.log(seconds) for id, seconds in batch_s.items()) / sum(weights.values())
    return math.log(spec["cores"] * spec["native_batch"]) - total


def log_value(objective: str, log_queries_per_s: float, spec: dict[str, Any]) -> float:
    """Logarithm of what an objective makes of queries a second on a resolved datapath, but for a constant. The energy
    of a query is taken as TDP over queries a second."""
    if objective == "throughput":
        return log_queries_per_s
    if objective == "latency":
        return log_queries_per_s - math.log(spec["cores"] * spec["native_batch"])
    return log_queries_per_s - math.log(design_tdp_w(spec))
