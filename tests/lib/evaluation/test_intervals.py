"""Means over programs and their intervals, where the resamples can be listed."""

import numpy as np
import pytest

from lib.evaluation.intervals import compare, program_mean


def test_errors_have_a_geometric_mean():
    # resamples of two programs: 1 (a quarter of them), 2 (half), 4 (a quarter)
    assert program_mean(np.array([1.0, 4.0]), True, seed=1) == pytest.approx((2, 1, 4))


def test_errors_are_floored():
    assert program_mean(np.array([0.0, 10.0]), True, seed=1) == pytest.approx((1, 0.1, 10))


def test_correlations_have_an_arithmetic_mean():
    assert program_mean(np.array([0.5, 0.7]), False, seed=1) == pytest.approx((0.6, 0.5, 0.7))


def test_one_program_has_no_interval():
    value, low, high = program_mean(np.array([3.0]), True, seed=1)
    assert value == pytest.approx(3)
    assert np.isnan([low, high]).all()
    assert np.isnan(program_mean(np.array([]), True, seed=1)).all()


def test_interval_narrows_to_the_standard_error():
    values = np.random.default_rng(3).normal(size=400)
    value, low, high = program_mean(values, False, seed=1)
    standard_error = values.std() / np.sqrt(400)
    # 1.645: the normal distribution's 95 % point
    assert (value - low) / standard_error == pytest.approx(1.645, rel=0.1)
    assert (high - value) / standard_error == pytest.approx(1.645, rel=0.1)


def test_errors_are_compared_by_ratio():
    result = compare(np.array([1.0, 2.0]), np.array([2.0, 8.0]), True, seed=1)
    assert result[:3] == pytest.approx((np.sqrt(1 / 2 * 1 / 4), 1 / 4, 1 / 2))
    assert result.better
    undecided = compare(np.array([1.0, 8.0]), np.array([2.0, 4.0]), True, seed=1)
    assert undecided.difference == pytest.approx(1)
    assert not undecided.better


def test_correlations_are_compared_by_difference():
    result = compare(np.array([0.9, 0.8]), np.array([0.5, 0.6]), False, seed=1)
    assert result[:3] == pytest.approx((0.3, 0.2, 0.4))
    assert result.better
    assert not compare(np.array([0.5, 0.6]), np.array([0.9, 0.8]), False, seed=1).better


def test_one_program_is_never_better():
    assert not compare(np.array([1.0]), np.array([5.0]), True, seed=1).better
