"""NSGA-II (Deb et al., IEEE Transactions on Evolutionary Computation 6, 2002): a population spread over a Pareto front.

Objectives are those of the outcome (queries a second, power, area, latency). A point beyond a limit loses to every one
within, and to those that exceed the limits by less (the paper's constrained domination). Parents win a tournament of
two by rank of their front, then by crowding distance. Children are made by uniform crossover and mutation of positions,
as every parameter is a list of values; numbers mutate by a step or two, names to another one. Optuna's sampler is not
used: its asks take longer with every trial, ten minutes in all for 5,000.
"""

from collections.abc import Sequence

import numpy as np

from lib.search.optimiser import random_positions
from lib.search.outcome import Outcome
from lib.search.pareto import dominated_by
from lib.search.space import Space

POPULATION = 50
CROSSOVER = 0.9
"""Share of children that have two parents (the paper's)."""
MUTATED = 1.5
"""Parameters of a child that mutate, on average."""


class Nsga2:
    """See the module."""

    def __init__(self, space: Space):
        self.space = space
        self._free = np.flatnonzero(space.counts > 1)
        self._positions = np.empty((0, len(space.counts)), dtype=np.int64)
        self._rank, self._crowding = np.empty(0), np.empty(0)
        self._members: list[tuple[np.ndarray, Outcome]] = []
        self._children: list[tuple[np.ndarray, Outcome]] = []

    def ask(self, rng: np.random.Generator) -> np.ndarray:
        """A child of the population; the first population is drawn at random."""
        if not len(self._positions) or not len(self._free):
            return random_positions(self.space, rng)
        child, other = self._positions[self._winner(rng)], self._positions[self._winner(rng)]
        if rng.random() < CROSSOVER:
            child = np.where(rng.random(len(child)) < 0.5, child, other)
        child = child.copy()
        for parameter in self._free[rng.random(len(self._free)) < MUTATED / len(self._free)]:
            count = self.space.counts[parameter]
            if self.space.named[parameter]:
                child[parameter] = (child[parameter] + rng.integers(1, count)) % count
            else:
                step = rng.geometric(0.6) * (1 if rng.random() < 0.5 else -1)
                child[parameter] = np.clip(child[parameter] + step, 0, count - 1)
        return child

    def tell(self, positions: np.ndarray, outcome: Outcome) -> None:
        """Keep the child; once there are as many as the population has, the fittest of both survive."""
        self._children.append((positions, outcome))
        if len(self._children) == POPULATION:
            self._select()
            self._children = []

    def _winner(self, rng: np.random.Generator) -> int:
        one, other = rng.integers(len(self._positions), size=2)
        better = (self._rank[one], -self._crowding[one]) <= (self._rank[other], -self._crowding[other])
        return int(one if better else other)

    def _select(self) -> None:
        """Make the best half of population and children the new population."""
        different = {positions.tobytes(): (positions, outcome) for positions, outcome in self._members + self._children}
        together = list(different.values())
        told = [outcome for _, outcome in together]
        rank = front_ranks(_costs(told), np.array([outcome.violation for outcome in told]))
        crowding = crowding_distances(_costs(told), rank)
        kept = np.lexsort((-crowding, rank))[:POPULATION]
        self._members = [together[place] for place in kept]
        self._positions = np.array([positions for positions, _ in self._members])
        self._rank, self._crowding = rank[kept], crowding[kept]


def _costs(outcomes: Sequence[Outcome]) -> np.ndarray:
    """float64[n, d] objectives to be made small; 0 beyond a limit, where they do not count and may not be known."""
    known = [outcome.objectives or (outcome.value,) if outcome.feasible else () for outcome in outcomes]
    costs = np.zeros((len(outcomes), max(len(objectives) for objectives in known)))
    for row, objectives in zip(costs, known, strict=True):
        row[: len(objectives)] = [-objective for objective in objectives]
    return costs


def front_ranks(costs: np.ndarray, violation: np.ndarray) -> np.ndarray:
    """int64[n] 0 for the rows of float64[n, d] `costs` (to be made small) that no other dominates, 1 for those that
    only these dominate, and so on; rows with a positive `violation` (float64[n]) come after, in its order."""
    rank = np.full(len(costs), -1, dtype=np.int64)
    left = np.flatnonzero(violation <= 0)
    level = 0
    while len(left):
        first = ~dominated_by(costs[left], costs[left])
        rank[left[first]] = level
        left, level = left[~first], level + 1
    beyond = np.flatnonzero(violation > 0)
    _, order = np.unique(violation[beyond], return_inverse=True)
    rank[beyond] = level + order
    return rank


def crowding_distances(costs: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """float64[n] sum over the objectives of the distance between a row's neighbours on its front, over the front's
    extent; infinite at a front's ends."""
    crowding = np.zeros(len(costs))
    for level in np.unique(rank):
        front = np.flatnonzero(rank == level)
        for objective in costs[front].T:
            order = np.argsort(objective, kind="stable")
            extent = objective[order[-1]] - objective[order[0]]
            crowding[front[order[[0, -1]]]] = np.inf
            if extent > 0:
                crowding[front[order[1:-1]]] += (objective[order[2:]] - objective[order[:-2]]) / extent
    return crowding
