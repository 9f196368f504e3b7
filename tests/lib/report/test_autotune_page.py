"""Autotuners in the report: figures worked by hand, goals, and the page."""

import math

import numpy as np
import pandas as pd
import pytest

from lib.report.autotune_charts import best_so_far_chart
from lib.report.autotune_figures import (
    headline_rows,
    learned_above_analytical_pct,
    mean_speedup,
    model_against_target,
    target_s_to_near,
    traces_of,
    whole_runs,
    wins_pct,
)
from lib.report.autotune_goals import autotune_goal_results, autotune_headlines
from lib.report.autotune_page import autotune_page, chosen_kernels_table, note_table, statement_table
from lib.report.claims import claims_table
from lib.report.headline import summary
from lib.report.page import render
from lib.report.pages import build_report
from schemas.goals import load_autotune_goals
from tests.lib.report.autotune_examples import fusion_of, tiles_of
from tests.lib.report.report_examples import Stub, report_data

TILES = [tiles_of("net"), tiles_of("seen")]
FUSION = [
    fusion_of("faster", 1.0, 1.1),
    fusion_of("tied", 1.0, 1.0005),
    fusion_of("slower", 1.02, 1.0),
    fusion_of("nothing-to-gain", 1.0, 1.5, default_s=1.009),
]


def test_goals_are_those_of_the_issue():
    assert {goal.id: goal.text for goal in load_autotune_goals()} == {
        "tiles-regret": "<= 0.5",
        "tiles-runs": ">= 20",
        "fusion-wins": ">= 80",
        "fusion-gain": ">= 1.5",
    }


def test_headline_rows_are_the_top_ten_and_all_tiles():
    rows = headline_rows(TILES)
    assert set(rows["compile_cost_s"]) == {1.0}
    assert dict(zip(rows["strategy"], rows["top"], strict=True)) == {"ranker": 10, "analytical": 10, "exhaustive": 0}
    assert mean_speedup(rows[rows["strategy"] == "ranker"]) == pytest.approx(math.sqrt(2 / 1.01 * 2.0))


def test_learned_beside_analytical():
    above = learned_above_analytical_pct(TILES)
    assert above["net"] == pytest.approx((1.01 / 1.25 - 1) * 100)
    assert above["seen"] == 0


def test_target_seconds_to_come_near():
    near = target_s_to_near([tiles_of("net")], "tiles").set_index(["strategy", "compile_cost_s"])
    assert near.loc[("ranker", 1.0), "target_s"] == 10.0  # 1.01 is within 1 % of 1.0
    assert near.loc[("ranker", 10.0), "target_s"] == 100.0
    assert np.isinf(near.loc[("analytical", 1.0), "target_s"])
    assert near.loc[("analytical", 1.0), "reached"] == 0


def test_tile_goals_leave_out_programs_that_a_model_learned():
    results = {result.goal.id: result for result in autotune_goal_results(report_data(autotunes={"tiles": TILES}))}
    regret = results["tiles-regret"]
    assert regret.value == pytest.approx(1.0)
    assert (regret.met, regret.programs, regret.left_out) == (False, 1, 1)
    assert results["tiles-runs"].value == 25
    assert results["tiles-runs"].met
    assert results["fusion-wins"].met is None


def test_fusion_goals_count_ties_half_and_leave_out_what_has_little_to_gain():
    gains = model_against_target(FUSION)
    assert sorted(gains.index) == ["faster", "slower", "tied"]
    assert wins_pct(gains) == pytest.approx(100 * 1.5 / 3)
    results = {result.goal.id: result for result in autotune_goal_results(report_data(autotunes={"fusion": FUSION}))}
    assert results["fusion-wins"].value == pytest.approx(50)
    assert results["fusion-gain"].value == pytest.approx((10 + 0.05 + (1 / 1.02 - 1) * 100) / 3)
    assert results["fusion-gain"].left_out == 1
    assert results["tiles-regret"].met is None


def test_what_tiles_gain_after_fusion_does_not_count_as_a_gain_of_fusion():
    """Of task both: 1.005 s by fusion, from 1.01, is too little; the tiles' 0.5 s have no say in it."""
    program = fusion_of("little", 1.008, 1.009, best_s=1.005, default_s=1.01)
    both = {
        name: pd.concat([rows, rows.tail(1).assign(stage="tiles", runtime_s=0.5)], ignore_index=True)
        for name, rows in ((name, program[name]) for name in ("results.parquet", "trace.parquet"))
    }
    stub = Stub(program.manifest.spec, {"summary.json": program["summary.json"], **both})
    assert model_against_target([stub]).empty
    near = target_s_to_near([stub], "fusion").set_index(["strategy", "budget_s"])
    assert near.loc[("ranker", 600.0), "target_s"] == 0.0  # the default is within 1 % of 1.005


def test_nothing_to_compare_is_not_known():
    assert math.isnan(wins_pct(pd.Series(dtype=float)))
    assert model_against_target(TILES).empty


def test_headline_figures():
    figures = {figure.name: figure for figure in autotune_headlines(report_data(autotunes={"tiles": TILES}))}
    assert figures["autotune.tiles.tpu-v3.speedup.ranker"].value == pytest.approx(math.sqrt(2 / 1.01 * 2.0))
    assert (
        figures["autotune.tiles.tpu-v3.speedup.learned"].value == figures["autotune.tiles.tpu-v3.speedup.ranker"].value
    )
    assert figures["autotune.tiles.tpu-v3.speedup.exhaustive"].value == pytest.approx(2.0)
    assert figures["autotune.tiles.tpu-v3.runs_ratio.learned"].goal == ">= 20"
    assert figures["autotune.tiles.tpu-v3.ranked_regret_pct.learned"].goal == "<= 0.5"
    assert figures["autotune.tiles.tpu-v3.ranked_regret_pct.analytical"].goal is None
    names = [figure.name for figure in summary(report_data(autotunes={"tiles": TILES})).figures]
    assert "autotune.tiles.tpu-v3.regret_pct.analytical" in names


def test_without_all_tiles_figures_about_them_are_empty():
    cut = [without_exhaustive(artifact) for artifact in TILES]
    figures = {figure.name: figure for figure in autotune_headlines(report_data(autotunes={"tiles": cut}))}
    for name in ("runs_ratio", "ranked_regret_pct"):
        figure = figures[f"autotune.tiles.tpu-v3.{name}.learned"]
        assert (figure.value, figure.goal) == (None, None)
    assert figures["autotune.tiles.tpu-v3.speedup.learned"].value is not None
    page = autotune_page(report_data(autotunes={"tiles": cut}), "tiles")
    assert any("Not all tiles were run" in part.get("text", "") for part in page.parts)


def without_exhaustive(artifact: Stub) -> Stub:
    tables = {name: artifact[name] for name in ("configuration.json", "summary.json")}
    for name in ("results.parquet", "trace.parquet"):
        tables[name] = artifact[name][artifact[name]["strategy"] != "exhaustive"]
    return Stub(artifact.manifest.spec | {"exhaustive": False}, tables)


def test_best_so_far_is_a_step_and_a_geometric_mean():
    rows = traces_of(TILES)
    rows = rows[(rows["compile_cost_s"] == 1.0) & (rows["strategy"] == "ranker")]
    (line,) = best_so_far_chart(rows, ["ranker"], "title").data
    assert line.y[0] == pytest.approx(math.sqrt(2 / 1.01 * 2.0))  # the grid starts where the first seconds are spent


def test_bands_span_the_seeds():
    one = tiles_of("net")["trace.parquet"].assign(workload="net")
    one = one[(one["compile_cost_s"] == 1.0) & (one["strategy"] == "ranker")]
    other = one.assign(seed=2, speedup=one["speedup"] * 1.5)
    band, line = best_so_far_chart(pd.concat([one, other]), ["ranker"], "title").data
    assert max(band.y) == pytest.approx(1.5 * 2 / 1.01)
    assert line.y[-1] == pytest.approx(1.25 * 2 / 1.01)


@pytest.mark.parametrize("artifacts", [TILES, FUSION], ids=["tiles", "fusion"])
def test_the_page_is_whole(artifacts):
    data = report_data(autotunes={"best": artifacts})
    page = autotune_page(data, "best")
    titles = [part["table"].title for part in page.parts if part["kind"] == "table"]
    assert titles[-len(artifacts) :] == [title for title in titles if "faster than by default" in title]
    assert [title for title in titles if title != "To know"][:2] == [
        "Goals of the autotuners",
        "The paper's statements",
    ]
    assert "Programs" in titles
    assert "Target seconds to come within 1 % of the best known" in titles
    html = render("title", "subtitle", [page])
    assert "a note <for> the reader" not in html  # text is escaped


def test_statements_stand_beside_the_papers():
    rows = {row[0]: row[1:] for row in statement_table(FUSION).rows}
    fusion = next(cells for claim, cells in rows.items() if "1 min of hardware than" in claim)
    assert fusion[0] == "1.5"
    assert float(fusion[1]) == pytest.approx((10 + 0.05 + (1 / 1.02 - 1) * 100) / 3, rel=1e-2)
    assert fusion[3] == "1 of 3"


def test_what_was_chosen_shows_kernels_of_other_instructions_and_other_tiles():
    table = chosen_kernels_table(TILES[0])
    assert table.title == "net: 98.02 % faster than by default, by ranker in 10 target seconds"
    assert [row[0] for row in table.rows] == ["kernel.b", "kernel.a"]
    assert table.rows[0][3] == "3, other"
    assert table.rows[1][3:] == ["as by default", "16x128", "8x128", "500,000", "250,000", "25"]


def test_a_smaller_budget_is_drawn_only_where_it_is_a_run_of_its_own():
    rows = whole_runs(traces_of(FUSION))
    assert set(rows.loc[rows["strategy"] == "ranker", "budget_s"]) == {600.0}
    assert set(rows.loc[rows["strategy"] == "target", "budget_s"]) == {60.0, 600.0}
    assert len(whole_runs(traces_of(TILES))) == len(traces_of(TILES))


def test_a_note_is_said_once_for_all_programs():
    (row,) = note_table(TILES).rows
    assert row == ["all", "a note <for> the reader"]


def test_claims_have_an_answer():
    data = report_data(autotunes={"tiles": TILES})
    rows = {row[0]: row for row in claims_table(data, summary(data)).rows}
    (tiles,) = [row for claim, row in rows.items() if "within 1 to 3 %" in claim]
    assert float(tiles[2]) == pytest.approx((1.01 / 1.25 - 1) * 100 / 2, rel=1e-2)


def test_the_whole_report_has_the_page():
    html, _ = build_report(report_data(autotunes={"tiles": TILES}))
    assert "Autotune: tiles" in html
