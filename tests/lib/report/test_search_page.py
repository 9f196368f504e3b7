"""The page of one search: complete, and right about what is not there."""

import numpy as np
import pytest

from lib.report.search_charts import MOST_POINTS, best_so_far_chart, shown_trials, states_chart
from lib.report.search_figures import best_so_far_band, trials_of
from lib.report.search_page import paper_convergence, search_page
from lib.report.search_tables import (
    best_trials_table,
    explained_table,
    in_words,
    limits_table,
    residency_table,
    states_table,
    taken_of_limits,
)
from tests.lib.report.report_examples import report_data, search, summary


def page_of(islands, **changes):
    return search_page(report_data(searches={"net": islands}, **changes), "net")


def titles(page):
    return [part["title"] if part["kind"] == "chart" else part["table"].title for part in page.parts
            if part["kind"] in ("chart", "table")]  # fmt: skip


def test_a_search_that_found_nothing_says_so():
    page = page_of([search(1, [np.nan, np.nan])])
    assert any("No trial met the limits" in part.get("text", "") for part in page.parts)
    assert "Designs" not in titles(page)


def test_a_search_shows_progress_limits_designs_kernels_and_what_it_pays():
    shown = titles(page_of([search(1, [1.0, 3.0, np.nan]), search(2, [2.0, 2.0, 2.0])]))
    for title in (
        "Best so far against trials",
        "Speed against power, area and latency",
        "Limits",
        "What became of the trials",
        "Designs",
        "What stays on chip between kernels",
        "Return on investment against volume",
    ):
        assert title in shown


def test_the_papers_curves_stand_beside_searches_on_its_workload_alone():
    own = search(1, [1.0, 2.0])
    b7 = search(1, [1.0, 2.0], ("efficientnet-b7",))
    lines = {name: [trace.name for trace in page_of([island]).parts[2]["figure"].data]
             for name, island in (("own", own), ("b7", b7))}  # fmt: skip
    assert lines["own"] == ["tpe (1 island)"]
    assert lines["b7"] == ["tpe (1 island)", "tpe, paper", "random, paper", "swarm, paper"]


def test_figure_11():
    """FAST figure 11: the swarm overtakes the Bayesian optimiser between 2000 and 3000 trials."""
    paper = paper_convergence()
    assert paper["swarm"][2000] < paper["tpe"][2000]
    assert paper["swarm"][3000] > paper["tpe"][3000]
    assert list(paper["random"]) == [500, 1000, 2000, 3000, 5000]


def test_a_band_is_drawn_for_several_islands():
    islands = [search(1, [1.0, 2.0]), search(2, [2.0, 3.0])]
    figure = best_so_far_chart({"tpe": best_so_far_band(summary(islands))}, {}, "title", "x")
    assert len(figure.data) == 3
    assert figure.data[1].fill == "tonexty"


def test_limits_say_which_binds():
    """The example's best design takes half of the baseline's power, as much area, and 10 ms."""
    whole = summary([search(1, [1.0, 2.0, np.nan, np.nan])])
    limits = {"tdp_ratio": 0.5, "area_ratio": 1.67, "latency_s": 0.011}
    rows = limits_table(trials_of(whole), limits, taken_of_limits(whole["designs.json"])).rows
    assert [(row[1], row[3], row[4]) for row in rows] == [
        ("0.5", "yes", "50"),
        ("1.67", "no", "0"),
        ("0.011", "yes", "0"),
    ]
    assert [row[3] for row in limits_table(trials_of(whole), limits, {}).rows] == ["-"] * 3


def test_what_became_of_trials_adds_up():
    trials = trials_of(summary([search(1, [1.0, np.nan, np.nan, 2.0])]))
    assert [row[:3] for row in states_table(trials).rows] == [
        ["within all limits", "2", "50"],
        ["over TDP", "2", "50"],
    ]
    figure = states_chart(trials, "title")
    assert sum(np.asarray(bar.y) for bar in figure.data) == pytest.approx([100.0] * 4)


def test_the_front_is_always_shown():
    count = 4 * MOST_POINTS
    island = search(1, list(np.linspace(2.0, 1.0, count)))
    shown = shown_trials(trials_of(summary([island])))
    assert len(shown) <= MOST_POINTS + 2
    assert shown["pareto"].sum() == island["trials.parquet"]["pareto"].sum()


def test_best_trials_come_first():
    table = best_trials_table(trials_of(summary([search(1, [1.0, np.nan]), search(2, [2.0, np.nan])])))
    assert [row[:2] for row in table.rows] == [["2/0", "2"], ["1/0", "1"]]


def test_a_gain_that_halves_is_flagged():
    """The example's gain is half as large under public; over the scheduled baseline, which gains 1.7, it is 1.76."""
    designs = search(1, [3.0])["designs.json"]
    assert in_words(designs) == (
        "Perf/TDP gain 3 by the power model fast-fitted, 1.5 by public. It halves under public: the design owes it to "
        "the fitted constants of power. Over tpu-v3, best schedules: 1.76."
    )
    designs.best.perf_per_tdp_gain["public"] = 1.6
    assert "does not halve" in in_words(designs)


def test_residency_counts_executions():
    """Kernel a runs once and keeps its output, b ten times and keeps input and weight; DRAM 12 MB before, 11 after."""
    table = residency_table(search(1, [1.0])["kernels.parquet"])
    assert [row[:3] for row in table.rows] == [["input", "1", "90.9"], ["weight", "1", "90.9"], ["output", "1", "9.09"]]
    assert "11 MB, of the baseline 12 MB" in table.note


def test_what_makes_it_better_multiplies_to_the_whole():
    """The example's batch doubles Perf/TDP on the ladder, its DRAM takes a quarter of a doubling back."""
    table = explained_table(search(1, [1.0])["explained.parquet"])
    assert [row[0] for row in table.rows] == ["batch", "DRAM", "all together"]
    assert [row[-1] for row in table.rows] == ["2", "0.841", "1.68"]
    assert [row[3] for row in table.rows] == ["1.68", "1", "1.68"]
    assert [row[5] for row in table.rows] == ["1", "1.19", "1.19"]
