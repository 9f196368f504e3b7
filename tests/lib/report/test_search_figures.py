"""What pages of searches are computed from: bands, trials to a value, places of designs."""

import math

import numpy as np
import pytest

from lib.report.search_figures import (
    best_so_far_band,
    gain_halves,
    geometric_mean,
    heaviest_kernels,
    places,
    trials_of,
    trials_to_reach,
)
from tests.lib.report.report_examples import search, summary


def test_speed_is_gain_times_power():
    trials = trials_of(summary([search(1, [1.0, 3.0]), search(2, [2.0, np.nan])]))
    assert trials["speed_ratio"].tolist()[:3] == [0.5, 1.5, 1.0]
    assert trials["latency_ms"].tolist()[:3] == [20.0] * 3


def test_the_band_begins_where_every_island_has_a_design():
    band = best_so_far_band(summary([search(1, [1.0, 1.0, 2.0]), search(2, [np.nan, 3.0, 3.0])]))
    assert band["trial"].tolist() == [2, 3]
    assert band["mean"].tolist() == [2.0, 2.5]
    assert band[["low", "high"]].notna().all(axis=None)


def test_the_band_has_the_trials_at_which_it_changes_and_the_last():
    band = best_so_far_band(summary([search(1, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0])]))
    assert band["trial"].tolist() == [1, 4, 6]
    assert band["mean"].tolist() == [1.0, 2.0, 2.0]
    assert band[["low", "high"]].isna().all(axis=None)


def test_a_search_without_a_design_has_no_band():
    assert best_so_far_band(summary([search(1, [np.nan, np.nan])])).empty


def test_trials_to_reach_count_from_one():
    islands = [search(1, [1.0, 3.0, 2.0]), search(2, [3.0, 1.0, 1.0]), search(3, [1.0, np.nan, 1.0])]
    assert trials_to_reach(trials_of(summary(islands)), 3.0).tolist() == [2.0, 1.0, math.inf]


def test_a_gain_that_halves_under_public():
    assert gain_halves(4.0, 2.0)
    assert not gain_halves(4.0, 2.1)
    assert not gain_halves(math.nan, math.nan)


def test_geometric_mean():
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert math.isnan(geometric_mean([]))


def test_heaviest_kernels_count_their_executions():
    table = heaviest_kernels(search(1, [1.0])["kernels.parquet"])
    assert table["label"].tolist() == ["net · b (dot)", "net · a (dot)"]
    assert table["baseline_s"].tolist() == pytest.approx([10e-3, 3e-3])


def test_designs_lie_among_the_trials_by_their_ratios():
    designs = search(1, [1.0])["designs.json"]
    found = places(designs, [designs.scheduled, *designs.references])
    assert found["tpu-v3, best schedules"] == pytest.approx(
        {"tdp_ratio": 1.0, "area_ratio": 1.0, "latency_ms": 10.0, "speed_ratio": 1.7}
    )
    assert found["fast-large"] == pytest.approx(
        {"tdp_ratio": 0.8, "area_ratio": 1.0, "latency_ms": 10.0, "speed_ratio": 2.4}
    )
