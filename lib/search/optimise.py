"""The loop of a search: ask an optimiser for designs, evaluate them, tell it what they are worth.

Every ask gets random numbers of its own, seeded by (seed, island, trial number), and depends otherwise only on the
trials before it. So a search that is continued from its recorded trials equals an uninterrupted one.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from lib.progress import Progress
from lib.search.cma_es import CmaEs
from lib.search.nsga2 import Nsga2
from lib.search.optimiser import MakeOptimiser, Optimiser, RandomSearch
from lib.search.outcome import Outcome
from lib.search.prescreen import PreScreened
from lib.search.space import Point, Space, design_of_point
from lib.search.swarm import Swarm
from lib.search.tpe import Tpe

OPTIMISERS: dict[str, MakeOptimiser] = {
    "random": RandomSearch, "tpe": Tpe, "nsga2": Nsga2, "cma-es": CmaEs, "swarm": Swarm,
}  # fmt: skip
"""By the name that a study gives them."""
SEVERAL_OBJECTIVES = ("nsga2",)
"""Optimisers that look for a Pareto front; for the others a trial may stop once it can't be the best."""

Evaluate = Callable[[Point, float | None], Outcome]
"""Outcome of a point, given the best value so far (None: there is none, or the trial is to be run to its end)."""


class Trial(NamedTuple):
    """One point with its outcome."""

    number: int
    point: Point
    outcome: Outcome


def optimiser_of(name: str, space: Space) -> Optimiser:
    """A new optimiser. Raises ValueError for an unknown name."""
    if name not in OPTIMISERS:
        raise ValueError(f"unknown optimiser {name!r}; known: {', '.join(OPTIMISERS)}")
    return OPTIMISERS[name](space)


def optimise(
    space: Space,
    optimiser: str | Optimiser,
    trials: int,
    *,
    seed: int,
    island: int,
    evaluate: Evaluate,
    history: Sequence[Trial] = (),
    record: Callable[[Trial], None] | None = None,
    screen: Callable[[Optimiser], PreScreened] | None = None,
) -> list[Trial]:
    """Run a search until there are `trials` trials.

    Those in `history` (its first trials, in order) are taken over, not evaluated again; `record` is called with every
    other one. A design that comes up again has the outcome that it had. `screen` puts a surrogate between the optimiser
    and its trials. Raises ValueError for an unknown optimiser. A
    failing `evaluate` is raised on with the trial's number and point.
    """
    name = optimiser if isinstance(optimiser, str) else type(optimiser).__name__
    if isinstance(optimiser, str):
        optimiser = optimiser_of(optimiser, space)
    if screen is not None:
        optimiser = screen(optimiser)
    done: list[Trial] = []
    met: dict[tuple, Outcome] = {}
    best: float | None = None
    with Progress(f"search ({name})", trials) as progress:
        for number in range(trials):
            if number >= len(history) or screen is None:  # asks of a pre-screened optimiser leave no trace
                positions = optimiser.ask(np.random.default_rng([seed, island, number]))
            if number < len(history):
                trial = history[number]._replace(number=number)
                positions = space.positions(trial.point)
                design = design_of_point(trial.point)
            else:
                point = space.point(positions)
                design = design_of_point(point)
                known = met.get(design)
                to_beat = None if name in SEVERAL_OBJECTIVES else best
                trial = Trial(number, point, known or _evaluated(evaluate, point, to_beat, number))
                if record is not None:
                    record(trial)
            outcome = trial.outcome
            met.setdefault(design, outcome)
            optimiser.tell(positions, outcome)
            if outcome.feasible and not outcome.bound:
                best = outcome.value if best is None else max(best, outcome.value)
            done.append(trial)
            progress.update(number + 1, "none valid yet" if best is None else f"best {best:.3g}")
    return done


def _evaluated(evaluate: Evaluate, point: Point, best: float | None, number: int) -> Outcome:
    try:
        outcome = evaluate(point, best)
    except Exception as error:
        error.add_note(f"in trial {number}: {point}")
        raise
    if outcome.feasible and math.isnan(outcome.value):
        raise ValueError(f"trial {number} keeps the limits but has no value: {point}")
    return outcome
