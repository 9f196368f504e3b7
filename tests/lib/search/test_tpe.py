"""The Parzen estimator: its mixtures by hand, and Optuna's sampler on the same functions."""

import math

import numpy as np
import optuna
import pytest

from lib.search.optimise import optimise
from lib.search.space import Space
from lib.search.tpe import LEAST_WIDTH, WIDTH, _kernels, log_density
from tests.lib.search.synthetic import problem

SPACE = Space({"pes_x": (1, 2, 4), "l1_config": ("private", "shared")})


def test_the_density_of_a_mixture_by_hand():
    """One trial at (0, 1) and the even kernel: each has half of the weight."""
    width = max(LEAST_WIDTH, WIDTH * 3)
    bell = [math.exp(-0.5 * (step / width) ** 2) for step in (0, 1, 2)]
    number = [weight / sum(bell) for weight in bell]
    name = [0.5 / 2, 1.5 / 2]  # trial's own 1 + 1/2, the other one 1/2
    kernels = _kernels(SPACE, 1)
    for first in range(3):
        for second in range(2):
            (found,) = log_density(np.array([[first, second]]), np.array([[0, 1]]), kernels)
            assert math.exp(found) == pytest.approx(0.5 * number[first] * name[second] + 0.5 / 6)


def test_a_mixture_is_a_distribution():
    points = np.array([[first, second] for first in range(3) for second in range(2)])
    centres = np.array([[0, 0], [2, 1], [2, 1], [1, 0]])
    assert np.exp(log_density(points, centres, _kernels(SPACE, 4))).sum() == pytest.approx(1.0)


@pytest.mark.slow
def test_as_good_as_the_sampler_of_optuna():
    """Best value after 300 trials on six functions: no worse in the mean than the error of their mean difference allows
    (one-sided, 95 %; Student's t)."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def theirs(seed):
        space, evaluate = problem(seed)
        sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        best = 0.0
        for _ in range(300):
            trial = study.ask()
            point = {
                name: trial.suggest_categorical(name, allowed)
                if named
                else allowed[trial.suggest_int(name, 0, len(allowed) - 1)]
                for (name, allowed), named in zip(space.values.items(), space.named, strict=True)
            }
            outcome = evaluate(point)
            trial.set_constraint("size", outcome.violation)
            study.tell(trial, outcome.value)
            best = max(best, outcome.value if outcome.feasible else 0.0)
        return best

    def ours(seed):
        space, evaluate = problem(seed)
        trials = optimise(space, "tpe", 300, seed=seed, island=1, evaluate=evaluate)
        return max(trial.outcome.value for trial in trials if trial.outcome.feasible)

    differences = np.array([ours(seed) - theirs(seed) for seed in range(1, 7)])
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    assert differences.mean() > -2.015 * error
