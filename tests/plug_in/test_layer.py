"""A new graph layer or reduction is a file in `lib/gnn/layers` and a line in `lib.gnn.network`."""

from typing import get_args

import numpy as np
import pytest

from lib.gnn.backend import keras, seeded_uniform, tf
from lib.gnn.examples import examples_of_shards
from lib.gnn.losses import LOSSES
from lib.gnn.network import GRAPH_NETWORKS, REDUCTIONS
from lib.gnn.training import train
from schemas.loss import LOSS_NAMES
from schemas.model import Model
from tests.lib.gnn.configurations import spec_of
from tests.lib.gnn.synthetic import shard


class MeanOfSources(keras.layers.Layer):
    """x' = x + W (sum of what a node reads): a layer that knows nothing of this repository but (x, edge)."""

    def __init__(self, channels: int, seed: int, edges: str = "both", **kwargs):
        super().__init__(**kwargs)
        self.built = True
        self._dense = keras.layers.Dense(channels, use_bias=False, kernel_initializer=seeded_uniform(seed))

    def call(self, inputs):
        x, edge = inputs
        return x + self._dense(tf.math.unsorted_segment_sum(tf.gather(x, edge[:, 0]), edge[:, 1], tf.shape(x)[0]))


class SumOfNodes(keras.layers.Layer):
    """A reduction: the sum over the nodes of each kernel."""

    def __init__(self, channels: int, seed: int, **kwargs):
        super().__init__(**kwargs)

    def call(self, inputs):
        x, segment = inputs
        return tf.math.segment_sum(x, segment)


def test_a_toy_layer_and_a_toy_reduction_train(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(GRAPH_NETWORKS, "mean-of-sources", MeanOfSources)
    monkeypatch.setitem(REDUCTIONS, "sum-of-nodes", SumOfNodes)
    spec = spec_of({"task": "tile", "join": "late"}) | {"graph_network": "mean-of-sources", "reduction": "sum-of-nodes"}
    examples = examples_of_shards([shard("tile", count=4, rows=4, seed=1)])
    model, history = train(spec | {"steps": 2}, 1, examples, np.zeros((4, 1), np.int64), None)
    assert np.isfinite(history["train_loss"]).all()
    assert model.outputs(examples).shape == (16,)


@pytest.mark.parametrize(
    ("key", "registered"), [("graph_network", GRAPH_NETWORKS), ("reduction", REDUCTIONS)], ids=["layers", "reductions"]
)
def test_a_study_names_what_is_registered(key: str, registered: dict):
    assert set(get_args(Model.model_fields[key].annotation)) == set(registered)


def test_a_study_names_the_losses_that_there_are():
    assert set(LOSS_NAMES) == set(LOSSES)
