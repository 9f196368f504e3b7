"""Boosted trees: hand-made ones predict by hand calculation, grown ones as scikit-learn's."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from lib.gnn.examples import examples_of_shards
from lib.gnn.form_rates import UNKNOWN
from lib.models import boosted_trees_training as training
from lib.models.boosted_trees import LEAF, Trees, boosted_trees_contents, load_boosted_trees, sum_of_trees
from lib.models.loading import load_models
from lib.models.tree_features import tree_feature_names, tree_features
from lib.program.kernels import take
from schemas.model_artifact import ModelArtifact
from tests.kernel_examples import example_kernels
from tests.shard_examples import hand_made_shard

SPEC = {
    "id": "trees", "kind": "boosted-trees", "task": "tile", "dataset": "default", "hardware": ["edge"],
    "split": {"train": ["net"], "validation": ["other"], "test": []}, "families": {"net": "a", "other": "b"},
}  # fmt: skip
SMALL = {"learning_rate": 0.3, "max_leaf_nodes": 4, "min_samples_leaf": 1, "l2_regularization": 0.0}


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(training, "ITERATIONS", 20)
    monkeypatch.setattr(training, "SETTINGS", SMALL)


def reading(*shards):
    """What reads the shards of some workloads."""
    return lambda workloads: [shard for shard in shards if shard.workload in workloads]


def shard(workload="net", task="tile", **changes):
    runtimes = [[1.0, 2, 4], [5, 1, 3]] if task == "tile" else [[10.0], [30]]
    estimates = [[2.0, 1, 3], [1, 3, 5]] if task == "tile" else [[5.0], [10]]
    return hand_made_shard(runtimes, estimates, workload=workload, task=task, **changes)


def test_a_row_goes_left_up_to_the_threshold():
    # x0 <= 2: 1, else (x1 <= 0: 10, else 100); the second tree always says 0.5
    trees = Trees(
        offset=np.array([0, 5, 6]),
        feature=np.array([0, LEAF, 1, LEAF, LEAF, LEAF], np.int32),
        threshold=np.array([2.0, 0, 0, 0, 0, 0]),
        left=np.array([1, 0, 3, 0, 0, 0], np.int32),
        right=np.array([2, 0, 4, 0, 0, 0], np.int32),
        value=np.array([0.0, 1, 0, 10, 100, 0.5]),
    )
    rows = np.array([[2.0, 9], [2.5, 0], [3, 1]], np.float32)
    assert sum_of_trees(trees, 0, 2, rows) == pytest.approx([1.5, 10.5, 100.5])
    assert sum_of_trees(trees, 1, 2, rows) == pytest.approx([0.5, 0.5, 0.5])


def test_grown_trees_predict_as_scikit_learns():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(500, 3)).astype(np.float32)
    target = features[:, 0] * features[:, 1]
    estimator = HistGradientBoostingRegressor(max_iter=30, early_stopping=False, random_state=1)
    estimator.fit(features, target)
    trees = training._trees(estimator)
    ours = estimator._baseline_prediction.ravel()[0] + sum_of_trees(trees, 0, 30, features)
    assert ours == pytest.approx(estimator.predict(features))


def test_targets_are_relative():
    tile = training.targets("tile", examples_of_shards([shard()]))
    assert tile[:3] == pytest.approx(np.log([1 / 2, 1, 2]))  # the geometric mean of 1, 2 and 4 is 2
    fusion = training.targets("fusion", examples_of_shards([shard(task="fusion")]))
    assert fusion == pytest.approx(np.log([2, 3]))


def test_families_weigh_the_same():
    assert training._weights(np.array([4, 4, 4, 7])) == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2])


@pytest.mark.parametrize("rates", [None, UNKNOWN])
def test_features_have_names(rates):
    examples = examples_of_shards([shard()])
    names = tree_feature_names(examples.features, rates is not None)
    assert tree_features(examples, np.arange(6), examples.features, rates).shape == (6, len(names))
    assert ("turned_bytes" in names) == (rates is not None)


def test_trees_that_read_the_layout_learn_forms(tmp_path):
    """Two convolutions alike in all but their form, of which the second takes a hundred times as long."""
    kernels = take(example_kernels(), np.zeros(40, int))
    op_form = kernels.op_form.copy()
    op_form[kernels.hero[20:]] = 0b111
    times = [[10.0]] * 20 + [[1000.0]] * 20
    alike = hand_made_shard(times, [[10.0]] * 40, task="fusion", kernels=kernels._replace(op_form=op_form))
    spec = SPEC | {"task": "fusion", "layout_features": True}
    model, history = training.train_boosted_trees(spec, 1, reading(alike), threads=1)
    assert model.predict(examples_of_shards([alike])) == pytest.approx([1e-5] * 20 + [1e-3] * 20, rel=0.01)
    contents = boosted_trees_contents(model) | {"history.parquet": history}
    artifact = ModelArtifact.write(
        tmp_path / "m", id="trees/seed-1", origin="simulated", code="", spec=spec, contents=contents
    )
    loaded = load_boosted_trees(artifact)
    assert np.array_equal(loaded.rates, model.rates)
    assert loaded.predict(examples_of_shards([alike])).tolist() == model.predict(examples_of_shards([alike])).tolist()
    blind, _ = training.train_boosted_trees(spec | {"layout_features": False}, 1, reading(alike), threads=1)
    assert blind.predict(examples_of_shards([alike])) == pytest.approx([1e-4] * 40, rel=0.01)


def test_fusion_predicts_seconds_and_learns_its_rows(tmp_path):
    spec = SPEC | {"task": "fusion"}
    shards = [shard(task="fusion"), shard("other", task="fusion")]
    model, history = training.train_boosted_trees(spec, 1, reading(*shards), threads=1)
    assert model.scale == "seconds"
    assert model.predict(examples_of_shards(shards[:1])) == pytest.approx([1e-5, 3e-5], rel=0.02)
    assert history["train_loss"].iloc[-1] < history["train_loss"].iloc[0]
    assert history["step"].iloc[-1] == 20


def test_an_artifact_gives_the_same_model(tmp_path):
    shards = [shard(), shard("other")]
    model, history = training.train_boosted_trees(SPEC, 3, reading(*shards), threads=1)
    contents = boosted_trees_contents(model) | {"history.parquet": history}
    artifact = ModelArtifact.write(
        tmp_path / "m", id="trees/seed-3", origin="simulated", code="", spec=SPEC, contents=contents
    )
    examples = examples_of_shards(shards[:1])
    assert load_boosted_trees(artifact).predict(examples).tolist() == model.predict(examples).tolist()
    loaded = load_models([tmp_path / "m"])
    assert loaded["trees"][3].scale == "rank"


def test_two_runs_grow_equal_trees():
    first, second = (training.train_boosted_trees(SPEC, 1, reading(shard()), threads=1)[0] for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first.trees, second.trees, strict=True))


def test_kernels_of_test_programs_are_not_learned():
    spec = SPEC | {"split": {"train": ["net"], "validation": [], "test": ["other"]}}
    with pytest.raises(ValueError, match="every training kernel occurs in a test program"):
        training.train_boosted_trees(spec, 1, reading(shard(), shard("other")), threads=1)
