"""The ask-and-tell loop with a toy evaluator: seeds, continuing, learning from limits."""

import math

import pytest

from lib.search.optimise import OPTIMISERS, optimise
from lib.search.outcome import Outcome
from lib.search.space import space_from_spec
from tests.lib.search.synthetic import problem
from tests.lib.search.table_3 import TABLE_3, table_3


def toy(point, best=None):
    """Wants 64 PEs and rows like columns; more than 256 x 256 multiply-accumulate units is over the limit."""
    macs = point["pes_x"] * point["pes_y"] * point["systolic_rows"] * point["systolic_columns"]
    value = -abs(math.log2(point["pes_x"] * point["pes_y"]) - 6)
    value -= abs(math.log2(point["systolic_rows"] / point["systolic_columns"]))
    return Outcome(value, {"macs": math.log2(macs / 65536)})


def run(optimiser, trials, seed=1, island=0, history=()):
    return optimise(table_3(), optimiser, trials, seed=seed, island=island, evaluate=toy, history=history)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_same_seed_same_trials(optimiser):
    first, second = run(optimiser, 15), run(optimiser, 15)
    assert first == second
    assert first != run(optimiser, 15, seed=2)
    assert first != run(optimiser, 15, island=1)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_continued_equals_uninterrupted(optimiser):
    whole = run(optimiser, 130)
    assert run(optimiser, 70) == whole[:70]
    recorded = []
    continued = optimise(
        table_3(), optimiser, 130, seed=1, island=0, evaluate=toy, history=whole[:75], record=recorded.append
    )
    assert continued == whole
    assert recorded == whole[75:]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_points_hold_allowed_values(optimiser):
    space = table_3()
    for trial in run(optimiser, 120):
        assert list(trial.point) == list(space.values)
        assert all(trial.point[name] in allowed for name, allowed in space.values.items())


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_a_space_of_one_design_and_one_of_two(optimiser):
    one = space_from_spec({name: values[:1] for name, values in TABLE_3.items()})
    evaluated = []

    def count(point, best):
        evaluated.append(point)
        return toy(point)

    trials = optimise(one, optimiser, 70, seed=1, island=0, evaluate=count)
    assert len(trials) == 70
    assert len(evaluated) == 1  # the same design is not run again
    two = space_from_spec({name: values[: 1 + (name == "pes_x")] for name, values in TABLE_3.items()})
    optimise(two, optimiser, 70, seed=1, island=0, evaluate=count)
    assert {point["pes_x"] for point in evaluated[1:]} == {1, 2}


def test_trials_are_told_what_they_have_to_beat():
    asked = []

    def evaluate(point, best):
        asked.append(best)
        return toy(point)

    trials = optimise(table_3(), "random", 40, seed=1, island=0, evaluate=evaluate)
    values = [t.outcome.value if t.outcome.feasible else -math.inf for t in trials]
    for number, best in enumerate(asked):
        assert (best is None) == (max(values[:number], default=-math.inf) == -math.inf)
        assert best is None or best == max(values[:number])
    asked.clear()
    optimise(table_3(), "nsga2", 40, seed=1, island=0, evaluate=evaluate)
    assert set(asked) == {None}  # a front needs every trial run to its end


@pytest.mark.parametrize("optimiser", [name for name in OPTIMISERS if name != "random"])
def test_optimisers_learn_the_limit_and_the_objective(optimiser):
    """Against random points at equal trials, on three functions whose best value is 1."""

    def best(name, seed):
        space, evaluate = problem(seed)
        trials = optimise(space, name, 500, seed=seed, island=1, evaluate=evaluate)
        feasible = [t.outcome.value for t in trials[250:] if t.outcome.feasible]
        return max(feasible), len(feasible)

    for seed in (1, 2, 3):
        (value, feasible), (random_value, random_feasible) = best(optimiser, seed), best("random", seed)
        assert value > 1.5 * random_value
        assert feasible > 2 * random_feasible


def test_a_failing_trial_is_named():
    def broken(point, best):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError) as caught:
        optimise(table_3(), "random", 3, seed=1, island=0, evaluate=broken)
    assert caught.value.__notes__[0].startswith("in trial 0: {'pes_x'")


def test_unknown_optimiser():
    with pytest.raises(ValueError, match="known: random, tpe, nsga2, cma-es, swarm"):
        run("annealing", 1)
