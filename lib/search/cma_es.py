"""CMA-ES with margin over numbers and names: a Gaussian over the positions of numbers and a distribution over the
values of names that follow the good points, both kept wide enough to leave where they are.

Hamano et al., GECCO 2022, and with categories Hamano et al., GECCO 2025 (CatCMAwM), by the `cmaes` package. A parameter
of two values counts as a name, as its authors advise. It sees ranks alone, so limits are kept by ranking: feasible
points by value before all others by violation. A search whose Gaussian has collapsed starts again around a point drawn
at random.
"""

import numpy as np
from cmaes import CatCMAwM

from lib.search.optimiser import random_positions
from lib.search.outcome import Outcome
from lib.search.space import Space

START_WIDTH = 0.3
"""Standard deviation at the start over the width of a parameter's positions (Hansen's tutorial: about a third)."""
BEYOND_LIMITS = 1e9
"""Added to the violation of an infeasible point: more than any feasible one's, of which only ranks count."""


class CmaEs:
    """See the module."""

    def __init__(self, space: Space):
        self.space = space
        named = space.named | (space.counts == 2)
        self._numbers = np.flatnonzero((space.counts > 1) & ~named)
        self._names = np.flatnonzero((space.counts > 1) & named)
        self._distribution: CatCMAwM | None = None
        self._asked: CatCMAwM.Solution | None = None
        self._told: list[tuple[CatCMAwM.Solution, float]] = []

    def ask(self, rng: np.random.Generator) -> np.ndarray:
        """A point drawn from the distributions."""
        positions = random_positions(self.space, rng)
        if not len(self._numbers) and not len(self._names):
            return positions
        if self._distribution is None or self._has_collapsed(self._distribution):
            self._distribution, self._told = self._started(positions), []
        self._distribution.reseed_rng(int(rng.integers(2**32)))
        self._asked = self._distribution.ask()
        if len(self._numbers):
            positions[self._numbers] = self._asked.z
        if len(self._names):
            positions[self._names] = self._asked.c.argmax(axis=1)
        return positions

    def tell(self, positions: np.ndarray, outcome: Outcome) -> None:
        """Keep the point; once there are as many as a generation has, move the distributions."""
        if self._distribution is None or self._asked is None:
            return
        cost = -outcome.value if outcome.feasible else BEYOND_LIMITS + outcome.violation
        self._told.append((self._asked, cost))
        if len(self._told) == self._distribution.population_size:
            self._distribution.tell(self._told)
            self._told = []

    def _started(self, positions: np.ndarray) -> CatCMAwM:
        """Around the numbers of int64[p] `positions`, every name as likely as another."""
        counts, mean = self.space.counts[self._numbers], positions[self._numbers].astype(np.float64)
        return CatCMAwM(
            z_space=[list(range(count)) for count in counts] or None,
            c_space=self.space.counts[self._names].tolist() or None,
            mean=mean, cov=np.diag((START_WIDTH * (counts - 1)) ** 2.0),
        )  # fmt: skip

    def _has_collapsed(self, distribution: CatCMAwM) -> bool:
        return len(self._numbers) > 0 and distribution.should_stop()
