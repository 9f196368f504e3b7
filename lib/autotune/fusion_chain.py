"""One chain of simulated annealing over fusion configurations: a move is proposed, priced, and taken or not."""

from collections.abc import Mapping
from math import exp, fsum, inf

import numpy as np

from lib.fusion.grouping import Change, Grouping, GroupingRules

MOST_FLIPS = 4
"""Nodes that a move flips at most: one drawn at random, and further ones next to it."""
FURTHER_FLIP = 0.4
"""Chance of each further flip. A kernel often has to lose one member before another can join."""
FIRST_TEMPERATURE, LAST_TEMPERATURE = 0.002, 0.00001
"""As a share of the program's runtime: what a move may cost and still be taken 37 % of the times. A move changes a few
kernels, so a program's runtime by 0.01 % to 1 %; warmer chains leave a good start and don't come back."""


class Chain:
    """A configuration on its way. `seconds`: of the program, infinite before :meth:`begin`."""

    def __init__(self, rules: GroupingRules, fuse: np.ndarray):
        self.rules = rules
        self.grouping = Grouping(rules, fuse)
        self.seconds = inf
        self.best_seconds = inf
        self.best_fuse = list(self.grouping.fuse)

    def begin(self, prices: Mapping[int, float]) -> None:
        """Seconds of the configuration as it stands, from the seconds of its kernels by state."""
        runs = self.rules.space.flow.runs
        self.seconds = fsum(prices[state] * runs[root] for root, state in self.grouping.kernels.items())
        self.best_seconds, self.best_fuse = self.seconds, list(self.grouping.fuse)

    def proposed(self, draws: np.ndarray) -> Change:
        """A move by numbers drawn from [0, 1): float64[2 * MOST_FLIPS]."""
        rules, numbers = self.rules, draws.tolist()
        node = rules.nodes[int(numbers[0] * len(rules.nodes))]
        nodes = {node}
        for flip in range(1, MOST_FLIPS):
            if numbers[2 * flip] >= FURTHER_FLIP or not rules.neighbours[node]:
                break
            node = rules.neighbours[node][int(numbers[2 * flip + 1] * len(rules.neighbours[node]))]
            nodes.add(node)
        return self.grouping.after(nodes)

    def seconds_after(self, change: Change, prices: Mapping[int, float]) -> float:
        """Of the program, infinite where a new kernel can't run."""
        runs = self.rules.space.flow.runs
        after = self.seconds
        if after == inf:
            kernels = {root: state for root, state in self.grouping.kernels.items() if root not in change.removed}
            return fsum(prices[state] * runs[root] for root, state in (kernels | change.added).items())
        for root, state in change.added.items():
            after += prices[state] * runs[root]
        for root, state in change.removed.items():
            after -= prices[state] * runs[root]
        return after

    def take(self, change: Change, seconds: float) -> None:
        """Make the change, after which the program takes `seconds`."""
        self.grouping.apply(change)
        self.seconds = seconds
        if seconds < self.best_seconds:
            self.best_seconds, self.best_fuse = seconds, list(self.grouping.fuse)


def is_taken(before: float, after: float, progress: float, draw: float) -> bool:
    """Metropolis' rule: a slower configuration with the chance exp(-slow-down / temperature), one that fails never.

    `progress`: of the annealing, from 0 to 1; `draw`: from [0, 1).
    """
    return after <= before or (after < inf and draw < exp(-(after / before - 1.0) / temperature(progress)))


def temperature(progress: float) -> float:
    """Falls geometrically with progress, from 0 to 1."""
    return FIRST_TEMPERATURE * (LAST_TEMPERATURE / FIRST_TEMPERATURE) ** progress
