"""The evaluation's tables from two hand-made programs."""

import numpy as np
import pytest

from lib.evaluation.tables import Prediction, evaluation_tables
from schemas.evaluation_artifact import EvaluationArtifact
from tests.shard_examples import hand_made_shard

FAMILIES = {"first": "a", "second": "b"}


def tile_tables(tmp_path):
    """Two programs of one kernel each with best tile 1 us: APE of seeds 1, 2: first 1 and 3 %, second 8 and 8 %."""
    shards = [
        hand_made_shard([[1, 1.01, 1.03, 2]], [[4, 3, 2, 1]], workload="first", default=[3]),
        hand_made_shard([[1, 1.08, 1.5]], [[3, 2, 1]], workload="second", default=[2]),
    ]
    predictions = [
        Prediction(0, "ranker", 2, np.array([4.0, 3, 1, 2])),
        Prediction(1, "ranker", 2, np.array([3.0, 1, 2])),
        Prediction(0, "ranker", 1, np.array([2.0, 1, 3, 4])),
        Prediction(1, "ranker", 1, np.array([3.0, 1, 2])),
    ]
    tables = evaluation_tables(shards, predictions, FAMILIES, seed=1)
    EvaluationArtifact.write(tmp_path / "e", id="e", origin="simulated", code="", spec={}, contents=tables)
    return tables


def only(table, **where):
    for column, value in where.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_programs_have_a_row_a_seed(tmp_path):
    programs = tile_tables(tmp_path)["programs.parquet"]
    ranker = programs[(programs["model"] == "ranker") & (programs["metric"] == "ape_pct")]
    assert ranker[["workload", "family", "seed"]].to_numpy().tolist() == [
        ["first", "a", 1], ["second", "b", 1], ["first", "a", 2], ["second", "b", 2],
    ]  # fmt: skip
    assert ranker["value"].to_numpy() == pytest.approx([1, 8, 3, 8])


def test_overall_averages_seeds_before_programs(tmp_path):
    overall = tile_tables(tmp_path)["overall.parquet"]
    row = only(overall, model="ranker", metric="ape_pct")
    assert row["value"] == pytest.approx(np.sqrt((1 + 3) / 2 * 8))
    assert (row["low"], row["high"], row["programs"]) == (pytest.approx(2), pytest.approx(8), 2)


def test_comparisons_with_each_baseline(tmp_path):
    comparisons = tile_tables(tmp_path)["comparisons.parquet"]
    ape = comparisons[comparisons["metric"] == "ape_pct"]
    assert ape["baseline"].tolist() == ["analytical", "calibrated-analytical", "default", "random"]
    row = only(ape, baseline="default")  # the default tiles are 100 and 50 % slower
    assert row["difference"] == pytest.approx(np.sqrt(2 / 100 * 8 / 50))
    assert row["better"]
    assert row["kind"] == "ratio"
    tau = comparisons[comparisons["metric"] == "kendall_tau"]
    assert tau["baseline"].tolist() == ["analytical", "calibrated-analytical"]
    assert tau["kind"].tolist() == ["difference"] * 2


def test_predictions_show_the_first_seed(tmp_path):
    predictions = tile_tables(tmp_path)["predictions.parquet"]
    row = only(predictions, model="ranker", workload="first")
    assert row["runtime_s"] == pytest.approx(1e-6)
    assert row["predicted_s"] == pytest.approx(1.01e-6)
    assert only(predictions, model="analytical", workload="second")["predicted_s"] == pytest.approx(1.5e-6)


def test_fusion_leaves_out_classes_without_a_default_kernel(tmp_path):
    shard = hand_made_shard([[10], [20], [30]], [[5], [5], [5]], executions=[1, 1, 0], workload="first", task="fusion")
    predictions = [Prediction(0, "timer", 1, np.array([11.0, 20, 30]) * 1e-6)]
    tables = evaluation_tables([shard], predictions, FAMILIES, seed=1)
    EvaluationArtifact.write(tmp_path / "e", id="e", origin="simulated", code="", spec={}, contents=tables)
    row = only(tables["programs.parquet"], model="calibrated-analytical", metric="mape_pct")
    assert (row["value"], row["kernels"], row["left_out"]) == (pytest.approx(0), 2, 1)
    assert only(tables["programs.parquet"], model="timer", metric="mape_pct")["value"] == pytest.approx(10 / 3)
    shown = tables["predictions.parquet"].set_index(["model", "kernel"])["predicted_s"]
    assert shown["timer", 0] == pytest.approx(11e-6)
    assert np.isnan(shown["calibrated-analytical", 2])


def test_without_learned_models_there_is_nothing_to_compare():
    tables = evaluation_tables([hand_made_shard([[1, 2]], [[1, 2]], workload="first")], [], FAMILIES, seed=1)
    assert len(tables["comparisons.parquet"]) == 0
    assert EvaluationArtifact.files["comparisons.parquet"].problem(tables["comparisons.parquet"]) is None


def test_a_model_may_not_be_called_like_a_baseline():
    shard = hand_made_shard([[1, 2]], [[1, 2]], workload="first")
    with pytest.raises(ValueError, match="'random'"):
        evaluation_tables([shard], [Prediction(0, "random", 1, np.array([1.0, 2]))], FAMILIES, seed=1)
