"""CMA-ES with margin: a Gaussian over positions that follows the good points, kept wide enough to leave its cell.

Hamano et al., GECCO 2022, by the `cmaes` package. It sees ranks alone, so limits are kept by ranking: feasible points
by value before all others by violation. Names are treated as numbers: the order in which they are listed decides which
ones are near. A search whose Gaussian has collapsed starts again around a point drawn at random.
"""

import numpy as np
from cmaes import CMAwM

from lib.search.optimiser import random_positions
from lib.search.outcome import Outcome
from lib.search.space import Space

START_WIDTH = 0.3
"""Standard deviation at the start; each parameter's values span 0 to 1 (Hansen's tutorial: about a third)."""
BEYOND_LIMITS = 1e9
"""Added to the violation of an infeasible point: more than any feasible one's, of which only ranks count."""


class CmaEs:
    """See the module."""

    def __init__(self, space: Space):
        self.space = space
        self._free = np.flatnonzero(space.counts > 1)
        self._distribution: CMAwM | None = None
        self._asked: np.ndarray | None = None
        self._told: list[tuple[np.ndarray, float]] = []

    def ask(self, rng: np.random.Generator) -> np.ndarray:
        """A point drawn from the Gaussian."""
        positions = random_positions(self.space, rng)
        if not len(self._free):
            return positions
        steps = self.space.counts[self._free] - 1
        if self._distribution is None or self._distribution.should_stop():
            bounds = np.column_stack([np.zeros(len(steps)), np.ones(len(steps))])
            mean = positions[self._free] / steps
            self._distribution, self._told = CMAwM(mean, START_WIDTH, bounds, 1.0 / steps), []
        self._distribution.reseed_rng(int(rng.integers(2**32)))
        drawn, self._asked = self._distribution.ask()
        positions[self._free] = np.rint(drawn * steps).astype(np.int64)
        return positions

    def tell(self, positions: np.ndarray, outcome: Outcome) -> None:
        """Keep the point; once there are as many as a generation has, move the Gaussian."""
        if self._distribution is None or self._asked is None:
            return
        cost = -outcome.value if outcome.feasible else BEYOND_LIMITS + outcome.violation
        self._told.append((self._asked, cost))
        if len(self._told) == self._distribution.population_size:
            self._distribution.tell(self._told)
            self._told = []
