"""Metrics on numbers small enough to work out by hand."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from lib.evaluation.metrics import (
    best_of_top,
    expected_best_of_random,
    is_error,
    kendall,
    kendall_by_kernel,
    mape_pct,
    program_error_pct,
    regret_pct,
    tile_ape_pct,
)

OFFSET = np.array([0, 3, 5])
RUNTIME = np.array([3.0, 1, 2, 5, 4])


def test_tile_ape_weighs_kernels_by_their_executions():
    picked, best = np.array([2.0, 3.0]), np.array([1.0, 3.0])
    assert tile_ape_pct(picked, best, np.array([1, 1])) == pytest.approx(100 * 1 / 4)
    assert tile_ape_pct(picked, best, np.array([1, 2])) == pytest.approx(100 * 1 / 7)
    assert tile_ape_pct(best, best, np.array([1, 2])) == 0
    assert np.isnan(tile_ape_pct(np.array([]), np.array([]), np.array([])))


def test_regret_counts_every_kernel_alike():
    assert regret_pct(np.array([2.0, 300.0]), np.array([1.0, 300.0])) == pytest.approx(50)
    assert np.isnan(regret_pct(np.array([]), np.array([])))


def test_mape():
    assert mape_pct(np.array([10.0, 20.0]), np.array([11.0, 15.0])) == pytest.approx((10 + 25) / 2)
    assert np.isnan(mape_pct(np.array([]), np.array([])))


def test_program_error_is_of_the_sum():
    runtime, predicted = np.array([10.0, 20.0, 7.0]), np.array([11.0, 15.0, np.nan])
    assert program_error_pct(runtime, predicted, np.array([2, 1, 0])) == pytest.approx(100 * 3 / 40)
    assert np.isnan(program_error_pct(runtime, predicted, np.array([2, 1, 1])))
    assert np.isnan(program_error_pct(runtime, predicted, np.array([0, 0, 0])))


def test_best_of_top_takes_equal_scores_in_row_order():
    score = np.array([1.0, 3, 2, 7, 7])
    assert best_of_top(OFFSET, RUNTIME, score, 1).tolist() == [3, 5]
    assert best_of_top(OFFSET, RUNTIME, score, 2).tolist() == [2, 4]
    assert best_of_top(OFFSET, RUNTIME, score, 10).tolist() == [1, 4]


def test_expected_best_of_random_draws():
    runtime = np.array([4.0, 1, 2, 5, 4])
    # one draw: the mean; two of {1, 2, 4}: (1 + 1 + 2) / 3; three or more: the best
    assert expected_best_of_random(OFFSET, runtime, 1) == pytest.approx([7 / 3, 4.5])
    assert expected_best_of_random(OFFSET, runtime, 2) == pytest.approx([4 / 3, 4])
    assert expected_best_of_random(OFFSET, runtime, 3) == pytest.approx([1, 4])
    # two of {1, 2, 3, 10}: 1 in three of six pairs, 2 in two, 3 in one
    four = expected_best_of_random(np.array([0, 4]), np.array([10.0, 3, 2, 1]), 2)
    assert four == pytest.approx([(3 * 1 + 2 * 2 + 3) / 6])


def test_kendall_leaves_out_pairs_within_one_percent():
    runtime = np.array([100.0, 100.5, 120.0, 150.0])
    tau, tau_b, pairs = kendall(runtime, np.array([2.0, 1, 3, 4]))  # the only wrong pair is the near-tie
    assert (tau, pairs) == (1, 5)
    assert tau_b == pytest.approx((5 - 1) / 6)


def test_kendall_counts_equal_scores_as_neither():
    tau, tau_b, pairs = kendall(np.array([1.0, 2, 4]), np.array([1.0, 1, 2]))
    assert tau == pytest.approx(2 / 3)
    assert tau_b == pytest.approx(2 / np.sqrt(3 * 2))
    assert pairs == 3


def test_kendall_of_nothing_to_order():
    tau, tau_b, pairs = kendall(np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    assert np.isnan(tau)
    assert (tau_b, pairs) == (0, 0)
    assert kendall(np.array([1.0, 2.0]), np.array([5.0, 5.0]))[:2] == (0, 0)


def test_tau_b_is_the_usual_one():
    rng = np.random.default_rng(0)
    for _ in range(20):
        runtime, score = rng.integers(0, 12, (2, 30)).astype(float)
        assert kendall(runtime + 1, score)[1] == pytest.approx(kendalltau(runtime, score).statistic)


def test_kendall_by_kernel():
    tau, tau_b, pairs = kendall_by_kernel(OFFSET, RUNTIME, np.array([1.0, 2, 3, 2, 1]))
    # kernel 0: 3 before 1 wrong, 3 before 2 wrong, 1 before 2 right
    assert tau == pytest.approx([-1 / 3, 1])
    assert tau_b == pytest.approx([-1 / 3, 1])
    assert pairs.tolist() == [3, 1]


def test_direction_is_in_the_name():
    assert is_error("ape_pct")
    assert not is_error("kendall_tau")
