"""The ask-and-tell loop with a toy evaluator: seeds, continuing, learning from limits."""

import math

import pytest

from lib.search.optimise import Outcome, optimise
from tests.lib.search.table_3 import table_3


def toy(point):
    """Wants 64 PEs and rows like columns; more than 256 x 256 multiply-accumulate units is over the limit."""
    macs = point["pes_x"] * point["pes_y"] * point["systolic_rows"] * point["systolic_columns"]
    value = -abs(math.log2(point["pes_x"] * point["pes_y"]) - 6)
    value -= abs(math.log2(point["systolic_rows"] / point["systolic_columns"]))
    return Outcome(value, {"macs": math.log2(macs / 65536)})


def run(optimiser, trials, seed=1, island=0, history=()):
    return optimise(table_3(), optimiser, trials, seed=seed, island=island, evaluate=toy, history=history)


@pytest.mark.parametrize("optimiser", ["random", "tpe"])
def test_same_seed_same_trials(optimiser):
    first, second = run(optimiser, 15), run(optimiser, 15)
    assert first == second
    assert first != run(optimiser, 15, seed=2)
    assert first != run(optimiser, 15, island=1)


@pytest.mark.parametrize("optimiser", ["random", "tpe"])
def test_continued_equals_uninterrupted(optimiser):
    whole = run(optimiser, 24)
    assert run(optimiser, 24, history=whole[:14]) == whole


def test_points_hold_allowed_values():
    space = table_3()
    for trial in run("tpe", 15):
        assert list(trial.point) == list(space.values)
        assert all(trial.point[name] in allowed for name, allowed in space.values.items())


def test_tpe_learns_the_limit_and_the_objective():
    def feasible(trials):
        return [t.outcome.value for t in trials if t.outcome.violations["macs"] <= 0]

    random, tpe = run("random", 60), run("tpe", 60)
    assert len(feasible(tpe)) > len(feasible(random))
    assert max(feasible(tpe)) >= max(feasible(random))


def test_a_failing_trial_is_named():
    def broken(point):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError) as caught:
        optimise(table_3(), "random", 3, seed=1, island=0, evaluate=broken)
    assert caught.value.__notes__[0].startswith("in trial 0: {'pes_x'")


def test_unknown_optimiser():
    with pytest.raises(ValueError, match="known: random, tpe"):
        run("annealing", 1)
