"""Headline figures: names, goals, and what is not known."""

import numpy as np

from lib.report.console import one_screen
from lib.report.headline import summary
from tests.lib.report.report_examples import report_data, search


def figures(data=None):
    return {figure.name: figure for figure in summary(data or report_data()).figures}


def test_names_are_those_of_the_house_plan_and_sorted():
    names = list(figures())
    assert names == sorted(names)
    for name in (
        "evaluation.accuracy.tile.tpu-v3.ape_pct.ranker",
        "evaluation.accuracy.tile.tpu-v3.ape_pct.learned",
        "evaluation.accuracy.tile.tpu-v3.ape_pct.analytical",
        "search.net.perf_per_tdp_gain",
        "run.program.wall_s",
    ):
        assert name in names


def test_goals_apply_to_the_headline_model_only():
    found = figures()
    learned = found["evaluation.accuracy.tile.tpu-v3.ape_pct.learned"]
    assert (learned.value, learned.unit, learned.goal, learned.met) == (0.8, "%", "<= 1", True)
    tau = found["evaluation.accuracy.tile.tpu-v3.kendall_tau.learned"]
    assert (tau.goal, tau.met) == (">= 0.93", False)
    assert found["evaluation.accuracy.tile.tpu-v3.ape_pct.analytical"].goal is None


def test_an_unknown_value_is_none_and_meets_nothing():
    unknown = figures()["evaluation.accuracy.fusion.tpu-v2.mape_pct.analytical"]
    assert unknown.value is None
    assert unknown.met is None


def test_search_figures_come_from_the_best_trial_of_all_islands():
    data = report_data(searches={"net": [search(1, [1.0, 2.0, 1.5]), search(2, [np.nan, 3.0, 2.5])]})
    found = figures(data)
    assert found["search.net.perf_per_tdp_gain"].value == 3.0
    assert found["search.net.trials"].value == 6
    assert found["search.net.trials_per_s"].value == 6 / 6.0


def test_a_search_without_a_valid_trial_has_no_gain():
    found = figures(report_data(searches={"net": [search(1, [np.nan, np.nan])]}))
    assert "search.net.perf_per_tdp_gain" not in found
    assert found["search.net.trials"].value == 2


def test_wall_times_are_added_up_by_rule():
    assert figures()["run.program.wall_s"].value == 5.0


def test_one_screen_shows_models_side_by_side():
    text = one_screen(summary(report_data()))
    row = next(line for line in text.splitlines() if "tile tpu-v3 ape_pct" in line)
    assert "0.8 % (goal <= 1: met)" in row
    assert "4 %" in row
    assert "11 s" in text
    assert len(text.splitlines()) < 30
