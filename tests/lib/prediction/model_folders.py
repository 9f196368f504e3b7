"""Folders of models that were never trained, and of a small program, as the workflow would have written them."""

from pathlib import Path

import numpy as np
import pandas as pd

from lib.cost.analytical import PART_NAMES
from lib.gnn.examples import examples_of_rows
from lib.gnn.inference import model_contents
from lib.gnn.network import build_network
from lib.gnn.scaling import fit_scaling
from lib.gnn.trained_model import TrainedModel, network_shape
from lib.program.program_table import program_to_arrays
from schemas.model_artifact import ModelArtifact
from schemas.program_artifact import ProgramArtifact
from tests.datapath_examples import tpu_v3
from tests.kernel_examples import example_kernels
from tests.lib.gnn.synthetic import SPEC
from tests.program_examples import Sketch

RUNTIMES = SPEC | {
    "id": "fusion-time", "task": "fusion", "join": "middle", "loss": "log-mse", "knowledge": "ratio",
    "hardware": ["tpu-v3"],
}  # fmt: skip
TILES = SPEC | {"id": "tile-ranker", "hardware": ["tpu-v3"]}
PARTS = ("analytical_s", *sorted(f"analytical_{name}" for name in PART_NAMES))


def twice_the_estimate(spec) -> TrainedModel:
    """A model of the ratio whose network says 0 and whose training mean is log 2."""
    kernels = example_kernels()
    values = np.random.default_rng(0).random((kernels.number, len(PARTS))) + 1
    examples = examples_of_rows(kernels, np.arange(kernels.number), kernels.loops, tpu_v3(), PARTS, values)
    scaling = fit_scaling(examples, np.random.default_rng(0))
    shape = network_shape(spec, examples.features, scaling)
    model = TrainedModel(spec, 1, examples.features, scaling, shape, build_network(shape, 1), float(np.log(2)))
    for variable in model.network.weights:
        if variable.path.startswith("network/score/"):
            variable.assign(variable * 0)
    return model


def write_model(folder: Path, model: TrainedModel) -> Path:
    history = pd.DataFrame({"step": np.array([1], np.int32), "learning_rate": [1e-3], "train_loss": [1.0]})
    history = history.assign(learning_rate=1e-3, validation_loss=np.nan, validation_metric=np.nan)
    contents = model_contents(model) | {"history.parquet": history}
    ModelArtifact.write(folder, id="x", origin="simulated", code="c", spec=model.spec, contents=contents)
    return folder


def small_program():
    """Two equal pointwise convolutions with swish and a depthwise one, for every batch."""
    sketch = Sketch()
    value = sketch.swish(sketch.pointwise(sketch.input(4, 28, 28, 64), 64), name="first")
    value = sketch.swish(sketch.pointwise(value, 64), name="second")
    return sketch.program(sketch.depthwise(value, name="window"))


def write_program(folder: Path) -> Path:
    contents = {"program.npz": program_to_arrays(small_program())}
    ProgramArtifact.write(folder, id="net", origin="none", code="0", spec={}, contents=contents)
    return folder
