"""Asks an optimiser for designs and tells it what they are worth (Optuna's ask-and-tell).

Every ask is seeded by (seed, island, trial number) and depends otherwise only on the trials before it, so a
search that is continued from its recorded trials equals an uninterrupted one. No optimiser state is kept.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import optuna

from lib.progress import Progress
from lib.search.space import CONFIGS, Point, Space

OPTIMISERS = ("random", "tpe")
STARTUP_TRIALS = 10
"""TPE draws its first trials at random (Optuna's default)."""


class Outcome(NamedTuple):
    """What a trial is worth to the optimiser."""

    value: float
    """To be made large; ignored where a violation is positive."""
    violations: dict[str, float]
    """By how much each limit is exceeded; <= 0: kept. Infeasible trials rank by the sum of what is above 0."""
    detail: Any = None
    """Anything else the caller wants to keep."""


class Trial(NamedTuple):
    """One point with its outcome."""

    number: int
    point: Point
    outcome: Outcome


def optimise(
    space: Space,
    optimiser: str,
    trials: int,
    *,
    seed: int,
    island: int,
    evaluate: Callable[[Point], Outcome],
    history: Sequence[Trial] = (),
) -> list[Trial]:
    """Run a search until there are `trials` trials; those in `history` are taken over, not evaluated again.

    Raises ValueError for an unknown optimiser. A failing `evaluate` is raised on with the trial's number and point.
    """
    if optimiser not in OPTIMISERS:
        raise ValueError(f"unknown optimiser {optimiser!r}; known: {', '.join(OPTIMISERS)}")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize")
    distributions = _distributions(space)
    done: list[Trial] = []
    best = float("nan")
    with Progress(f"search ({optimiser})", trials) as progress:
        for number in range(trials):
            study.sampler = _sampler(optimiser, seed, island, number)
            if number < len(history):
                study.enqueue_trial(_positions(space, history[number].point))
            asked = study.ask(distributions)
            point = _point(space, asked.params)
            outcome = history[number].outcome if number < len(history) else _evaluated(evaluate, point, number)
            for limit, violation in outcome.violations.items():
                asked.set_constraint(limit, violation)
            feasible = max(outcome.violations.values(), default=0.0) <= 0
            study.tell(asked, outcome.value if feasible else 0.0)
            if feasible:
                best = float(np.fmax(best, outcome.value))
            done.append(Trial(number, point, outcome))
            progress.update(number + 1, "none valid yet" if np.isnan(best) else f"best {best:.3g}")
    return done


def _evaluated(evaluate: Callable[[Point], Outcome], point: Point, number: int) -> Outcome:
    try:
        return evaluate(point)
    except Exception as error:
        error.add_note(f"in trial {number}: {point}")
        raise


def _sampler(optimiser: str, seed: int, island: int, number: int) -> optuna.samplers.BaseSampler:
    """A fresh sampler: its random numbers depend on (seed, island, trial number) alone."""
    entropy = int(np.random.SeedSequence([seed, island, number]).generate_state(1)[0])
    if optimiser == "random":
        return optuna.samplers.RandomSampler(seed=entropy)
    return optuna.samplers.TPESampler(seed=entropy, multivariate=True, n_startup_trials=STARTUP_TRIALS)


def _distributions(space: Space) -> dict[str, optuna.distributions.BaseDistribution]:
    """Names are categories; numbers are positions in the ascending list of allowed values, so that neighbours
    are near (powers of two become evenly spaced)."""
    return {
        name: optuna.distributions.CategoricalDistribution(allowed)
        if name in CONFIGS
        else optuna.distributions.IntDistribution(0, len(allowed) - 1)
        for name, allowed in space.values.items()
    }


def _point(space: Space, parameters: dict[str, Any]) -> Point:
    return {
        name: parameters[name] if name in CONFIGS else allowed[parameters[name]]
        for name, allowed in space.values.items()
    }


def _positions(space: Space, point: Point) -> dict[str, Any]:
    return {
        name: point[name] if name in CONFIGS else allowed.index(point[name]) for name, allowed in space.values.items()
    }
