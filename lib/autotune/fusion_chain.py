"""One chain of simulated annealing over fusion configurations: a move is proposed, priced, and taken or not."""

from collections.abc import Mapping, Sequence
from math import exp, fsum, inf

import numpy as np

from lib.fusion.grouping import Change, Grouping

MOST_FLIPS = 4
"""Nodes that a move flips at most: one drawn at random, and further ones next to it."""
FURTHER_FLIP = 0.4
"""Chance of each further flip. A kernel often has to lose one member before another can join."""
EVERYWHERE = 0.3
"""Chance that a move is made in all equal blocks at once: one kernel that is new then counts for each of them."""
FIRST_TEMPERATURE, LAST_TEMPERATURE = 0.002, 0.00001
"""As a share of the program's runtime: what a move may cost and still be taken 37 % of the times. A move changes a few
kernels, so a program's runtime by 0.01 % to 1 %; warmer chains leave a good start and don't come back."""


class Chain:
    """A configuration on its way. `seconds`: of the program, infinite before :meth:`begin`."""

    def __init__(self, grouping: Grouping):
        self.rules = grouping.rules
        self.grouping = grouping
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
        walk = [rules.nodes[int(numbers[0] * len(rules.nodes))]]
        steps = []
        for flip in range(1, MOST_FLIPS):
            neighbours = rules.neighbours[walk[-1]]
            if numbers[2 * flip] >= FURTHER_FLIP or not neighbours:
                break
            steps.append(int(numbers[2 * flip + 1] * len(neighbours)))
            walk.append(neighbours[steps[-1]])
        return self.grouping.after(self._everywhere(walk, steps) if numbers[1] < EVERYWHERE else walk)

    def _everywhere(self, walk: Sequence[int], steps: Sequence[int]) -> set[int]:
        """The nodes of a walk, and in every equal place those that are as fused as these; `steps`: which neighbour of
        the node before."""
        rules, fuse = self.rules, self.grouping.fuse
        nodes = set(walk)
        for place in rules.equal[walk[0]]:
            choices: tuple[int, ...] = (place,)
            for node, step in zip(walk, (0, *steps), strict=True):
                if step >= len(choices) or rules.equal[choices[step]] is not rules.equal[node]:
                    break
                if fuse[choices[step]] == fuse[node]:
                    nodes.add(choices[step])
                choices = rules.neighbours[choices[step]]
        return nodes

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
