"""The learned model behind the face of a cost model."""

import numpy as np
import pytest

from lib.cost.analytical import PART_NAMES, Analytical
from lib.cost.cost_model import Reason
from lib.cost.learned import Learned
from lib.gnn.examples import analytical_names, examples_of_rows
from lib.gnn.feature_set import feature_set
from lib.gnn.network import build_network
from lib.gnn.scaling import fit_scaling
from lib.gnn.trained_model import TrainedModel, network_shape
from lib.schedule.schedules import schedules_for_tiles
from lib.schedule.vector_tiles import OWN_PICK, VECTOR_COLUMNS, vector_tile_parts
from tests.kernel_examples import example_kernels
from tests.lib.gnn.synthetic import SPEC, TPU_V3_CORE

PARTS = ("analytical_s", *sorted(f"analytical_{name}" for name in PART_NAMES))
TILE = np.array([[1, 14, 28, 128, 128, 3, 3, 1], [4, 7, 28, 128, 128, 3, 3, 1], [4, 28, 28, 256, 128, 3, 3, 1]])


def model(spec) -> TrainedModel:
    kernels = example_kernels()
    values = np.random.default_rng(0).random((kernels.number, len(PARTS))) + 1
    examples = examples_of_rows(kernels, np.arange(kernels.number), kernels.loops, TPU_V3_CORE, PARTS, values)
    scaling = fit_scaling(examples, np.random.default_rng(0))
    shape = network_shape(spec, examples.features, scaling)
    return TrainedModel(spec, 1, examples.features, scaling, shape, build_network(shape, 1))


@pytest.mark.parametrize(("loss", "scale"), [("pairwise-logistic", "rank"), ("log-mse", "seconds")])
def test_scale_follows_from_the_loss(loss, scale):
    learned = Learned(model(SPEC | {"loss": loss}))
    assert learned.scale == scale
    costs = learned.cost(example_kernels(), schedules_for_tiles(np.zeros(2), TILE[:2]), TPU_V3_CORE, parts=True)
    assert (costs.reason == Reason.OK).all()
    assert np.isfinite(costs.value).all()
    assert costs.value[0] != costs.value[1]
    assert costs.parts.shape == (2, 0)


def test_rows_that_do_not_fit_are_refused_as_by_the_analytical_model():
    tiny = TPU_V3_CORE._replace(global_buffer_bytes=2**20)
    schedules = schedules_for_tiles(np.zeros(3), TILE)
    costs = Learned(model(SPEC)).cost(example_kernels(), schedules, tiny)
    expected = Analytical().cost(example_kernels(), schedules, tiny)
    np.testing.assert_array_equal(costs.reason, expected.reason)
    assert costs.reason[2] == Reason.TILE_TOO_LARGE
    np.testing.assert_array_equal(np.isnan(costs.value), costs.reason != Reason.OK)
    np.testing.assert_array_equal(costs.dram_bytes, expected.dram_bytes)


def test_the_ratio_is_taken_to_the_analytical_model_of_the_same_rows():
    spec = SPEC | {"task": "fusion", "join": "middle", "loss": "log-mse", "knowledge": "ratio"}
    trained = model(spec)
    for variable in trained.network.weights:
        if variable.path.startswith("network/score/"):
            variable.assign(variable * 0)  # output 0: a ratio of 1
    schedules = schedules_for_tiles(np.zeros(2), TILE[:2])
    costs = Learned(trained).cost(example_kernels(), schedules, TPU_V3_CORE)
    np.testing.assert_allclose(costs.value, Analytical().cost(example_kernels(), schedules, TPU_V3_CORE).value)


class Seen:
    """A model that keeps what it is asked."""

    scale = "rank"

    def __init__(self, parts):
        self.features = feature_set(parts)

    def predict(self, examples):
        self.examples = examples
        return np.zeros(len(examples.tile))


def test_a_model_that_learned_from_tiles_on_a_cpu_sees_what_becomes_of_a_tile_there():
    names = analytical_names([*PARTS, *VECTOR_COLUMNS, OWN_PICK])
    seen = Seen(names)
    schedules = schedules_for_tiles(np.zeros(2), TILE[:2])
    Learned(seen).cost(example_kernels(), schedules, TPU_V3_CORE)
    columns = [names.index(name) for name in VECTOR_COLUMNS]
    expected = vector_tile_parts(example_kernels(), schedules)
    np.testing.assert_array_equal(seen.examples.analytical[:, columns], expected)
    assert not seen.examples.analytical[:, names.index(OWN_PICK)].any()
