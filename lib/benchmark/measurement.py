"""Measured times and rates, repetition by repetition."""

import statistics
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Measurement(NamedTuple):
    """One figure of a benchmark, before it is held against its goal."""

    name: str
    """Dotted, as in `bench.json`."""
    title: str
    """What was measured, in words."""
    unit: str
    values: tuple[float, ...]
    """One a repetition; none where the figure could not be measured."""
    note: str = ""
    """What the reader must know beside the title; empty: nothing."""

    @property
    def value(self) -> float | None:
        """Median of the repetitions."""
        return statistics.median(self.values) if self.values else None


def repeated_s(run: Callable[[], object], *, repetitions: int, budget_s: float, warm_ups: int = 1) -> list[float]:
    """Seconds of each of `repetitions` runs, after `warm_ups` that are not counted.

    Stops early, but not before the first, where the counted runs have taken `budget_s`.
    """
    for _ in range(warm_ups):
        run()
    seconds: list[float] = []
    while len(seconds) < repetitions and sum(seconds) < budget_s:
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return seconds


def rates(amount: float, seconds: Iterable[float]) -> tuple[float, ...]:
    """`amount` a second for each of `seconds`."""
    return tuple(amount / each for each in seconds)
