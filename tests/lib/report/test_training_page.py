"""Learning curves and data-size curves, from models made by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lib.report.data_size import VALIDATION, data_size_points
from lib.report.model_page import add_learning_curves
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.training_page import training_page
from tests.lib.report.report_examples import Stub

NOTHING = pd.DataFrame()


def model(seed: int, rows: int, errors: list[float]) -> Stub:
    history = pd.DataFrame(
        {
            "step": np.arange(1, len(errors) + 1) * 10,
            "train_loss": np.linspace(1, 0.1, len(errors)),
            "validation_loss": np.linspace(1, 0.2, len(errors)),
            "validation_metric": errors,
        }
    )
    description = SimpleNamespace(seed=seed, training_rows=rows, training_kernels=rows // 10, best_step=20)
    return Stub({}, {"model.json": description, "history.parquet": history})


def spec(id: str, train: list[str], **keys) -> dict:
    split = {"train": train, "validation": ["v"], "test": ["t1", "t2"]}
    return {"id": id, "task": "tile", "width": 64, "split": split, "families": {}, **keys}


def data() -> ReportData:
    programs = pd.DataFrame(
        [("whole", 1, "t1", 2.0), ("whole", 1, "t2", 8.0), ("half", 1, "t1", 5.0), ("half", 1, "t2", 20.0)],
        columns=["model", "seed", "workload", "value"],
    ).assign(task="tile", hardware="tpu-v3", metric="ape_pct")
    return ReportData(
        spec={
            "models": {
                "half": spec("half", ["a"]),
                "whole": spec("whole", ["a", "b"]),
                "few-rows": spec("few-rows", ["a", "b"], train_rows=0.5),
                "other": spec("other", ["a", "b"], layers=3),
            }
        },
        programs=NOTHING,
        shards=NOTHING,
        models={
            "half": [model(1, 100, [3.0, 1.5, 2.0])],
            "whole": [model(1, 200, [2.0, 1.0, 1.2]), model(2, 200, [2.0, 1.4])],
            "few-rows": [model(1, 100, [2.0, 1.3])],
            "other": [model(1, 200, [1.0])],
        },
        evaluations={"accuracy": Stub({}, {"programs.parquet": programs})},
    )


def test_models_that_differ_in_their_data_alone_make_a_curve():
    points = data_size_points(data())
    assert set(points["group"]) == {"whole"}
    assert set(points["model"]) == {"half", "whole", "few-rows"}
    validation = points[points["on"] == VALIDATION].set_index(["model", "seed"])["error_pct"]
    assert validation["half", 1] == 1.5
    assert validation["whole", 2] == 1.4
    test = points[points["on"] == "test programs on tpu-v3"].set_index("model")
    assert test.loc["whole", "error_pct"] == pytest.approx(4.0)  # geometric mean of 2 and 8
    assert test.loc["half", "error_pct"] == pytest.approx(10.0)  # of 5 and 20
    assert test.loc["half", ["programs", "rows"]].tolist() == [1, 100]


def test_the_page_draws_every_seed_and_the_kept_step():
    page = Page("model-whole", "Model: whole")
    add_learning_curves(page, "tile", data().models["whole"])
    charts = {part["title"]: part["figure"] for part in page.parts if part["kind"] == "chart"}
    curve = charts["tile-size APE, % on the validation programs"]
    assert [trace.name for trace in curve.data] == ["seed 1", "seed 1, kept", "seed 2", "seed 2, kept"]
    assert (curve.data[1].x[0], curve.data[1].y[0]) == (20, 1.0)
    assert [trace.name for trace in charts["Loss"].data][:2] == ["seed 1, training", "seed 1, validation"]
    (seeds,) = [part["table"] for part in page.parts if part["kind"] == "table"]
    assert seeds.rows == [["1", "20", "200", "20", "30", "1"], ["2", "20", "200", "20", "20", "1.4"]]


def test_the_page_has_sizes_links_to_models_and_data_size_curves():
    page = training_page(data())
    charts = {part["title"]: part["figure"] for part in page.parts if part["kind"] == "chart"}
    assert "whole: tile-size APE, % against training programs" in charts
    assert "whole: tile-size APE, % against training rows" in charts
    tables = [part["table"] for part in page.parts if part["kind"] == "table"]
    assert tables[0].rows[1] == ["whole", "1, 2", "2", "20", "200", "20, 20", "30, 20"]
    assert ["half", "1", "100", "1.5", "10"] in tables[1].rows


def test_a_study_without_models_has_no_training_page():
    assert training_page(ReportData({"models": {}}, NOTHING, NOTHING)).parts == []
