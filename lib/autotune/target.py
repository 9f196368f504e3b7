"""The target: what runs kernels for an autotuner, and what that costs.

Target seconds are the scarce thing, so an autotuner counts them as the paper does (Kaufman et al., MLSys 2021, section
6): each new kernel is compiled once and run a few times; a kernel that was run before, told by its fingerprint and
tile, is not run again.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from lib.cost.cost_model import CostModel, Reason
from lib.hardware.datapath import Datapath
from lib.journal import Journal
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules


class Measured(NamedTuple):
    """What the target says of r configurations."""

    seconds: np.ndarray
    """float64[r] of one run; NaN exactly where reason is not OK."""
    reason: np.ndarray
    """uint8[r] `lib.cost.cost_model.Reason`: OK, or why a configuration could not be run."""

    def first(self, count: int) -> "Measured":
        """Of the first `count` configurations."""
        return Measured(self.seconds[:count], self.reason[:count])


class Target(Protocol):
    """What autotuners verify their proposals on. A configuration is a kernel with a schedule."""

    @property
    def datapath(self) -> Datapath:
        """Of the hardware variant."""
        ...

    @property
    def batch(self) -> int:
        """Configurations that it runs between two looks at the budget and two records of the journal."""
        ...

    def measure(self, kernels: Kernels, schedules: Schedules) -> Measured:
        """Run every configuration. One that fails or times out is told by its reason, never by an error."""
        ...


class SimulatedTarget:
    """A cost model in seconds that stands for a device."""

    batch = 20_000

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


class KeptTarget:
    """A target that is asked for no configuration twice, nor after a kill what is in the `journal`.

    What it says is checked too: a configuration without a time above 0 has failed, whatever the target calls it.
    """

    def __init__(self, target: Target, journal: Journal | None = None):
        self._target, self._journal = target, journal
        self._said: dict[tuple[str, bytes], tuple[float, int]] = {}
        for record in journal.records if journal is not None else []:
            tile = np.array(record["tile"], dtype=np.int32)
            self._keep([record["kernels"][k] for k in record["kernel"]], tile, record["seconds"], record["reason"])

    @property
    def datapath(self) -> Datapath:
        return self._target.datapath

    @property
    def batch(self) -> int:
        return self._target.batch

    def measure(self, kernels: Kernels, schedules: Schedules) -> Measured:
        """Of each kernel and tile what the target said, or says now; other fields of a schedule are not told apart."""
        names = [kernels.fingerprint[k] for k in schedules.kernel.tolist()]
        keys = list(zip(names, _as_bytes(schedules.tile), strict=True))
        rows = {key: row for row, key in enumerate(keys) if key not in self._said}
        new = np.array(list(rows.values()), dtype=np.int64)
        for first in range(0, len(new), self.batch):
            self._run(kernels, schedules, new[first : first + self.batch])
        said = [self._said[key] for key in keys]
        seconds, reason = ([pair[place] for pair in said] for place in (0, 1))
        return Measured(np.array(seconds, dtype=np.float64), np.array(reason, dtype=np.uint8))

    def _run(self, kernels: Kernels, schedules: Schedules, rows: np.ndarray) -> None:
        some = Schedules(*(array[rows] for array in schedules))
        seconds, reason = self._target.measure(kernels, some)
        unsound = (reason == Reason.OK) & ~(np.isfinite(seconds) & (seconds > 0))
        reason = np.where(unsound, Reason.FAILED, reason)
        answers = np.where(reason == Reason.OK, seconds, np.nan).tolist(), reason.tolist()
        self._keep([kernels.fingerprint[k] for k in some.kernel.tolist()], some.tile, *answers)
        if self._journal is not None:
            distinct, kernel = np.unique(some.kernel, return_inverse=True)
            record = {"kernels": [kernels.fingerprint[k] for k in distinct], "kernel": kernel.tolist()}
            record |= {"tile": some.tile.tolist(), "seconds": answers[0], "reason": answers[1]}
            self._journal.append(record)

    def _keep(self, names: Iterable[str], tile: np.ndarray, seconds: Iterable[float], reason: Iterable[int]) -> None:
        keys, answers = zip(names, _as_bytes(tile), strict=True), zip(seconds, reason, strict=True)
        self._said.update(zip(keys, answers, strict=True))


def _as_bytes(tile: np.ndarray) -> list[bytes]:
    """One of each row of int32[r, 8]."""
    whole = np.ascontiguousarray(tile, dtype=np.int32)
    return [row.tobytes() for row in whole]


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
