"""Non-dominated designs, by hand."""

import numpy as np

from lib.search.pareto import non_dominated


def test_by_hand():
    costs = np.array([[1.0, 4.0], [2.0, 2.0], [3.0, 3.0], [4.0, 1.0], [2.0, 2.0], [np.nan, 0.0]])
    # (3, 3) loses to (2, 2); the twins (2, 2) stay; a row without a value is no design.
    assert non_dominated(costs).tolist() == [True, True, False, True, True, False]


def test_a_tie_in_one_column_is_lost_by_the_other():
    assert non_dominated(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0]])).tolist() == [True, False]


def test_no_designs():
    assert non_dominated(np.empty((0, 3))).tolist() == []
