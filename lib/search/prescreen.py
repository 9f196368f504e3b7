"""Pre-screening: the optimiser proposes several designs a trial, and a surrogate picks the one to evaluate.

Values have to be positive, as gains are.

What costs nothing is checked exactly: area, TDP and whether the datapath can be built. Of the candidates that pass, the
surrogate takes the one with the most optimistic estimate: the forest's mean, plus the spread over its trees, plus the
logarithm of the chance that the design keeps the limits that only a run can tell (kernels that fit nowhere, latency).
The forest learns, from the trials so far, by how much the first guess is wrong.

Everything follows from the trials that were told and from the random numbers of the ask, so a continued search equals
an uninterrupted one.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lib.search.design_features import design_features
from lib.search.first_guess import FirstGuess
from lib.search.forest import Forest, grown_forest, predictions
from lib.search.free_limits import FreeLimits
from lib.search.optimiser import Optimiser
from lib.search.outcome import Outcome
from lib.search.space import Point, Space, datapath_of, design_of_datapath

CANDIDATES = 16
"""Points that the optimiser is asked for in each trial."""
MOST_ASKED = 64
"""Points that it is asked for at most, until one passes."""
FIRST_FIT = 20
"""Evaluated designs from which the first forest is grown."""
GROWTH = 1.2
"""The forest is grown again once there are so many times as many; then its cost is a constant share of a search."""
MOST_ROWS = 1200
"""A forest's designs: the best half of them, and the latest."""
UNRANKED = 0.1
"""Share of trials that take the first candidate that passes, so that the surrogate also sees what it thinks little
of."""
LEAST_CHANCE = 1e-3
"""Of keeping the limits."""


class Surrogate(NamedTuple):
    """What was learnt from a number of evaluated designs."""

    correction: Forest | None
    """Logarithm of the value less the first guess; None: no design kept the limits yet."""
    chance: Forest | None
    """Of keeping the limits; None: all evaluated designs did, or none."""


class Candidate(NamedTuple):
    """A point that passes what costs nothing."""

    positions: np.ndarray
    """int64[p]"""
    point: Point
    spec: dict[str, Any]
    """Its resolved datapath."""


class PreScreened:
    """An optimiser that wraps another one, with the same face (:class:`lib.search.optimiser.Optimiser`).

    The wrapped optimiser must not change its state when asked, as CMA-ES does.
    """

    def __init__(self, optimiser: Optimiser, space: Space, guess: FirstGuess, limits: FreeLimits, seed: Sequence[int]):
        """`seed`: of the search and its island."""
        self.optimiser, self.space, self.guess, self.limits, self.seed = optimiser, space, guess, limits, tuple(seed)
        self._met: set[tuple] = set()
        self._asked: dict[tuple, float] = {}
        self._features: list[np.ndarray] = []
        self._guessed: list[float] = []
        self._value: list[float] = []
        self._kept: list[bool] = []
        self._surrogate, self._grown_from = Surrogate(None, None), 0

    def ask(self, rng: np.random.Generator) -> np.ndarray:
        """The most promising of CANDIDATES points; the last one where none passes that is new."""
        new: dict[tuple, Candidate] = {}
        for asked in range(MOST_ASKED):
            if asked >= CANDIDATES and new:
                break
            positions = self.optimiser.ask(rng)
            point = self.space.point(positions)
            spec = datapath_of(point)
            design = design_of_datapath(spec, point)
            if design not in self._met and design not in new and self.limits.keeps(spec):
                new[design] = Candidate(positions, point, spec)
        if not new:
            return positions
        candidates = list(new.values())
        guessed = self.guess([candidate.point for candidate in candidates])
        self._asked = dict(zip(new, guessed.tolist(), strict=True))
        unranked = rng.random() < UNRANKED
        chosen = 0 if unranked else int(np.argmax(np.nan_to_num(self._optimistic(candidates, guessed), nan=-np.inf)))
        return candidates[chosen].positions

    def tell(self, positions: np.ndarray, outcome: Outcome) -> None:
        """Pass the trial on, and keep it if it was evaluated."""
        self.optimiser.tell(positions, outcome)
        point = self.space.point(positions)
        spec = datapath_of(point)
        design = design_of_datapath(spec, point)
        if design in self._met:
            return
        self._met.add(design)
        if self.limits.keeps(spec):  # of a trial that ended at its bound only that it kept the limits
            self._features.append(design_features(point, spec))
            self._guessed.append(self._asked[design] if design in self._asked else float(self.guess([point])[0]))
            self._value.append(outcome.value if outcome.feasible and not outcome.bound else np.nan)
            self._kept.append(outcome.feasible)

    def _optimistic(self, candidates: list[Candidate], guessed: np.ndarray) -> np.ndarray:
        """float64[n] estimates of the logarithm of the value."""
        surrogate, estimate = self._current(), guessed
        features = np.array([design_features(candidate.point, candidate.spec) for candidate in candidates])
        if surrogate.correction is not None:
            said = predictions(surrogate.correction, features)
            estimate = estimate + said.mean(axis=0) + said.std(axis=0)
        if surrogate.chance is not None:
            estimate = estimate + np.log(np.maximum(LEAST_CHANCE, predictions(surrogate.chance, features).mean(axis=0)))
        return estimate

    def _current(self) -> Surrogate:
        """The surrogate of the latest milestone; which trials it knows depends on their number alone."""
        milestone = latest_milestone(len(self._value))
        if milestone != self._grown_from:
            self._surrogate, self._grown_from = self._grown(milestone), milestone
        return self._surrogate

    def _grown(self, number: int) -> Surrogate:
        features, kept = np.array(self._features[:number]), np.array(self._kept[:number])
        value, guessed = np.array(self._value[:number]), np.array(self._guessed[:number])
        rng = np.random.default_rng([*self.seed, number])
        rows = np.flatnonzero(np.isfinite(value) & np.isfinite(guessed))
        if len(rows) > MOST_ROWS:
            best = rows[np.argsort(-value[rows], kind="stable")[: MOST_ROWS // 2]]
            rows = np.union1d(best, rows[-MOST_ROWS // 2 :])
        correction = grown_forest(features[rows], np.log(value[rows]) - guessed[rows], rng) if len(rows) else None
        late = slice(-MOST_ROWS, None)
        mixed = kept[late].any() and not kept[late].all()
        chance = grown_forest(features[late], kept[late].astype(float), rng) if mixed else None
        return Surrogate(correction, chance)


def latest_milestone(number: int) -> int:
    """The largest of FIRST_FIT, FIRST_FIT x GROWTH, ... up to `number`; 0 where there is none yet."""
    milestone = 0
    following = FIRST_FIT
    while following <= number:
        milestone, following = following, math.ceil(following * GROWTH)
    return milestone
