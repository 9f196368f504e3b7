"""The one face of all optimisers: ask for a point, tell what it is worth.

An optimiser sees positions: int64[p], for each parameter of the space the place of its value
(:class:`lib.search.space.Space`). Its state follows from what it was told and from the random numbers that each ask was
given, so it is never stored: telling recorded trials again, in order, brings it back.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from lib.search.outcome import Outcome
from lib.search.space import Space


class Optimiser(Protocol):
    """Proposes points of a space. Every ask is followed by a tell of the same point."""

    def ask(self, rng: np.random.Generator) -> np.ndarray:
        """int64[p] positions of the next point; all that is random in it comes from `rng`."""

    def tell(self, positions: np.ndarray, outcome: Outcome) -> None:
        """What the point at int64[p] `positions` is worth."""


MakeOptimiser = Callable[[Space], Optimiser]


def random_positions(space: Space, rng: np.random.Generator) -> np.ndarray:
    """int64[p] of a point drawn evenly from the space."""
    return rng.integers(space.counts)


class RandomSearch:
    """Points drawn evenly from the space."""

    def __init__(self, space: Space):
        self.space = space

    def ask(self, rng: np.random.Generator) -> np.ndarray:
        """A point whatever was told."""
        return random_positions(self.space, rng)

    def tell(self, positions: np.ndarray, outcome: Outcome) -> None:
        """Nothing is learnt."""
