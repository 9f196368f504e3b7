"""Trials that an optimiser was told, and their order from best to worst."""

import numpy as np

from lib.search.outcome import Outcome


class RankedTrials:
    """Positions and worth of n trials, in the order in which they were told."""

    def __init__(self, parameters: int):
        self.number = 0
        self._positions = np.empty((64, parameters), dtype=np.int64)
        self._value, self._violation = np.empty(64), np.empty(64)
        self._exact = np.empty(64, dtype=bool)

    def add(self, positions: np.ndarray, outcome: Outcome) -> None:
        """One more trial. Where no value is known, limits are exceeded and it doesn't matter."""
        if self.number == len(self._value):
            for name in ("_positions", "_value", "_violation", "_exact"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.empty_like(array)]))
        at = self.number
        self._positions[at], self._violation[at] = positions, outcome.violation
        self._value[at] = outcome.value if outcome.feasible else 0.0
        self._exact[at] = not outcome.bound
        self.number += 1

    @property
    def positions(self) -> np.ndarray:
        """int64[n, p]"""
        return self._positions[: self.number]

    def order(self) -> np.ndarray:
        """int64[n] trials from best to worst: feasible ones by value, those that were run to the end before those that
        stopped at a bound; then the others by violation. Of equal ones the earlier is better."""
        value, violation = self._value[: self.number], self._violation[: self.number]
        return np.lexsort((-value, ~self._exact[: self.number], violation))
