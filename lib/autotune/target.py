"""The target: what runs kernels for an autotuner, and what that costs.

Target seconds are the scarce thing, so an autotuner counts them as the paper does (Kaufman et al., MLSys 2021, section
6): each new kernel is compiled once and run a few times; a kernel that was run before, told by its fingerprint and
tile, is not run again.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from lib.autotune.tile_order import TileSpace, tile_space_of
from lib.cost.cost_model import CostModel, Reason
from lib.fusion.space import default_fusion, group
from lib.hardware.datapath import Datapath
from lib.journal import Journal
from lib.program.extraction import ProgramKernels
from lib.program.kernels import Kernels
from lib.program.program import Program
from lib.schedule.default import default_schedule
from lib.schedule.schedules import Schedules
from lib.schedule.tiles import tile_counts


class Measured(NamedTuple):
    """What the target says of r configurations."""

    seconds: np.ndarray
    """float64[r] of one run; NaN exactly where reason is not OK."""
    reason: np.ndarray
    """uint8[r] `lib.cost.cost_model.Reason`: OK, or why a configuration could not be run."""
    spent_s: np.ndarray | None = None
    """float64[r] what compiling and running it truly took, seconds; None of a target that is no device."""

    def first(self, count: int) -> "Measured":
        """Of the first `count` configurations."""
        spent_s = None if self.spent_s is None else self.spent_s[:count]
        return Measured(self.seconds[:count], self.reason[:count], spent_s)

    def followed_by(self, more: "Measured") -> "Measured":
        """With further configurations of the same target."""
        if not len(self.seconds):
            return more
        spent_s = None
        if self.spent_s is not None and more.spent_s is not None:
            spent_s = np.concatenate([self.spent_s, more.spent_s])
        seconds, reason = (
            np.concatenate([getattr(one, name) for one in (self, more)]) for name in Measured._fields[:2]
        )
        return Measured(seconds, reason, spent_s)


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

    def occurs(self, fingerprint: str, members: Sequence[int]) -> None:
        """Told before a kernel is run for the first time: the instructions of the program that make it, ascending."""
        ...

    def default_groups(self, program: Program) -> np.ndarray:
        """int32[n] the root of each instruction's kernel by default; -1: no kernel that it runs computes it."""
        ...

    def default_schedule(self, found: ProgramKernels) -> Schedules:
        """What the compiler picks for each kernel. Raises NoTileFits."""
        ...

    def tile_counts(self, kernels: Kernels) -> np.ndarray:
        """int64[k] tiles of each kernel that may be chosen."""
        ...

    def tile_space(self, kernels: Kernels, executions: np.ndarray, most: int) -> TileSpace:
        """At most `most` of them, the default one among them."""
        ...

    def measured_anew(self, kernels: Kernels, schedules: Schedules) -> np.ndarray | None:
        """float64[r] seconds, of nothing that was measured before; None of a target that always says the same."""
        ...


class DatapathTarget:
    """A target of which the datapath says what its compiler does by default and which tiles there are."""

    datapath: Datapath

    def occurs(self, fingerprint: str, members: Sequence[int]) -> None:
        pass

    def default_groups(self, program: Program) -> np.ndarray:
        return group(program, default_fusion(program))

    def default_schedule(self, found: ProgramKernels) -> Schedules:
        return default_schedule(found.kernels, self.datapath, found.roots)

    def tile_counts(self, kernels: Kernels) -> np.ndarray:
        return tile_counts(kernels, self.datapath)

    def tile_space(self, kernels: Kernels, executions: np.ndarray, most: int) -> TileSpace:
        return tile_space_of(kernels, executions, self.datapath, most)

    def measured_anew(self, kernels: Kernels, schedules: Schedules) -> np.ndarray | None:
        return None


class SimulatedTarget(DatapathTarget):
    """A cost model in seconds that stands for a device."""

    batch = 20_000

    def __init__(self, model: CostModel, datapath: Datapath, timeout_s: float):
        """Raises ValueError for a model that only ranks."""
        if model.scale != "seconds":
            raise ValueError(f"cost model '{model.name}' ranks and gives no seconds, so it can't stand for a target")
        self.model, self.datapath, self.timeout_s = model, datapath, timeout_s

    def measure(self, kernels: Kernels, schedules: Schedules) -> Measured:
        costs = self.model.cost(kernels, schedules, self.datapath)
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
        self._said: dict[tuple[str, bytes], tuple[float, ...]] = {}
        self.occurs, self.default_groups = target.occurs, target.default_groups
        self.default_schedule, self.tile_counts = target.default_schedule, target.tile_counts
        self.tile_space, self.measured_anew = target.tile_space, target.measured_anew
        for record in journal.records if journal is not None else []:
            names = [record["kernels"][k] for k in record["kernel"]]
            answers = [record[name] for name in Measured._fields if name in record]
            self._keep(names, np.array(record["tile"], dtype=np.int32), answers)

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
        seconds = np.array([one[0] for one in said], dtype=np.float64)
        reason = np.array([one[1] for one in said], dtype=np.uint8)
        told = bool(said) and len(said[0]) > 2
        return Measured(seconds, reason, np.array([one[2] for one in said], dtype=np.float64) if told else None)

    def _run(self, kernels: Kernels, schedules: Schedules, rows: np.ndarray) -> None:
        some = Schedules(*(array[rows] for array in schedules))
        seconds, reason, spent_s = self._target.measure(kernels, some)
        unsound = (reason == Reason.OK) & ~(np.isfinite(seconds) & (seconds > 0))
        reason = np.where(unsound, Reason.FAILED, reason)
        answers = [np.where(reason == Reason.OK, seconds, np.nan).tolist(), reason.tolist()]
        answers += [spent_s.tolist()] if spent_s is not None else []
        self._keep([kernels.fingerprint[k] for k in some.kernel.tolist()], some.tile, answers)
        if self._journal is not None:
            distinct, kernel = np.unique(some.kernel, return_inverse=True)
            record = {"kernels": [kernels.fingerprint[k] for k in distinct], "kernel": kernel.tolist()}
            record |= {"tile": some.tile.tolist(), **dict(zip(Measured._fields, answers, strict=False))}
            self._journal.append(record)

    def _keep(self, names: Iterable[str], tile: np.ndarray, answers: Sequence[Sequence[float]]) -> None:
        keys = zip(names, _as_bytes(tile), strict=True)
        self._said.update(zip(keys, zip(*answers, strict=True), strict=True))


def _as_bytes(tile: np.ndarray) -> list[bytes]:
    """One of each row of int32[r, 8]."""
    whole = np.ascontiguousarray(tile, dtype=np.int32)
    return [row.tobytes() for row in whole]


class Prices(NamedTuple):
    """What the target's time is counted by."""

    compile_cost_s: float
    """Of each configuration that was not run before; on a device, beside what it truly took."""
    repeats: int
    """Runs of each."""
    timeout_s: float
    """A run that takes longer is stopped."""


def failed(reason: np.ndarray) -> np.ndarray:
    """bool[r]: configurations, by their uint8[r] reason, that could not be run and did not just take too long."""
    return (reason != Reason.OK) & (reason != Reason.TIMED_OUT)


def charged_s(measured: Measured, prices: Prices) -> np.ndarray:
    """float64[r] target seconds that each configuration takes when it is run for the first time.

    One that times out does so in its first run; one that fails takes the compiler's time. A device's configurations
    take what they truly took.
    """
    if measured.spent_s is not None:
        return prices.compile_cost_s + measured.spent_s
    running = np.where(measured.reason == Reason.TIMED_OUT, prices.timeout_s, prices.repeats * measured.seconds)
    return prices.compile_cost_s + np.where(failed(measured.reason), 0.0, running)


def runs(measured: Measured, repeats: int) -> np.ndarray:
    """int64[r] runs of each configuration: `repeats`, one where it times out, none where it fails."""
    counted = np.where(measured.reason == Reason.OK, repeats, 0)
    return (counted + (measured.reason == Reason.TIMED_OUT)).astype(np.int64)
