"""The target: what runs kernels for an autotuner, and what that costs.

Target seconds are the scarce thing, so an autotuner counts them as the paper does (Kaufman et al., MLSys 2021, section
6): each new kernel is compiled once and run a few times; a kernel that was run before, told by its fingerprint and
tile, is not run again.
"""

from typing import NamedTuple, Protocol

import numpy as np

from lib.cost.cost_model import CostModel, Reason
from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules


class Measured(NamedTuple):
    """What the target says of r configurations."""

    seconds: np.ndarray
    """float64[r] of one run; NaN exactly where reason is not OK."""
    reason: np.ndarray
    """uint8[r] `lib.cost.cost_model.Reason`: OK, or why a configuration could not be run."""


class Target(Protocol):
    """What autotuners verify their proposals on. A configuration is a kernel with a schedule."""

    @property
    def datapath(self) -> Datapath:
        """Of the hardware variant."""
        ...

    def measure(self, kernels: Kernels, schedules: Schedules) -> Measured:
        """Run every configuration. One that fails or times out is told by its reason, never by an error."""
        ...


class SimulatedTarget:
    """A cost model in seconds that stands for a device."""

    def __init__(self, model: CostModel, datapath: Datapath, timeout_s: float):
        """Raises ValueError for a model that only ranks."""
        if model.scale != "seconds":
            raise ValueError(f"cost model '{model.name}' ranks and gives no seconds, so it can't stand for a target")
        self.model, self._datapath, self.timeout_s = model, datapath, timeout_s

    @property
    def datapath(self) -> Datapath:
        return self._datapath

    def measure(self, kernels: Kernels, schedules: Schedules) -> Measured:
        costs = self.model.cost(kernels, schedules, self._datapath)
        seconds, reason = costs.value.copy(), costs.reason.copy()
        late = (reason == Reason.OK) & (seconds > self.timeout_s)
        seconds[late], reason[late] = np.nan, Reason.TIMED_OUT
        return Measured(seconds, reason)


class Prices(NamedTuple):
    """What the target's time is counted by."""

    compile_cost_s: float
    """Of each configuration that was not run before."""
    repeats: int
    """Runs of each."""
    timeout_s: float
    """A run that takes longer is stopped."""


def failed(reason: np.ndarray) -> np.ndarray:
    """bool[r]: configurations, by their uint8[r] reason, that could not be run and did not just take too long."""
    return (reason != Reason.OK) & (reason != Reason.TIMED_OUT)


def charged_s(measured: Measured, prices: Prices) -> np.ndarray:
    """float64[r] target seconds that each configuration takes when it is run for the first time.

    One that times out does so in its first run; one that fails takes the compiler's time.
    """
    running = np.where(measured.reason == Reason.TIMED_OUT, prices.timeout_s, prices.repeats * measured.seconds)
    return prices.compile_cost_s + np.where(failed(measured.reason), 0.0, running)


def runs(measured: Measured, repeats: int) -> np.ndarray:
    """int64[r] runs of each configuration: `repeats`, one where it times out, none where it fails."""
    counted = np.where(measured.reason == Reason.OK, repeats, 0)
    return (counted + (measured.reason == Reason.TIMED_OUT)).astype(np.int64)
