"""Evaluations until a value is reached."""

import pandas as pd
import pytest

from lib.search.evaluations_saved import (
    best_by_evaluations,
    evaluations_of,
    evaluations_until,
    reached_at_the_end,
    saved,
)

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


def searches_of(counts):
    """One island a count, which reaches 1 with its last trial."""
    rows = [
        pd.DataFrame({"island": island, "state": "ok", "best_so_far": [0.5] * (count - 1) + [1.0]})
        for island, count in enumerate(counts)
    ]
    return evaluations_of(pd.concat(rows), 1.0)


def test_share_that_is_saved():
    """Logarithms to base 2: 6 and 8 against 4 and 6: two less. Each mean has the variance 1, their difference 2, two
    degrees of freedom: Student's t 2.9200 x sqrt 2 = 4.1295."""
    less = saved(searches_of([64, 256]), searches_of([16, 64]))
    assert less.share == pytest.approx(0.75)
    assert less.low == pytest.approx(1 - 2 ** -(2 - 4.1295), rel=1e-4)
    assert less.high == pytest.approx(1 - 2 ** -(2 + 4.1295), rel=1e-4)


def test_best_by_evaluations():
    """The first island has four evaluations, the second two; free trials take none, and what they bring counts to the
    evaluation before."""
    curve = best_by_evaluations(BOTH)
    assert curve["mean"].tolist() == [1.0, 1.0]
    assert best_by_evaluations(FIRST)["mean"].tolist() == [1.0, 1.0, 2.0, 4.0]
