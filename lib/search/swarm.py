"""The linear-combination swarm: new points are random linear combinations of good ones, with perturbations.

FAST (ASPLOS 2022, sections 5.3 and 6.2.3) searches with "Linear Combination Swarm" (LCS) of Google's Vizier and finds
it best beyond 2,000 trials (figure 11). Neither FAST nor Vizier's papers print the algorithm: size of the swarm, how
its members are chosen, coefficients, perturbations and the treatment of integers, names and limits are open. Here:

- The swarm is the best SWARM different points so far: those within the limits by value, then the others by violation.
  One that hasn't become better for PATIENCE trials is left, and a new one begins with random points.
- Parents are drawn by rank, the better the likelier. The combination starts from the first parent and adds
  differences to others with random coefficients, so that it may lie between the parents or beyond them.
- Numbers are positions in their lists of values; a combination is rounded at random to one of its neighbours. A name is
  one of the parents'.
- Each parameter is then perturbed with a small probability: a number by a step or a few, a name by another one.
- A point that was tried already is perturbed again.
"""

from functools import cache

import numpy as np

from lib.search.optimiser import random_positions
from lib.search.outcome import Outcome
from lib.search.ranked_trials import RankedTrials
from lib.search.space import Space

SWARM = 40
STARTUP_TRIALS = 40
"""Points that are drawn at random first."""
RANKS = 8.0
"""A parent's probability falls by a factor of e every so many ranks."""
PARENTS = (1, 2, 3)
"""A combination has one of these numbers of parents; one parent: perturbations alone."""
REACH = 1.2
"""A difference between parents is taken up to this many times."""
PERTURBED = 1.5
"""Parameters that are perturbed, on average."""
STEP = 1.5
"""Mean of a perturbation's size in positions (geometric)."""
PATIENCE = 400
BETTER = 1.001
"""A best value counts as better than the last one from so much on."""
TRIES = 20
"""Perturbations of a point that was tried already, after which it is tried again."""


class Swarm:
    """See the module."""

    def __init__(self, space: Space):
        self.space = space
        self.trials = RankedTrials(len(space.counts))
        self._tried: set[bytes] = set()
        self._first = 0
        """Trial that the present swarm begins with."""
        self._best: float | None = None
        self._improved = 0
        self._free = np.flatnonzero(space.counts > 1)
        self._known: np.ndarray | None = None
        """The members, until the next trial is told."""

    def ask(self, rng: np.random.Generator) -> np.ndarray:
        """A combination of good points that was not tried yet."""
        if self.trials.number - self._first < STARTUP_TRIALS or not len(self._free):
            return random_positions(self.space, rng)
        if self._known is None:
            self._known = self._members()
        positions = self._combined(self._known, rng)
        for _ in range(TRIES):
            positions = self._perturbed(positions, rng)
            if positions.tobytes() not in self._tried:
                break
        return positions

    def tell(self, positions: np.ndarray, outcome: Outcome) -> None:
        """Keep the trial, and see whether the swarm still becomes better."""
        self.trials.add(positions, outcome)
        self._known = None
        self._tried.add(np.asarray(positions, dtype=np.int64).tobytes())
        exact = outcome.feasible and not outcome.bound
        if exact and (self._best is None or outcome.value > self._best * BETTER):
            self._best, self._improved = outcome.value, self.trials.number
        elif self.trials.number - self._improved > PATIENCE:
            self._best, self._first, self._improved = None, self.trials.number, self.trials.number

    def _members(self) -> np.ndarray:
        """int64[m, p] the best different points, best first."""
        order = self.trials.order()
        best = self.trials.positions[order[order >= self._first][: 4 * SWARM]]
        _, first = np.unique(best, axis=0, return_index=True)
        return best[np.sort(first)[:SWARM]]

    def _combined(self, members: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """int64[p] a linear combination of some members."""
        count = min(PARENTS[rng.integers(len(PARENTS))], len(members))
        chosen = members[_drawn_by_rank(len(members), count, rng)]
        combination = chosen[0].astype(float)
        for other in chosen[1:]:
            combination += rng.uniform(0.0, REACH) * (other - chosen[0])
        down = np.floor(combination)
        numbers = down + (rng.random(len(down)) < combination - down)
        names = chosen[rng.integers(count, size=len(down)), np.arange(len(down))]
        positions = np.where(self.space.named, names, numbers).astype(np.int64)
        return np.minimum(np.maximum(positions, 0), self.space.counts - 1)

    def _perturbed(self, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The point with some parameters changed, at least one."""
        counts, free = self.space.counts, self._free
        changed = free[rng.random(len(free)) < PERTURBED / len(free)]
        if not len(changed):
            changed = free[rng.integers(len(free), size=1)]
        result = positions.copy()
        for parameter in changed:
            if self.space.named[parameter]:
                result[parameter] = (result[parameter] + rng.integers(1, counts[parameter])) % counts[parameter]
            else:
                step = rng.geometric(1.0 / STEP) * (1 if rng.random() < 0.5 else -1)
                result[parameter] = min(max(result[parameter] + step, 0), counts[parameter] - 1)
        return result


@cache
def _rank_shares(number: int) -> np.ndarray:
    """float64[number] probabilities of the ranks."""
    weight = np.exp(-np.arange(number) / RANKS)
    return weight / weight.sum()


@cache
def _rank_steps(number: int) -> np.ndarray:
    """float64[number] their running sum."""
    return _running_sum(_rank_shares(number))


def _running_sum(share: np.ndarray) -> np.ndarray:
    total = np.cumsum(share)
    return total / total[-1]


def _drawn_by_rank(number: int, count: int, rng: np.random.Generator) -> list[int]:
    """Different ranks, as `rng.choice(number, count, replace=False, p=...)` draws them in five times the time."""
    found = list(dict.fromkeys(_rank_steps(number).searchsorted(rng.random(count), side="right").tolist()))
    while len(found) < count:
        left = _rank_shares(number).copy()
        left[found] = 0.0
        found += dict.fromkeys(_running_sum(left).searchsorted(rng.random(count - len(found)), side="right").tolist())
    return found
