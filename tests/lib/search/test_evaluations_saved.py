"""Evaluations until a value is reached."""

import pandas as pd
import pytest

from lib.search.evaluations_saved import evaluations_of, evaluations_until, reached_at_the_end

FIRST = pd.DataFrame(
    {
        "island": 1,
        "state": ["tdp", "ok", "infeasible", "area", "ok", "bound", "ok"],
        "best_so_far": [float("nan"), 1.0, 1.0, 1.0, 2.0, 2.0, 4.0],
    }
)
SECOND = pd.DataFrame({"island": 2, "state": ["ok", "ok"], "best_so_far": [1.0, 1.0]})
BOTH = pd.concat([FIRST, SECOND], ignore_index=True)


@pytest.mark.parametrize(("value", "count"), [(0.5, 1), (1.0, 1), (1.5, 3), (2.0, 3), (4.0, 4)])
def test_designs_over_the_limits_are_no_evaluations(value, count):
    assert evaluations_until(FIRST, value) == (count, True)


def test_an_island_that_does_not_reach_the_value_counts_whole():
    assert evaluations_until(SECOND, 2.0) == (2, False)
    found = evaluations_of(BOTH, 2.0)
    assert (found.mean, found.reached, found.islands) == (2.5, 1, 2)
    # Student's t of two: 6.3138 x 0.7071 / sqrt 2.
    assert found.high - found.mean == pytest.approx(3.1569, rel=1e-4)


def test_the_value_to_reach():
    assert reached_at_the_end(BOTH) == pytest.approx(2.0)  # of 4 and 1
