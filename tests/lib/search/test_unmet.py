"""Limits that nothing meets, by hand."""

import pytest

from lib.search.optimise import Trial
from lib.search.outcome import Outcome
from lib.search.unmet import unmet_by_all, unmet_limits

LIMITS = {"area_ratio": 1.67, "tdp_ratio": 2.0, "latency_s": 0.015}


def trials(*violations):
    keys = ("area", "tdp", "kernels", "latency")
    outcomes = [
        Outcome(1.0, dict(zip(keys, row, strict=False)), {"reason": f"reason {n}"}) for n, row in enumerate(violations)
    ]
    return [Trial(number, {}, outcome) for number, outcome in enumerate(outcomes)]


def test_nothing_is_unmet_where_a_trial_is_feasible():
    assert unmet_limits(trials((1, 1, 0), (0, -1, 0)), LIMITS) == []
    assert unmet_limits([], LIMITS) == []


def test_the_nearest_design_of_each_limit():
    """One doubling over 2 is 4; a tenth of a doubling over 1.67 is 1.79."""
    area, tdp = unmet_limits(trials((1, 2, 0), (0.1, 3, 0), (2, 1, 0)), LIMITS)
    assert (area.limit, area.allowed, area.trial) == ("area_ratio", 1.67, 1)
    assert area.nearest == pytest.approx(1.67 * 2**0.1)
    assert area.text == "none of 3 designs keeps area_ratio 1.67; trial 1, the nearest, has 1.79"
    assert (tdp.limit, tdp.nearest, tdp.trial) == ("tdp_ratio", 4.0, 2)


def test_designs_over_area_or_power_were_not_run_and_say_nothing_of_kernels():
    (kernels,) = unmet_limits(trials((-1, -1, 0.5), (1, -1, 0), (-1, -1, 0.25)), LIMITS)
    assert (kernels.limit, kernels.nearest, kernels.trial) == ("kernels", 0.25, 2)
    assert kernels.text == ("none of 2 designs within the limits runs every kernel; trial 2, the nearest: reason 2")


def test_latency_in_words():
    (latency,) = unmet_limits(trials((-1, -1, 0, 2.0), (1, -1, 0)), LIMITS)
    assert latency.nearest == pytest.approx(0.06)
    assert latency.text == "none of 1 designs keeps latency_s 15 ms; trial 0, the nearest, has 60 ms"


def test_limits_that_are_met_but_not_together():
    (together,) = unmet_limits(trials((1, -1, 0), (-1, 0.5, 0)), LIMITS)
    assert (together.limit, together.trial, together.nearest) == ("together", 1, 0.5)
    assert together.text == (
        "each limit is met by some of 2 designs, but all of them by none; trial 1, the nearest, fails by tdp: reason 1"
    )


def test_of_several_islands_what_none_met():
    one, two = unmet_limits(trials((1, 2, 0)), LIMITS), unmet_limits(trials((0.1, -1, 0)), LIMITS)
    (area,) = unmet_by_all([one, two])
    assert area.limit == "area_ratio"
    assert area.text.startswith("island 2: none of 1 designs keeps area_ratio 1.67")
    assert unmet_by_all([one, []]) == []
