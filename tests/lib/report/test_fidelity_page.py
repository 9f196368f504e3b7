"""The page of outside figures and its headline figures."""

import re

import pandas as pd
import pytest

from lib.fidelity.figure import Figure
from lib.fidelity.sources import figure_table
from lib.report.fidelity_data import fidelity_figures
from lib.report.fidelity_headline import fidelity_headlines
from lib.report.fidelity_page import fidelity_page, goal_table, summary_table
from lib.report.pages import build_report
from tests.lib.report.report_examples import Stub, report_data

NAN = float("nan")
FIGURES = [
    Figure("fast-table-5", "fast-large", "queries", "1/s", "calibration", 770.0, 733.0, "", 700.0, 800.0),
    Figure("fast-table-5", "fast-small", "queries", "1/s", "validation", 300.0, 241.0),
    Figure("fast-table-1", "efficientnet-b3", "max_working_set", "MiB", "calibration", 7.7, NAN, "an erratum"),
    *(Figure("scalesim", f"layer-{n}", "cycles", "cycles", "validation", 100.0 + n, 100.0) for n in range(5)),
    Figure("scalesim", "layer-0", "bound", "cycles", "validation", 90.0, 100.0, relation="at most"),
    Figure("scalesim", "layer-1", "bound", "cycles", "validation", 105.0, 100.0, relation="at most"),
]


def data(figures=None):
    return report_data(fidelity={"f": Stub({}, {"figures.parquet": figure_table(figures or FIGURES)})})


def test_summary_counts_by_source_and_role():
    rows = {(row[0], row[1]): row[2:] for row in summary_table(figure_table(FIGURES)).rows}
    # Errors of layers 0 to 4: 0, 1, 2, 3, 4 %.
    assert rows["SCALE-Sim 3.0.0: compute cycles of its systolic arrays", "validation"] == [
        "5",
        "2",
        "5",
        "4",
        "1 of 2",
    ]
    assert rows["FAST, table 5", "validation"] == ["1", "24.5", "0", "24.5", "-"]
    assert rows["FAST, table 1", "calibration"] == ["0", "-", "-", "-", "-"]


def test_headlines_have_role_and_goal():
    found = {figure.name: figure for figure in fidelity_headlines(fidelity_figures(data()))}
    error = found["fidelity.fast-table-5.fast-large.queries.error_pct"]
    assert (error.role, error.goal, error.met) == ("calibration", "<= 5", False)
    assert found["fidelity.fast-table-5.fast-large.queries.theirs"].value == 733.0
    assert found["fidelity.fast-table-5.fast-small.queries.error_pct"].met is False
    assert found["fidelity.scalesim.cycles.error_pct"].value == pytest.approx(2.0)
    assert found["fidelity.scalesim.cycles.largest_error_pct"].value == pytest.approx(4.0)
    assert not any("efficientnet-b3" in name for name in found)


def test_page_shows_every_figure_with_range_and_note():
    page, summary = build_report(data())
    assert "How true is the simulator" in page
    for words in (
        "770\n[700, 800]",
        "an erratum",
        "layer-4",
        "+24.5",
        "Errata",
        "Filled: validation",
        "at most: holds",
        "at most: broken by 5.0",
    ):
        assert words in page
    assert any(figure.name.startswith("fidelity.") for figure in summary.figures)


def test_the_simulator_should_order_measured_tiles_better_than_the_analytical_model():
    taus = {"simulator": (0.9, 0.5), "analytical": (0.8, 0.7)}
    figures = [
        Figure("tpu-tiles", f"kernel-{place}", f"kendall_tau_{model}", "", "validation", tau, 1.0)
        for model, both in taus.items()
        for place, tau in enumerate(both)
    ]
    found = {figure.name: figure for figure in fidelity_headlines(fidelity_figures(data(figures)))}
    mean = found["fidelity.tpu-tiles.validation.mean_kendall_tau_simulator.ours"]
    assert mean.value == pytest.approx(0.7)
    assert mean.met is False


def test_long_tables_are_folded():
    rows = [Figure("scalesim", f"layer-{n}", "cycles", "cycles", "validation", 1.0, 1.0) for n in range(41)]
    assert re.search(r"<details><summary id=[^>]*>All figures \(41\)</summary>", build_report(data(rows))[0])
    assert "All figures (40)" not in build_report(data(rows[:40]))[0]


def test_gain_by_schedules_has_its_goal():
    figure = Figure("fast-figure-9", "mean-of-5", "speedup_scheduled", "x", "validation", 1.7, 1.75)
    found = {one.name: one for one in fidelity_headlines(fidelity_figures(data([figure])))}
    gain = found["fidelity.fast-figure-9.mean-of-5.speedup_scheduled.ours"]
    assert (gain.value, gain.goal, gain.met) == (1.7, ">= 1.69", True)


def test_sources_are_in_the_order_of_the_paper():
    figures = [
        Figure(source, "a", "q", "", "validation", 1.0, 1.0)
        for source in ("fast-figure-13", "fast-section-4.3", "fast-figure-2", "fast-table-5", "tpu-tiles", "scalesim")
    ]
    order = ["scalesim", "tpu-tiles", "fast-table-5", "fast-figure-2", "fast-figure-13", "fast-section-4.3"]
    assert fidelity_figures(data(figures))["source"].tolist() == order


def test_goals_are_listed_with_whether_they_are_met():
    rows = {row[0]: row[2:] for row in goal_table(fidelity_headlines(fidelity_figures(data()))).rows}
    assert rows["fast-table-5, fast-large, queries, error"] == ["%", "5.05", "<= 5", "no"]


def test_a_figure_of_two_entries_is_shown_once():
    twice = report_data(
        fidelity={name: Stub({}, {"figures.parquet": figure_table(FIGURES)}) for name in ("one", "two")}
    )
    assert len(fidelity_headlines(fidelity_figures(twice))) == len(fidelity_headlines(fidelity_figures(data())))


def test_no_page_without_figures():
    assert fidelity_page(report_data()).parts == []
    assert isinstance(figure_table([]), pd.DataFrame)
