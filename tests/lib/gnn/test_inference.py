"""Predicting: invariances, and the way to disk and back."""

import numpy as np
import pandas as pd
import pytest

from lib.gnn.batching import Batcher
from lib.gnn.examples import examples_of_shards
from lib.gnn.feature_set import FeatureSetError
from lib.gnn.inference import load_model, model_contents, predict
from lib.gnn.network import build_network, network_weights, set_network_weights
from lib.gnn.scaling import fit_scaling
from lib.gnn.trained_model import TrainedModel, network_shape
from lib.models.rows import predict_rows
from lib.program.kernel_builder import KernelsBuilder
from lib.program.kernels import INPUT, OUTPUT, PARALLEL
from lib.schedule.schedules import schedules_for_tiles
from schemas.model_artifact import ModelArtifact
from tests.kernel_examples import KernelRow, OperandRow, OpRow
from tests.lib.gnn.synthetic import SPEC, TPU_V3_CORE, shard

LATE = SPEC
MIDDLE = SPEC | {"join": "middle", "loss": "log-mse", "knowledge": "ratio"}
BOTH = pytest.mark.parametrize("spec", [LATE, MIDDLE], ids=["late", "middle"])


def untrained(spec) -> TrainedModel:
    examples = examples_of_shards([shard(spec["task"], seed=1)])
    scaling = fit_scaling(examples, np.random.default_rng(0))
    shape = network_shape(spec, examples.features, scaling)
    return TrainedModel(spec, 1, examples.features, scaling, shape, build_network(shape, 1), target_mean=-0.5)


@BOTH
def test_a_large_batch_predicts_what_single_kernels_predict(spec):
    model = untrained(spec)
    examples = examples_of_shards([shard("tile", seed=2)])
    together = model.outputs(examples)
    batcher = Batcher(examples, model.scaling, model.shape.inputs)
    one_by_one = np.concatenate([model.forward(batcher.all_rows(k, k + 1)) for k in range(12)])
    np.testing.assert_allclose(together, one_by_one, rtol=1e-4, atol=1e-5)


def test_a_model_with_fewer_tile_features_reads_its_own():
    """As one that was trained before the others were there."""
    examples = examples_of_shards([shard("tile", seed=1)])
    own = examples.features.model_copy(update={"tile": examples.features.tile[:-4]})
    scaling = fit_scaling(examples, np.random.default_rng(0))
    mean, scale = scaling.tile
    shape = network_shape(LATE, own, scaling)
    older = scaling._replace(tile=(mean[:-4], scale[:-4]))
    model = TrainedModel(LATE, 1, own, older, shape, build_network(shape, 1))
    scale[-4:] = 0  # the same as leaving them out
    shape = network_shape(LATE, examples.features, scaling)
    network = build_network(shape, 1)
    weights = network_weights(model.network)
    row = weights["head_row/kernel"]
    columns = len(own.tile)
    weights["head_row/kernel"] = np.insert(row, [columns] * 4, 0.0, axis=0)
    set_network_weights(network, weights)
    newer = TrainedModel(LATE, 1, examples.features, scaling, shape, network)
    np.testing.assert_allclose(model.predict(examples), newer.predict(examples), rtol=1e-5)


@BOTH
def test_the_order_of_nodes_does_not_matter(spec):
    """relu(a + b) * tanh(a - b): the two branches in either order."""

    def kernel(first: int):
        stride, order, n = (1, 1, 1, 1, 0, 0, 0, 0), (3, 2, 1, 0), 4 * 7 * 7 * 64
        branches = [("add", "maximum"), ("subtract", "tanh")]
        ops = []
        for opcode, then in (branches[first], branches[1 - first]):
            ops += [OpRow(opcode, stride, n, 2, (0, 1)), OpRow(then, stride, n, 2, (2 + len(ops),))]
        ops.append(OpRow("multiply", stride, n, 2, (3, 5)))
        operands = [OperandRow(role, stride, order, n, 2) for role in (INPUT, INPUT, OUTPUT)]
        return KernelRow(5, (4, 7, 7, 64, 1, 1, 1, 1), (PARALLEL,) * 4 + (0,) * 4, 4, operands, ops)

    builder = KernelsBuilder()
    builder.add(kernel(0))
    builder.add(kernel(1))
    kernels = builder.build()
    analytical = {name: np.full(2, 1e-5) for name in untrained(spec).features.analytical}
    scores = predict_rows(
        untrained(spec), kernels, schedules_for_tiles(np.array([0, 1]), kernels.loops), TPU_V3_CORE, analytical
    )
    assert scores[0] == pytest.approx(scores[1], rel=1e-5)


@BOTH
def test_rows_in_any_order_get_what_the_shard_gets(spec):
    model, some = untrained(spec), shard("tile", seed=2)
    expected = predict(model, some)
    order = np.random.default_rng(0).permutation(len(expected))
    schedules = schedules_for_tiles(some.rows["kernel"].to_numpy()[order], some.tiles[order])
    analytical = {name: some.rows[name].to_numpy()[order] for name in model.features.analytical}
    got = predict_rows(model, some.kernels, schedules, TPU_V3_CORE, analytical)
    np.testing.assert_allclose(got, expected[order], rtol=1e-6)


@BOTH
def test_a_model_predicts_the_same_after_a_round_trip(spec, tmp_path):
    model, some = untrained(spec), shard("tile", seed=2)
    history = pd.DataFrame(
        {
            "step": np.array([1], np.int32),
            "learning_rate": [1e-3],
            "train_loss": [1.0],
            "validation_loss": [np.nan],
            "validation_metric": [np.nan],
        }
    )
    contents = model_contents(model) | {"history.parquet": history}
    ModelArtifact.write(tmp_path / "m", id="m/seed-1", origin="simulated", code="c", spec=spec, contents=contents)
    loaded = load_model(ModelArtifact.read(tmp_path / "m"))
    assert loaded.scale == ("rank" if spec is LATE else "seconds")
    np.testing.assert_array_equal(predict(loaded, some), predict(model, some))


def test_seeds_give_different_weights():
    shape = untrained(LATE).shape
    one, two = (network_weights(build_network(shape, seed)) for seed in (1, 2))
    assert all((one[name] != two[name]).any() for name in one if name.endswith("kernel"))


def test_seconds_are_the_ratio_times_the_analytical_estimate():
    model = untrained(MIDDLE)
    examples = examples_of_shards([shard("tile", seed=2)])
    ratio = np.exp(model.outputs(examples).astype(float) - 0.5)  # target_mean -0.5
    np.testing.assert_allclose(model.predict(examples), ratio * examples.analytical[:, 0])


def test_other_analytical_parts_are_refused():
    some = shard("tile", seed=2)
    renamed = some._replace(rows=some.rows.rename(columns={"analytical_steps": "analytical_trips"}))
    with pytest.raises(FeatureSetError, match="trained on another feature set"):
        predict(untrained(LATE), renamed)
    with pytest.raises(FeatureSetError, match=r"misses \['analytical_compute_s'"):
        predict_rows(
            untrained(LATE),
            some.kernels,
            schedules_for_tiles(np.zeros(1), some.tiles[:1]),
            TPU_V3_CORE,
            {"analytical_s": np.ones(1)},
        )


def test_weights_that_do_not_fit_are_refused():
    contents = model_contents(untrained(LATE))
    del contents["weights.npz"]["head/bias"]
    with pytest.raises(ValueError, match=r"missing \['head/bias'\]"):
        load_model(contents)


def test_a_model_of_another_feature_set_is_refused():
    contents = model_contents(untrained(LATE))
    description = contents["model.json"]
    names = description.features.model_copy(update={"version": 0})
    contents["model.json"] = description.model_copy(update={"features": names})
    with pytest.raises(FeatureSetError, match="train it again"):
        load_model(contents)


def test_a_shard_without_kernels_has_no_predictions():
    assert predict(untrained(MIDDLE), shard("tile", count=0)).shape == (0,)
