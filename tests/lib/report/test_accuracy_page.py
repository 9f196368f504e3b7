"""Tables and charts of an evaluation's page, from made-up figures."""

import numpy as np
import pandas as pd
import pytest

from lib.report.accuracy_charts import calibration, slowdown_distribution
from lib.report.accuracy_page import _fewer, accuracy_page
from lib.report.accuracy_tables import (
    accuracy_table,
    class_table,
    cross_hardware_table,
    group_table,
    program_table,
    slowdown_table,
    validation_table,
    worst_table,
)
from tests.lib.report.report_examples import evaluation, overall, report_data, worst

ORDER = ["ranker", "analytical"]


def means(**changes) -> pd.DataFrame:
    return overall().assign(**changes)


def test_the_study_s_models_come_first_and_are_marked():
    table = accuracy_table(overall(), "tile", "tpu-v3", ORDER, "programs", "simulated")
    assert table.columns == ["model", "tile-size APE, %", "Kendall's tau", "tile-size APE, %: single seeds"]
    assert table.rows == [
        ["ranker", "0.8 [0.5, 1.2]", "0.9 [0.85, 0.95]", "0.6 to 1 (2)"],
        ["analytical", "4 [3, 5]", "0.7 [0.6, 0.8]", "-"],
    ]
    assert table.marked == {0}
    assert "3 programs." in table.note
    assert "noise floor is 0 by definition" in table.note


def test_what_changes_nothing_is_said():
    rows = pd.concat([overall(), overall().iloc[[2]].assign(model="calibrated-analytical")])
    table = accuracy_table(rows, "tile", "tpu-v3", [*ORDER, "calibrated-analytical"], "programs", "recorded")
    assert table.rows[2][1] == table.rows[1][1]
    assert "changes no order within a kernel, so it equals analytical" in table.note
    assert "mean of a row's other measurements" in table.note


def test_classes_have_a_row_each_and_a_column_a_model():
    classes = means(kernel_class="dot", kernels=np.int32(7))
    table = class_table(classes, "tile", "tpu-v3", ORDER)
    assert table.columns == ["kernel class", "kernels", "programs", *(f"{model}, %" for model in ORDER)]
    assert table.rows == [["dot", "7", "3", "0.8 [0.5, 1.2]", "4 [3, 5]"]]


def test_programs_show_the_spread_of_seeds():
    programs = pd.DataFrame(
        {"task": "tile", "hardware": "tpu-v3", "workload": "net", "family": "f", "metric": "ape_pct", "kernels": 4,
         "model": ["ranker", "ranker", "analytical"], "value": [1.0, 2.0, 5.0]}
    )  # fmt: skip
    table = program_table(programs, "tile", "tpu-v3", ORDER)
    assert table.columns == ["program", "family", "kernels", *(f"{model}, %" for model in ORDER)]
    assert table.rows == [["net", "f", "4", "1.5 [1, 2]", "5"]]


def test_slowdowns_of_picks():
    predictions = pd.DataFrame(
        {"task": "tile", "hardware": "tpu-v3", "model": "ranker", "runtime_s": [1.0, 2, 4, 5],
         "predicted_s": [1.0, 2.2, 4, 6]}
    )  # fmt: skip
    table = slowdown_table(predictions, "tpu-v3", ORDER)
    # 0, 10, 0 and 20 %: the 95th percentile lies 85 % of the way from 10 to 20
    assert table.rows == [["ranker", "4", "7.5", "5", "18.5", "20", "50"]]


def test_worst_kernels_show_both_tiles():
    (row,) = worst_table(worst(), "tile", "tpu-v3", "ranker").rows
    assert row[:8] == ["net · <dot & add>", "dot", "batch 8, out_c 64; dot, add", "3", "40", "10", "12", "20"]
    assert row[8:11] == ["batch 8", "batch 4", "9"]


def entry(id, hardware, scored_on, groups=None):
    return {"id": id, "task": "tile", "hardware": hardware, "scored_on": scored_on, "hardware_groups": groups or {}}


def test_across_hardware():
    models = [entry("ranker", ["tpu-v2"], ["tpu-v2", "tpu-v3"])]
    table = cross_hardware_table(overall(), models, "tile", "kendall_tau")
    assert table.columns == ["trained on", "model", "scored on tpu-v2", "scored on tpu-v3"]
    assert table.rows == [["tpu-v2", "ranker", "-", "0.9 [0.85, 0.95]"]]


@pytest.mark.parametrize(
    "models",
    [
        [entry("ranker", ["tpu-v2", "tpu-v3"], ["tpu-v3"])],
        [entry("ranker", ["v-1"], ["v-1", "v-2"], {"v-1": "train", "v-2": "inside"})],
    ],
)
def test_models_scored_where_they_were_trained_need_no_matrix(models):
    assert cross_hardware_table(overall(), models, "tile", "kendall_tau") is None


def test_groups_of_variants():
    groups = means(variants=np.int32(8)).rename(columns={"hardware": "group"}).replace({"tpu-v3": "inside"})
    table = group_table(groups, "tile", ORDER)
    assert table.columns[1:] == [f"{m}: unseen, inside the ranges (8)" for m in ("tile-size APE, %", "Kendall's tau")]
    assert table.rows[0] == ["ranker", "0.8 [0.5, 1.2]", "0.9 [0.85, 0.95]"]


def test_validation_programs_are_said_to_be_for_choosing():
    table = validation_table(overall(), ORDER)
    assert "choose models by these" in table.title
    assert table.rows[0] == ["tile", "tpu-v3", "ranker", "0.8 [0.5, 1.2]", "0.9 [0.85, 0.95]", "-", "3"]


def test_the_calibration_plot_has_a_colour_a_class_over_the_density():
    points = pd.DataFrame(
        {"runtime_s": [1e-6, 1e-4, 1e-4], "predicted_s": [2e-6, 1e-4, 2e-4], "workload": "net", "root": "r",
         "kernel_class": ["dot", "fusion", "dot"]}
    )  # fmt: skip
    density, dot, fusion, equal = calibration(points, "t").data
    assert np.nansum(10**density.z) == pytest.approx(3)
    assert (dot.name, list(dot.x)) == ("dot (2)", pytest.approx([1, 100]))
    assert (fusion.name, list(fusion.y)) == ("fusion (1)", pytest.approx([100]))
    assert list(equal.x) == pytest.approx([1, 200])


def test_slowdowns_are_a_falling_share():
    (line,) = slowdown_distribution({"learned": np.array([0.0, 10, 0, 20])}, "t").data
    assert list(line.x) == pytest.approx([0.01, 0.01, 10, 20])
    assert list(line.y) == pytest.approx([75, 50, 25, 0])


def test_many_models_are_in_the_first_table_alone():
    entries = [{"id": f"m{i}", "task": "tile", "baseline": False} for i in range(8)]
    entries += [{"id": "trees", "task": "tile", "baseline": True}, {"id": "timer", "task": "fusion", "baseline": False}]
    order = [*(entry["id"] for entry in entries), "analytical"]
    assert _fewer(order, entries, "tile") == ["m0", "m1", "m2", "m3", "m4", "m5", "trees", "timer", "analytical"]


def test_the_page_has_all_of_it():
    page = accuracy_page(report_data(evaluations={"accuracy": evaluation()}), "accuracy")
    titles = [part["table"].title for part in page.parts if part["kind"] == "table"]
    assert titles[0] == "tile task across hardware: tile-size APE, %"
    assert "The 1 worst kernels of ranker, tpu-v3" in titles
    assert titles[-1] == "Validation programs: choose models by these"
    texts = [part["text"] for part in page.parts if part["kind"] == "text"]
    assert any("runtime (fusion): the average of first, second" in text for text in texts)
