"""Outcomes of baselines and predictions on two or three hand-made kernels."""

import numpy as np
import pytest

from lib.evaluation.baselines import calibrated, fusion_baselines, remeasured_s, tile_baselines
from lib.evaluation.outcomes import ranking_outcome, runtime_outcome
from tests.shard_examples import hand_made_shard


def tile_example():
    """Best tiles 1 and 5 us; the program runs 3 * 1 + 5 = 8 us with them."""
    return hand_made_shard([[2, 1, 4], [10, 5]], [[1, 2, 3], [2, 1]], executions=[3, 1], default=[2, 0])


def test_analytical_ranks_by_its_estimate():
    outcome = tile_baselines(tile_example())["analytical"]
    assert outcome.predicted_s == pytest.approx([2e-6, 5e-6])
    assert outcome.metrics["ape_pct"].value == pytest.approx(100 * 3 * 1 / 8)
    assert outcome.metrics["top1_regret_pct"].value == pytest.approx((100 + 0) / 2)
    assert outcome.metrics["top5_regret_pct"].value == 0


def test_kernels_with_fewer_than_two_pairs_are_left_out_and_counted():
    tau = tile_baselines(tile_example())["analytical"].metrics["kendall_tau"]
    assert tau.value == pytest.approx((2 - 1) / 3)
    assert (tau.kernels, tau.left_out) == (1, 1)


def test_default_picks_the_default_tile():
    outcome = tile_baselines(tile_example())["default"]
    assert outcome.metrics["ape_pct"].value == pytest.approx(100 * (3 * 3 + 5) / 8)
    assert set(outcome.metrics) == {"ape_pct", "top1_regret_pct"}


def test_random_is_an_expectation():
    outcome = tile_baselines(tile_example())["random"]
    assert outcome.metrics["ape_pct"].value == pytest.approx(100 * (3 * (7 / 3 - 1) + 2.5) / 8)
    assert outcome.metrics["top5_regret_pct"].value == 0
    assert "kendall_tau" not in outcome.metrics


def test_perfect_scores():
    shard = tile_example()
    metrics = ranking_outcome(shard, shard.rows["runtime_s"].to_numpy()).metrics
    assert metrics["ape_pct"].value == 0
    assert metrics["kendall_tau"].value == metrics["tau_b"].value == 1


def test_runtime_metrics_keep_short_kernels_apart():
    shard = hand_made_shard([[10], [20], [4], [40]], [[1]] * 4, executions=[2, 1, 1, 0], task="fusion")
    metrics = runtime_outcome(shard, np.array([11, 15, 5, np.nan]) * 1e-6).metrics
    assert metrics["mape_pct"] == pytest.approx((17.5, 2, 1))
    assert metrics["mape_short_pct"] == pytest.approx((25, 1, 0))
    assert metrics["program_error_pct"] == pytest.approx((100 * 2 / 44, 3, 0))
    assert np.isnan(metrics["kendall_tau"].value)  # a single pair


def test_runtime_order():
    shard = hand_made_shard([[10], [20], [30]], [[1], [3], [2]], task="fusion")
    metrics = fusion_baselines(shard)["analytical"].metrics
    assert metrics["kendall_tau"] == pytest.approx((1 / 3, 3, 0))
    assert metrics["tau_b"].value == pytest.approx(1 / 3)


def test_calibration_is_one_factor_a_class():
    estimated, actual = np.array([1.0, 2, 10, 5]), np.array([2.0, 6, 10, 7])
    classes, executions = np.array(["a", "a", "b", "c"], dtype=object), np.array([2, 1, 1, 0])
    # class a: (2 * 2 + 6) / (2 * 1 + 2); c does not occur in the default fusion
    assert calibrated(estimated, actual, classes, executions) == pytest.approx([2.5, 5, 10, np.nan], nan_ok=True)
    # geometric mean of 2, 2 and 3
    logarithmic = calibrated(estimated, actual, classes, executions, logarithmic=True)
    assert logarithmic == pytest.approx([12 ** (1 / 3), 2 * 12 ** (1 / 3), 10, np.nan], nan_ok=True)


def test_calibrated_kernels_of_classes_of_one_are_exact():
    shard = hand_made_shard([[10], [20], [30]], [[1], [2], [5]], executions=[1, 4, 2], task="fusion")
    baselines = fusion_baselines(shard)
    assert baselines["calibrated-analytical"].metrics["mape_pct"].value == pytest.approx(0)
    # fitted to the runtimes of the default fusion, it has no error of their sum to show
    assert "program_error_pct" not in baselines["calibrated-analytical"].metrics
    # 1 + 4 * 2 + 2 * 5 = 19 where 10 + 80 + 60 = 150 is true
    assert baselines["analytical"].metrics["program_error_pct"].value == pytest.approx(100 * 131 / 150)


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, 2, 3, 4, np.nan]])
def test_unusable_predictions_are_refused(values):
    with pytest.raises(ValueError, match=r"predictions of shape|not finite"):
        ranking_outcome(tile_example(), np.array(values))


def repeated(task="tile"):
    """A tile that was measured three times, and another one that was measured once."""
    shard = hand_made_shard([[10, 12, 14, 20]], [[1, 1, 1, 1]], task=task)
    shard.rows["tile_batch"] = np.array([1, 1, 1, 2], np.int32)
    return shard._replace(origin="recorded")


def test_a_measurement_is_predicted_by_the_others_of_its_tile():
    assert remeasured_s(repeated()) == pytest.approx(np.array([13, 12, 11, 20]) * 1e-6)


def test_simulated_labels_have_no_noise():
    shard = repeated()._replace(origin="simulated")
    floor = tile_baselines(shard)["noise-floor"].metrics
    assert floor["ape_pct"].value == 0
    assert floor["kendall_tau"].value == 1


def test_the_noise_floor_of_repeated_measurements():
    # 11 us is the least prediction: that of the row of 14 us, 40 % above the best
    assert tile_baselines(repeated())["noise-floor"].metrics["ape_pct"].value == pytest.approx(40)


def test_one_factor_a_class_changes_no_order():
    outcomes = tile_baselines(tile_example())
    assert outcomes["calibrated-analytical"].metrics == outcomes["analytical"].metrics
