"""A new optimiser is a file in `lib/search` and a line in `lib.search.optimise`."""

from typing import get_args

import numpy as np
import pytest

from lib.search.optimise import OPTIMISERS, optimise
from lib.search.outcome import Outcome
from lib.search.space import Space
from schemas.search import OptimiserName
from tests.lib.search.synthetic import problem


class OneStepAtATime:
    """Moves one parameter of the best point so far."""

    def __init__(self, space: Space):
        self.space, self.best, self.value = space, np.zeros_like(space.counts), -np.inf

    def ask(self, rng: np.random.Generator) -> np.ndarray:
        positions = self.best.copy()
        at = rng.integers(len(positions))
        positions[at] = rng.integers(self.space.counts[at])
        return positions

    def tell(self, positions: np.ndarray, outcome: Outcome) -> None:
        if outcome.feasible and outcome.value > self.value:
            self.best, self.value = positions.copy(), outcome.value


def test_a_toy_optimiser_searches_and_continues(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(OPTIMISERS, "one-step", OneStepAtATime)
    space, evaluate = problem(seed=1)
    whole = optimise(space, "one-step", 60, seed=1, island=1, evaluate=evaluate)
    assert optimise(space, "one-step", 60, seed=1, island=1, evaluate=evaluate, history=whole[:20]) == whole
    feasible = [trial.outcome.value for trial in whole if trial.outcome.feasible]
    assert max(feasible) > feasible[0]


def test_a_study_names_what_is_registered():
    assert set(get_args(OptimiserName)) == set(OPTIMISERS)
