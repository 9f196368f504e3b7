"""The page of one model."""

import numpy as np
import pandas as pd
import pytest

from lib.report.accuracy_charts import runtime_quantiles
from lib.report.model_page import model_page
from tests.lib.report.whole_report import whole_data


@pytest.fixture(scope="module")
def page():
    return model_page(whole_data(), "ranker")


def tables(page) -> dict:
    return {part["table"].title: part["table"] for part in page.parts if part["kind"] == "table"}


def test_specification_programs_and_seeds(page):
    found = tables(page)
    assert ["learning rate", "0.002"] in found["Specification"].rows
    assert ["features: node", "3"] in found["Specification"].rows
    assert found["Programs"].rows[0] == ["train", "2", "a, b"]
    assert found["Seeds"].rows == [["1", "20", "200", "20", "30", "1.5"], ["2", "20", "200", "20", "30", "1.5"]]


def test_its_test_figures_are_those_of_the_evaluation(page):
    """As `report_examples.overall` has them."""
    figures = tables(page)["On the test programs"]
    assert figures.columns == ["evaluation", "hardware", "tile-size APE, %", "Kendall's tau", "programs"]
    assert figures.rows == [["accuracy", "tpu-v3", "0.8 [0.5, 1.2]", "0.9 [0.85, 0.95]", "3"]]


def test_calibration_by_runtime(page):
    """Six kernels of 10 us whose picked tiles take 10 % more."""
    (row,) = tables(page)["Picked tile's runtime / best tile's by runtime"].rows
    assert row == ["tpu-v3", "10", "21.5", "6", "1.1", "1.1", "1.1"]


def test_quantiles_count_known_kernels_in_bins_that_hold_enough():
    runtime_s = [2e-6] * 5 + [3e-6] * 4 + [np.nan]
    table = pd.DataFrame({"hardware": "h", "runtime_s": runtime_s, "predicted_s": [1e-6, 2e-6, 3e-6, 4e-6, 5e-6] * 2})
    (row,) = runtime_quantiles(table).itertuples(index=False)
    assert (row.kernels, row.ratio_50) == (5, pytest.approx(1.5))
    assert row.low_us < 2 < row.high_us < 3


def test_a_model_that_only_ranks_is_asked_beside_one_that_answers_seconds(page):
    shell, python = [part["text"] for part in page.parts if part["kind"] == "code"]
    assert "--model results/model/runtime/seed-1 --tile-model results/model/ranker/seed-1" in shell
    assert "tile_table(" in python
    other = [part["text"] for part in model_page(whole_data(), "runtime").parts if part["kind"] == "code"]
    assert "--model results/model/runtime/seed-1 --hardware tpu-v3" in other[0]
    assert "runtime_table(" in other[1]
    compile(python, "python", "exec")


def test_a_model_that_no_evaluation_scores_says_so():
    texts = [part["text"] for part in model_page(whole_data(), "half").parts if part["kind"] == "text"]
    assert "No evaluation of this study scores the model by itself." in texts
