"""The page 'FAST, the whole study': ours beside the paper's."""

import numpy as np
import pandas as pd
import pytest

from lib.report.claims import claims_table
from lib.report.fast_page import build_up, fast_page, found_table, speedup_table, speedups
from lib.report.headline import summary
from lib.report.return_on_investment import break_even_table
from lib.report.search_comparison import MULTI_WORKLOADS, convergence_searches
from schemas.return_on_investment import ReturnOnInvestment
from tests.lib.report.report_examples import report_data, search

B7 = "efficientnet-b7"
COSTS = ReturnOnInvestment().model_dump()


def fast_data():
    return report_data(
        searches={
            B7: [search(1, [1.0, 4.0], (B7,))],
            "five": [search(1, [2.0, 2.5], MULTI_WORKLOADS)],
            "b7-swarm": [search(island, [1.0, 3.0], (B7,), optimiser="swarm") for island in (1, 2)],
            "b7-random": [search(island, [1.0, 2.0], (B7,), optimiser="random") for island in (1, 2)],
            "five-throughput": [search(1, [2.0], MULTI_WORKLOADS, objective="throughput")],
        }
    )


def test_ours_stand_beside_the_papers():
    """FAST figure 10, EfficientNet-B7: 2.79 scheduled, 3.9 single, 3.78 multi."""
    table = speedups(fast_data(), "perf_per_tdp").set_index(["workload", "series"])
    assert table.loc[(B7, "scheduled"), ["ours", "paper"]].tolist() == pytest.approx([1.7, 2.79])
    assert table.loc[(B7, "single"), ["ours", "public", "paper"]].tolist() == pytest.approx([4.0, 2.0, 3.9])
    assert table.loc[(B7, "multi"), ["ours", "paper"]].tolist() == pytest.approx([2.5, 3.78])
    assert table.loc[("mean-of-5", "multi"), ["ours", "paper"]].tolist() == pytest.approx([2.5, 2.36])
    assert np.isnan(table.loc[("mean-of-13", "single"), "ours"])


def test_workloads_that_nothing_was_searched_for_are_left_out_of_the_table():
    table = speedup_table(speedups(fast_data(), "perf_per_tdp"), "title")
    assert [row[0] for row in table.rows] == [
        B7, "resnet50v2", "ocr-rpn (stand-in)", "ocr-recognizer (stand-in)", "bert-1024", "mean-of-5",
    ]  # fmt: skip


def test_designs_whose_gain_halves_are_marked():
    table = found_table(fast_data())
    assert len(table.rows) == 5
    assert table.marked == set(range(5))


def test_optimisers_are_compared_on_equal_searches():
    assert convergence_searches(fast_data()) == [["b7-swarm", "b7-random"]]


def test_the_page_has_every_part():
    headings = [part["text"] for part in fast_page(fast_data()).parts if part["kind"] == "heading"]
    assert headings == [
        "Perf/TDP over TPU-v3 (figure 10)",
        "queries/s over TPU-v3 (figure 9)",
        f"Convergence on {B7} (figure 11)",
        "Return on investment (table 4, figure 6)",
        "Build-up, ablation, intensity, bottlenecks",
    ]
    assert fast_page(report_data(searches={})).parts == []


def test_table_4_stands_above_our_row():
    table = break_even_table({B7: 3.91, "net": 1.0}, COSTS, {B7: B7})
    assert table.rows[0] == [B7, "paper", "3.91", "2,164", "4,327", "8,655", "17,309"]
    assert table.rows[1][:3] == [B7, "ours", "3.91"]
    assert float(table.rows[1][3].replace(",", "")) == pytest.approx(2164, rel=2e-3)
    assert table.rows[2][3:] == ["never"] * 4


def test_figure_15_in_the_form_of_the_chart():
    figures = pd.DataFrame({"subject": ["net"], "quantity": ["fusion"], "ours": [2.0], "theirs": [3.0]})
    assert build_up(figures).to_dict("records") == [{"workload": "net", "series": "fusion", "ours": 2.0, "paper": 3.0}]


def test_claims_of_the_searches():
    data = fast_data()
    rows = {row[0]: row for row in claims_table(data, summary(data)).rows}
    assert rows["FAST: average single-workload Perf/TDP"][2] == "4"
    assert rows["FAST: one design over five workloads"][2] == "2.5"
    assert rows["FAST: TPU-v3 with better scheduling and fusion, five workloads"][2] == "1.7"
    swarm = next(row for name, row in rows.items() if "swarm is best" in name)
    assert swarm[2] == "1.5"
    volume = next(row for name, row in rows.items() if "8000 units" in name)
    # 8000 (1 - 1 / 1.5) / (2000 (1 - 1 / 100))
    assert volume[2] == "1.35"
