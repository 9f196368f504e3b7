"""Fronts and crowding by hand, and a front that is known."""

import numpy as np

from lib.search.nsga2 import Nsga2, crowding_distances, front_ranks
from lib.search.optimise import optimise
from lib.search.outcome import Outcome
from lib.search.pareto import non_dominated
from lib.search.space import space_from_spec
from tests.lib.search.table_3 import TABLE_3, powers


def test_fronts_by_hand():
    costs = np.array([[1.0, 4.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0], [0.0, 0.0], [0.0, 0.0]])
    violation = np.array([0.0, 0.0, -1.0, 0.0, 2.0, 1.0])
    # (3, 3) loses to (2, 2), (4, 4) to both; beyond the limits the smaller violation is better, whatever the costs.
    assert front_ranks(costs, violation).tolist() == [0, 0, 1, 2, 4, 3]


def test_crowding_by_hand():
    """The middle point's neighbours are 3 of 4 apart along one cost and all of 8 along the other."""
    costs = np.array([[0.0, 9.0], [1.0, 3.0], [3.0, 2.0], [4.0, 1.0], [7.0, 7.0]])
    crowding = crowding_distances(costs, np.array([0, 0, 0, 0, 1]))
    assert crowding[[0, 3, 4]].tolist() == [np.inf] * 3
    assert crowding[1] == 3 / 4 + 7 / 8
    assert crowding[2] == 3 / 4 + 2 / 8


def test_it_finds_the_whole_of_a_front():
    """pes_x is worth what it costs: each of its nine values is on the front once everything else is at its best,
    and the search comes near: several are there, and the best compromise is beyond the random one."""
    space = space_from_spec({name: values[:3] for name, values in TABLE_3.items()} | {"pes_x": powers(1, 256)})

    def evaluate(point, best=None):
        positions = space.positions(point)
        waste = float(positions[1:].sum())
        return Outcome(1.0, {}, objectives=(float(positions[0]) - waste, -float(positions[0]) - waste))

    trials = optimise(space, "nsga2", 2000, seed=1, island=1, evaluate=evaluate)
    costs = -np.array([trial.outcome.objectives for trial in trials])
    front = {trial.point["pes_x"] for trial, kept in zip(trials, non_dominated(costs), strict=True) if kept}
    random = optimise(space, "random", 2000, seed=1, island=1, evaluate=evaluate)
    best = np.max([min(trial.outcome.objectives) for trial in trials])
    assert best > np.max([min(trial.outcome.objectives) for trial in random])
    assert len(front) >= 5


def test_points_beyond_a_limit_need_no_objectives():
    space = space_from_spec(TABLE_3)

    def evaluate(point, best=None):
        over = float(space.positions(point)[0] - 1)
        return Outcome(float("nan"), {"limit": over}) if over > 0 else Outcome(1.0, {"limit": over}, None, (1.0, -over))

    trials = optimise(space, "nsga2", 300, seed=1, island=1, evaluate=evaluate)
    feasible = [trial.outcome.feasible for trial in trials]
    assert sum(feasible[200:]) > 2 * sum(feasible[:100])


def test_the_population_is_kept_by_telling():
    space = space_from_spec(TABLE_3)
    one, other = Nsga2(space), Nsga2(space)
    for number in range(120):
        rng = np.random.default_rng(number)
        asked = one.ask(rng)
        outcome = Outcome(float(asked.sum()), {"limit": float(asked[0] - 4)})
        one.tell(asked, outcome)
        other.tell(asked, outcome)
    np.testing.assert_array_equal(one.ask(np.random.default_rng(0)), other.ask(np.random.default_rng(0)))
