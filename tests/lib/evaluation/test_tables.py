"""The evaluation's tables from two hand-made programs."""

import numpy as np
import pytest

from lib.evaluation.scoring import Prediction
from lib.evaluation.tables import Programs, evaluation_tables
from lib.program.kernels import LOOPS
from schemas.evaluation_artifact import EvaluationArtifact
from tests.kernel_examples import example_kernels
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


def test_seeds_spread_around_their_mean(tmp_path):
    row = only(tile_tables(tmp_path)["overall.parquet"], model="ranker", metric="ape_pct")
    assert (row["seed_low"], row["seed_high"]) == pytest.approx((np.sqrt(1 * 8), np.sqrt(3 * 8)))
    assert row["seeds"] == 2
    alone = only(tile_tables(tmp_path)["overall.parquet"], model="analytical", metric="ape_pct")
    assert np.isnan(alone["seed_low"])


def test_trained_baselines_are_compared_with_and_not_compared():
    shard = hand_made_shard([[1, 1.02, 2]], [[1, 2, 3]], workload="first")
    predictions = [Prediction(0, "ranker", 1, np.array([1.0, 2, 3])), Prediction(0, "trees", 1, np.array([2.0, 1, 3]))]
    tables = evaluation_tables([shard], predictions, FAMILIES, seed=1, trained_baselines=["trees"])
    comparisons = tables["comparisons.parquet"]
    assert set(comparisons["model"]) == {"ranker"}
    assert "trees" in set(comparisons["baseline"])
    assert "noise-floor" not in set(comparisons["baseline"])
    assert set(tables["worst.parquet"]["model"]) == {"ranker"}


def test_classes_are_scored_apart():
    """Kernels 0 and 1 of the examples are of different classes; the pick of the first is 50 % slower than its best."""
    shard = hand_made_shard([[2, 3], [10, 20]], [[1, 2], [1, 2]], executions=[1, 10], workload="first")
    names = shard.table["kernel_class"].tolist()
    assert names[0] != names[1]
    predictions = [Prediction(0, "ranker", 1, np.array([2.0, 1, 1, 2]))]
    classes = evaluation_tables([shard], predictions, FAMILIES, seed=1)["classes.parquet"]
    ape = classes[(classes["model"] == "ranker") & (classes["metric"] == "ape_pct")].set_index("kernel_class")
    assert ape.loc[names[0], ["value", "kernels"]].tolist() == pytest.approx([50, 1])
    assert ape.loc[names[1], ["value", "kernels"]].tolist() == pytest.approx([0.1, 1])  # the floor of errors


def test_groups_average_variants_by_program():
    """Variants 1 and 2 of the group have errors of 10 and 30 % on the first program, 5 and 5 % on the second."""
    shards = [
        hand_made_shard([[10]], [[5]], workload=workload, hardware=variant, task="fusion")
        for workload in ("first", "second") for variant in ("v-1", "v-2", "v-3")
    ]  # fmt: skip
    said_us = [11, 13, 99, 10.5, 9.5, 99]
    predictions = [Prediction(i, "timer", 1, np.array([us * 1e-6])) for i, us in enumerate(said_us)]
    groups = {"v-1": "inside", "v-2": "inside", "v-3": "outside"}
    table = evaluation_tables(shards, predictions, FAMILIES, seed=1, groups=groups)["groups.parquet"]
    row = only(table, group="inside", model="timer", metric="mape_pct")
    assert row["value"] == pytest.approx(np.sqrt(20 * 5))
    assert (row["variants"], row["programs"]) == (2, 2)
    assert only(table, group="outside", model="timer", metric="mape_pct")["value"] == pytest.approx(890)


def test_sampled_variants_are_not_looked_at_by_class(tmp_path):
    shard = hand_made_shard([[10]], [[5]], workload="first", hardware="v-1", task="fusion")
    tables = evaluation_tables([shard], [], FAMILIES, seed=1, groups={"v-1": "inside"})
    assert len(tables["classes.parquet"]) == 0
    EvaluationArtifact.write(tmp_path / "e", id="e", origin="simulated", code="", spec={}, contents=tables)


def test_validation_programs_have_a_table_of_their_own():
    test, held_back = (hand_made_shard([[1, 1.5]], [[1, 2]], workload=w) for w in ("first", "second"))
    validation = Programs([held_back], [Prediction(0, "ranker", 1, np.array([2.0, 1]))])
    tables = evaluation_tables(
        [test], [Prediction(0, "ranker", 1, np.array([1.0, 2]))], FAMILIES, seed=1, validation=validation
    )
    assert only(tables["validation.parquet"], model="ranker", metric="ape_pct")["value"] == pytest.approx(50)
    assert only(tables["overall.parquet"], model="ranker", metric="ape_pct")["value"] == pytest.approx(0.1)
    assert set(tables["programs.parquet"]["workload"]) == {"first"}


def test_worst_kernels_come_first_with_their_share_and_tiles():
    """Times of the best tiles x executions: 2 x 1 and 10 x 3 us. The picks are 50 and 100 % slower."""
    shard = hand_made_shard([[2, 3], [10, 20]], [[1, 4], [1, 7]], executions=[1, 3], workload="first")
    predictions = [Prediction(0, "ranker", 1, np.array([2.0, 1, 2, 1]))]
    worst = evaluation_tables([shard], predictions, FAMILIES, seed=1)["worst.parquet"]
    assert worst["kernel"].tolist() == [1, 0]
    assert worst["error_pct"].tolist() == pytest.approx([100, 50])
    assert worst["share_pct"].tolist() == pytest.approx([100 * 30 / 32, 100 * 2 / 32])
    assert worst["analytical_s"].tolist() == pytest.approx([7e-6, 4e-6])  # of the picked tiles
    loops = example_kernels().loops[1]
    sizes, names = zip(*[(str(n), name) for n, name in zip(loops, LOOPS, strict=True) if n > 1], strict=True)
    assert worst["description"][0].startswith(f"{' x '.join(sizes)} ({', '.join(names)}); ")
    assert worst["best_tile"][0] == " x ".join("1" for _ in sizes)


def test_short_kernels_are_not_among_the_worst_of_the_fusion_task():
    shard = hand_made_shard([[4], [10]], [[1], [1]], workload="first", task="fusion")
    predictions = [Prediction(0, "timer", 1, np.array([40.0, 11]) * 1e-6)]
    worst = evaluation_tables([shard], predictions, FAMILIES, seed=1)["worst.parquet"]
    assert worst["kernel"].tolist() == [1]


def test_without_learned_models_there_is_nothing_to_compare():
    tables = evaluation_tables([hand_made_shard([[1, 2]], [[1, 2]], workload="first")], [], FAMILIES, seed=1)
    assert len(tables["comparisons.parquet"]) == 0
    assert EvaluationArtifact.files["comparisons.parquet"].problem(tables["comparisons.parquet"]) is None


def test_a_model_may_not_be_called_like_a_baseline():
    shard = hand_made_shard([[1, 2]], [[1, 2]], workload="first")
    with pytest.raises(ValueError, match="'random'"):
        evaluation_tables([shard], [Prediction(0, "random", 1, np.array([1.0, 2]))], FAMILIES, seed=1)
