"""Medians, rates, repetitions and the end of the budget."""

import os
import time

import pytest

from lib.benchmark.measurement import Measurement, rates, repeated_s
from lib.benchmark.side_by_side import rates_side_by_side


def test_the_value_is_the_median():
    assert Measurement("bench.a", "a", "s", (3.0, 1.0, 10.0)).value == 3.0
    assert Measurement("bench.a", "a", "s", ()).value is None


def test_rates_are_amount_over_time():
    assert rates(10.0, [2.0, 5.0]) == (5.0, 2.0)


def test_warm_ups_are_not_counted():
    calls = []
    seconds = repeated_s(lambda: calls.append(0), repetitions=3, budget_s=60.0, warm_ups=2)
    assert len(calls) == 5
    assert len(seconds) == 3


def test_the_budget_ends_repetitions_but_never_before_the_first():
    assert len(repeated_s(lambda: time.sleep(0.02), repetitions=1000, budget_s=0.01)) == 1


def prepare_sleeper(seconds: float, amount: float):
    return lambda: time.sleep(seconds), amount


def prepare_failure():
    raise ValueError("no such kernel")


def test_two_processes_do_twice_the_work_of_one():
    one, two = (
        rates_side_by_side(prepare_sleeper, (0.05, 7.0), processes=count, repetitions=2, least_s=0.1)
        for count in (1, 2)
    )
    assert len(one) == len(two) == 2
    # A sleeper does 7 units in 0.05 s, never faster.
    assert max(one) <= 140.0
    assert max(two) <= 280.0
    assert max(two) > max(one)


def test_a_process_that_fails_says_why():
    with pytest.raises(RuntimeError, match="ValueError: no such kernel"):
        rates_side_by_side(prepare_failure, (), processes=1, repetitions=1, least_s=0.01)


def prepare_death():
    os._exit(3)


def test_a_process_that_dies_is_not_waited_for():
    with pytest.raises(RuntimeError, match="ended with status 3"):
        rates_side_by_side(prepare_death, (), processes=1, repetitions=1, least_s=0.01)
