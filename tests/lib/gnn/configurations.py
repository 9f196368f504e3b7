"""One check for every configuration of the network, and the configurations that it is fed with."""

from itertools import product

import numpy as np

from lib.gnn.backend import tf
from lib.gnn.batching import Batch, Batcher
from lib.gnn.examples import Examples, examples_of_shards
from lib.gnn.inference import load_model, model_contents
from lib.gnn.network import network_weights
from lib.gnn.trained_model import TrainedModel
from lib.gnn.training import train
from schemas.model import Model
from tests.lib.gnn.synthetic import shard

GRAPHS = [
    *({"graph_network": name, "edges": edges} for name in ("graphsage", "gat") for edges in ("both", "directed")),
    {"graph_network": "graphsage", "edges": "undirected"},
    {"graph_network": "gat", "edges": "undirected"},
    {"graph_network": "none"},
]
REDUCTIONS = ["column-wise", "per-node", "lstm", "transformer"]
INPUTS = [
    {"task": "tile", "knowledge": "analytical", "join": "late"},
    {"task": "tile", "knowledge": "off", "join": "middle"},
    {"task": "tile", "knowledge": "tile", "join": "early", "layout_features": True},
    {"task": "tile", "knowledge": "ratio", "join": "late", "loss": "log-mse"},
    {"task": "tile", "knowledge": "off", "join": "middle", "tile_features": "raw"},
    {"task": "tile", "knowledge": "analytical", "join": "early", "tile_features": "raw"},
    {"task": "tile", "knowledge": "off", "join": "late", "tile_features": "raw"},
    {"task": "fusion", "knowledge": "off"},
    {"task": "fusion", "knowledge": "ratio", "join": "middle", "layout_features": True},
    {"task": "fusion", "knowledge": "tile", "join": "early"},
    {"task": "fusion", "knowledge": "analytical", "join": "late"},
]
"""Kinds of knowledge, joins and views of the tile."""
STATICS = ["kernel", "node", "off"]
LOSSES: list[str | dict[str, float]] = [
    "pairwise-logistic", "pairwise-hinge", "listmle", "centred-log-mse", "log-mse",
    {"pairwise-logistic": 1.0, "log-mse": 0.02}, {"listmle": 0.5, "pairwise-hinge": 2.0},
]  # fmt: skip
TRAINED_STEPS = 3


def configurations() -> list[dict]:
    """Every graph network with every reduction; inputs, places of static features and losses take turns."""
    chosen = []
    for place, (graph, reduction) in enumerate(product(GRAPHS, REDUCTIONS)):
        inputs = INPUTS[(3 * place) % len(INPUTS)]
        static = STATICS[(place + place // len(INPUTS)) % len(STATICS)]
        loss = {"loss": LOSSES[place % len(LOSSES)]} if inputs["task"] == "tile" and "loss" not in inputs else {}
        chosen.append(inputs | loss | graph | {"reduction": reduction, "static_features": static})
    return chosen


def spec_of(configuration: dict) -> dict:
    """The resolved entry of a small model; the schema has a say in what is allowed."""
    entry = {"dataset": "d", "width": 8, "steps": TRAINED_STEPS, "batch_kernels": 6} | configuration
    model = Model.model_validate(entry)
    return model.hyperparameters() | {"id": "test", "task": model.task, "layout_features": model.layout_features}


def check(configuration: dict) -> None:
    """Builds, trains, does so again with equal weights, trains all weights, minds the order of nodes only in an LSTM,
    and predicts the same once saved and loaded."""
    spec = spec_of(configuration)
    training = _on_two_variants(spec["task"], seed=1)
    model, again = (train(spec, 1, training, np.zeros((12, 1), np.int64), None)[0] for _ in range(2))
    weights = network_weights(model.network)
    for name, weight in network_weights(again.network).items():
        np.testing.assert_array_equal(weight, weights[name], err_msg=name)
    unseen = _on_two_variants(spec["task"], seed=2)
    _check_gradients(model, unseen)
    _check_order(model, unseen)
    loaded = load_model(model_contents(model))
    assert loaded.scale == model.scale
    np.testing.assert_array_equal(loaded.predict(unseen), model.predict(unseen))


def _on_two_variants(task: str, seed: int) -> Examples:
    """Six kernels on each of two hardware variants, so that the hardware's features vary."""
    one = shard(task, count=6, rows=4, seed=seed)
    slow_memory = one.datapath._replace(dram_bytes_per_s=one.datapath.dram_bytes_per_s / 2)
    return examples_of_shards([one, shard(task, count=6, rows=4, seed=seed + 10)._replace(datapath=slow_memory)])


def _check_gradients(model: TrainedModel, examples: Examples) -> None:
    batch = Batcher(examples, model.scaling, model.shape.inputs).all_rows(0, 12)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(1.0 + model.network(batch)))
    variables = model.network.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
        assert gradient is not None, f"no gradient reaches {variable.path}"
        values = tf.convert_to_tensor(gradient).numpy()
        assert np.isfinite(values).all(), variable.path
        assert values.any(), f"the gradient of {variable.path} is 0"


def _check_order(model: TrainedModel, examples: Examples) -> None:
    batch = Batcher(examples, model.scaling, model.shape.inputs).all_rows(0, 12)
    score, of_reversed = model.network(batch).numpy(), model.network(_with_nodes_reversed(batch)).numpy()
    if model.spec["reduction"] == "lstm":
        assert np.abs(score - of_reversed).max() > 1e-4
    else:
        np.testing.assert_allclose(of_reversed, score, rtol=1e-4, atol=1e-5)


def _with_nodes_reversed(batch: Batch) -> Batch:
    """The same graphs with the nodes of each kernel numbered the other way round."""
    nodes, new_node = _reversed_within(batch.node_kernel)
    pairs, new_pair = _reversed_within(batch.pair_row)
    return batch._replace(
        op_kind=batch.op_kind[nodes],
        node=batch.node[nodes],
        edge=new_node[batch.edge],
        pair_node=new_node[batch.pair_node][pairs],
        pair=batch.pair[pairs],
        pair_edge=new_pair[batch.pair_edge],
    )


def _reversed_within(segment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(order of old positions, new position of each old one)."""
    order = np.lexsort((-np.arange(len(segment)), segment))
    place = np.empty(len(segment), np.int32)
    place[order] = np.arange(len(segment))
    return order, place
