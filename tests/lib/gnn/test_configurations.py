"""Every choice of the model in one run of checks; and compiled, where shapes are open."""

import numpy as np
import pytest

from lib.gnn.backend import tf
from lib.gnn.examples import examples_of_shards
from lib.gnn.network import build_network
from lib.gnn.training import train
from tests.lib.gnn.configurations import REDUCTIONS, check, configurations, spec_of
from tests.lib.gnn.synthetic import shard


def _name(configuration: dict) -> str:
    return "-".join(str(value) for key, value in configuration.items() if key != "edges" or value != "both")


@pytest.fixture
def uncompiled():
    """Functions run as they are: faster than compiling each for three steps."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.parametrize("configuration", configurations(), ids=_name)
@pytest.mark.usefixtures("uncompiled")
def test_configuration(configuration):
    check(configuration)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_compiled_once_for_batches_of_any_size(reduction):
    spec = spec_of({"task": "tile", "join": "middle", "reduction": reduction})
    examples = examples_of_shards([shard("tile", count=12, rows=4, seed=1)])
    model, history = train(spec, 1, examples, np.zeros((12, 1), np.int64), examples)
    assert np.isfinite(history["train_loss"]).all()
    few = examples_of_shards([shard("tile", count=2, rows=3, seed=2)])
    assert model.outputs(few).shape == (6,)
    assert model.forward.experimental_get_tracing_count() == 1


def test_unknown_choices_are_named():
    spec = spec_of({"task": "tile"})
    examples = examples_of_shards([shard("tile", count=2)])
    model, _ = train(spec | {"steps": 1}, 1, examples, np.zeros((2, 1), np.int64), None)
    with pytest.raises(ValueError, match="reduction 'sum' is none of"):
        build_network(model.shape._replace(reduction="sum"), 1)
