"""A budget of target seconds: kernels are compiled and run one after the other until it is spent."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, nan
from typing import NamedTuple

import numpy as np

from lib.autotune.fusion_kernels import DistinctKernels
from lib.autotune.target import Measured, Prices, Target, charged_s, runs
from lib.cost.cost_model import Reason
from lib.program.kernels import Kernels
from lib.schedule.default import default_tiles
from lib.schedule.schedules import schedules_for_tiles

Run = Callable[[Kernels], Measured]
"""Compiles kernels for the target and runs each under its default tile."""
Occurs = Callable[[str, Sequence[int]], None]
"""Is told the fingerprint and the instructions of a kernel before it is run for the first time."""


def runs_on(target: Target) -> Run:
    """Kernels of which no tile fits are refused with the reason TILE_TOO_LARGE."""

    def run(kernels: Kernels) -> Measured:
        tile, _, fits = default_tiles(kernels, target.datapath)
        seconds = np.full(kernels.number, nan)
        reason = np.full(kernels.number, Reason.TILE_TOO_LARGE, dtype=np.uint8)
        rows = np.flatnonzero(fits)
        if len(rows):
            measured = target.measure(kernels, schedules_for_tiles(rows, tile[rows]))
            seconds[rows], reason[rows] = measured.seconds, measured.reason
            if measured.spent_s is not None:
                spent_s = np.zeros(kernels.number)
                spent_s[rows] = measured.spent_s
                return Measured(seconds, reason, spent_s)
        return Measured(seconds, reason)

    return run


class Compiled(NamedTuple):
    """One kernel that was charged for."""

    target_s: float
    """Target seconds spent when it was done."""
    number: int
    """Of the kernel, see :class:`DistinctKernels`."""
    runs: int
    reason: int


class TargetKernels:
    """The kernels of one program on the target; each is run once, whoever asks."""

    def __init__(self, kernels: DistinctKernels, run: Run, occurs: Occurs | None = None):
        self.kernels = kernels
        self._run = run
        self._occurs = occurs
        self._ran: dict[str, tuple[float, int]] = {}
        self._spent_s: dict[str, float] = {}

    def of(self, states: Iterable[int]) -> dict[int, tuple[int, float, int]]:
        """By state: number of its kernel, seconds of one execution (infinite: it can't run) and reason."""
        states = list(dict.fromkeys(states))
        numbers, names = self.kernels.numbers(states), self.kernels.fingerprint
        new = [number for number in dict.fromkeys(numbers) if names[number] not in self._ran]
        if new:
            if self._occurs is not None:
                for number in new:
                    self._occurs(names[number], self.kernels.members[number])
            ran = self._run(self.kernels.kernels(new))
            if ran.spent_s is not None:
                self._spent_s |= dict(zip([names[number] for number in new], ran.spent_s.tolist(), strict=True))
            rows = list(zip([names[number] for number in new], ran.seconds.tolist(), ran.reason.tolist(), strict=True))
            self._ran |= {name: (inf if reason else seconds, reason) for name, seconds, reason in rows}
        return {state: (number, *self._ran[names[number]]) for state, number in zip(states, numbers, strict=True)}

    def spent_s(self, number: int) -> float | None:
        """What compiling and running a kernel truly took; None of a target that is no device."""
        return self._spent_s.get(self.kernels.fingerprint[number])

    def typical_s(self) -> float | None:
        """Mean of :meth:`spent_s` over the kernels that have been run."""
        return sum(self._spent_s.values()) / len(self._spent_s) if self._spent_s else None


class Account:
    """One strategy's target seconds. `seconds`: what it knows by state, infinite for a kernel that can't run."""

    def __init__(self, target: TargetKernels, prices: Prices, budget_s: float):
        """Raises ValueError for a budget that is no positive number."""
        if not budget_s > 0:
            raise ValueError(f"a budget of {budget_s:g} target seconds is empty; give one above 0")
        self.target, self.prices, self.budget_s = target, prices, budget_s
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

    def unknown(self, states: Iterable[int]) -> frozenset[int]:
        """Numbers of the kernels of the states that it has not run."""
        return frozenset(self.target.kernels.numbers(list(states))).difference(self._known)

    def expected_s(self, states: Iterable[int], seconds: Mapping[int, float]) -> float:
        """Target seconds that running the kernels of the states would take if they ran for `seconds`, by state."""
        states = list(states)
        numbers = self.target.kernels.numbers(states)
        new = {number: seconds[state] for state, number in zip(states, numbers, strict=True)}
        typical_s = self.target.typical_s()
        return sum(
            self.prices.compile_cost_s + (self.prices.repeats * each if typical_s is None else typical_s)
            for number, each in new.items()
            if number not in self._known
        )

    def spend(self, states: Iterable[int]) -> bool:
        """Run the kernels that are new; False where the budget ends before all have been run."""
        for state, (number, seconds, reason) in self.target.of(states).items():
            if number not in self._known:
                spent_s = self.target.spent_s(number)
                measured = Measured(
                    np.array([nan if reason else seconds]),
                    np.array([reason], dtype=np.uint8),
                    None if spent_s is None else np.array([spent_s]),
                )
                cost_s = float(charged_s(measured, self.prices)[0])
                if self.spent_s + cost_s > self.budget_s:
                    self.spent_s, self.is_spent = self.budget_s, True
                    return False
                self.spent_s += cost_s
                self._known[number] = seconds
                count = int(runs(measured, self.prices.repeats)[0])
                self.compiled.append(Compiled(self.spent_s, number, count, reason))
            self.seconds[state] = self._known[number]
        return True
