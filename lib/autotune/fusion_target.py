"""A budget of target seconds: kernels are compiled and run one after the other until it is spent."""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import NamedTuple

import numpy as np

from lib.autotune.fusion_kernels import DistinctKernels
from lib.cost.cost_model import CostModel, Reason
from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels
from lib.schedule.default import default_tiles
from lib.schedule.schedules import schedules_for_tiles


class Ran(NamedTuple):
    """What the target says of k kernels."""

    seconds: np.ndarray
    """float64[k] of one execution; NaN where the kernel could not run."""
    reason: np.ndarray
    """uint8[k], see :class:`lib.cost.cost_model.Reason`."""


Run = Callable[[Kernels], Ran]
"""Compiles kernels for the target and runs them under their default tiles."""


def runs_on(target: CostModel, datapath: Datapath) -> Run:
    """Runs on what has the face of a cost model: the simulator, or a device behind that face."""

    def run(kernels: Kernels) -> Ran:
        tile, _, fits = default_tiles(kernels, datapath)
        seconds = np.full(kernels.number, np.nan)
        reason = np.full(kernels.number, Reason.TILE_TOO_LARGE, dtype=np.uint8)
        rows = np.flatnonzero(fits)
        if len(rows):
            costs = target.cost(kernels, schedules_for_tiles(rows, tile[rows]), datapath)
            seconds[rows], reason[rows] = costs.value, costs.reason
        return Ran(np.where(reason == Reason.OK, seconds, np.nan), reason)

    return run


class Charges(NamedTuple):
    """What the target's time costs."""

    compile_cost_s: float
    """Seconds that compiling a new kernel takes."""
    repeats: int = 3
    """Runs of each new kernel."""
    timeout_s: float = inf
    """A kernel that runs longer is stopped and counts as failed."""


class Compiled(NamedTuple):
    """One kernel that was charged for."""

    target_s: float
    """Target seconds spent when it was done."""
    fingerprint: str
    runs: int
    reason: int


class TargetKernels:
    """The kernels of one program on the target; each is run once, whoever asks."""

    def __init__(self, kernels: DistinctKernels, run: Run):
        self.kernels = kernels
        self._run = run
        self._ran: dict[int, tuple[float, int]] = {}

    def of(self, states: Iterable[int]) -> dict[int, tuple[int, float, int]]:
        """By state: number of its kernel, seconds of one execution (infinite: it can't run) and reason."""
        states = list(dict.fromkeys(states))
        numbers = self.kernels.numbers(states)
        new = [number for number in dict.fromkeys(numbers) if number not in self._ran]
        if new:
            ran = self._run(self.kernels.kernels(new))
            seconds = np.where(ran.reason == Reason.OK, ran.seconds, inf).tolist()
            self._ran |= dict(zip(new, zip(seconds, ran.reason.tolist(), strict=True), strict=True))
        return {state: (number, *self._ran[number]) for state, number in zip(states, numbers, strict=True)}


class Account:
    """One strategy's target seconds. `seconds`: what it knows by state, infinite for a kernel that can't run."""

    def __init__(self, target: TargetKernels, charges: Charges, budget_s: float):
        """Raises ValueError for a budget that is no positive number."""
        if not budget_s > 0:
            raise ValueError(f"a budget of {budget_s:g} target seconds is empty; give one above 0")
        self.target, self.charges, self.budget_s = target, charges, budget_s
        self.spent_s = 0.0
        self.is_spent = False
        self.seconds: dict[int, float] = {}
        self.compiled: list[Compiled] = []
        self._known: dict[int, float] = {}

    def free(self, states: Iterable[int]) -> None:
        """Take in kernels that have been run before the tuning began."""
        for state, (number, seconds, _) in self.target.of(states).items():
            self._known[number] = self.seconds[state] = seconds

    def by_fingerprint(self) -> dict[str, float]:
        """Seconds of every kernel that it knows."""
        names = self.target.kernels.fingerprint
        return {names[number]: seconds for number, seconds in self._known.items()}

    def expected_s(self, states: Iterable[int], seconds: Mapping[int, float]) -> float:
        """Target seconds that running the kernels of the states would take if they ran for `seconds`, by state."""
        states = list(states)
        numbers = self.target.kernels.numbers(states)
        new = {number: seconds[state] for state, number in zip(states, numbers, strict=True)}
        return sum(
            self.charges.compile_cost_s + self.charges.repeats * each
            for number, each in new.items()
            if number not in self._known
        )

    def spend(self, states: Iterable[int]) -> bool:
        """Run the kernels that are new; False where the budget ends before all have been run."""
        compile_cost_s, repeats, timeout_s = self.charges
        for state, (number, ran_s, ran_reason) in self.target.of(states).items():
            seconds, reason = ran_s, ran_reason
            if number not in self._known:
                runs = repeats if seconds < inf else 0
                cost_s = compile_cost_s + (repeats * seconds if runs else 0.0)
                if timeout_s < seconds < inf:
                    seconds, reason, runs, cost_s = inf, Reason.TIMED_OUT, 1, compile_cost_s + timeout_s
                if self.spent_s + cost_s > self.budget_s:
                    self.spent_s, self.is_spent = self.budget_s, True
                    return False
                self.spent_s += cost_s
                self._known[number] = seconds
                name = self.target.kernels.fingerprint[number]
                self.compiled.append(Compiled(self.spent_s, name, runs, int(reason)))
            self.seconds[state] = self._known[number]
        return True
