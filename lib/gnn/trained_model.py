"""A model that can predict: network, scaling and what its output means."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from lib.gnn.backend import tf
from lib.gnn.batching import Batcher, Inputs, cut_into_batches
from lib.gnn.examples import Examples
from lib.gnn.feature_set import check_feature_set
from lib.gnn.losses import RANK_LOSSES
from lib.gnn.network import Network, NetworkShape, batch_signature
from lib.gnn.scaling import Scaling
from schemas.model_artifact import FeatureSet

ROWS_PER_BATCH = 16_384
"""Large batches: below, the fixed costs of small operations weigh."""
ROWS_PER_BATCH_OF_NODE_TILES = 4_096
"""Where each row brings a tile of each of its kernel's nodes: above, the embeddings leave the processor's caches."""

EVERY = slice(None)
"""All rows."""


def inputs_of(spec: dict[str, Any]) -> Inputs:
    """Which features a model entry reads.

    In the tile task the tile varies, so it is an input whatever `knowledge` says. Raises ValueError for
    `knowledge: ratio` with a rank loss, which compares rows and predicts no time.
    """
    task, knowledge = spec["task"], spec["knowledge"]
    if knowledge == "ratio" and spec["loss"] in RANK_LOSSES:
        raise ValueError(f"knowledge: ratio needs loss: log-mse, since {spec['loss']} predicts no time")
    tile = task == "tile" or knowledge != "off"
    return Inputs(
        tile=tile, analytical=knowledge in ("analytical", "ratio"), node_tile=tile and spec["join"] == "middle"
    )


def network_shape(spec: dict[str, Any], features: FeatureSet, scaling: Scaling) -> NetworkShape:
    """The network of a model entry for a feature set."""
    inputs = inputs_of(spec)
    row = inputs.tile * len(features.tile) + inputs.analytical * len(scaling.analytical[0])
    return NetworkShape(
        graph_network=spec["graph_network"], layers=spec["layers"], width=spec["width"], inputs=inputs,
        op_kinds=len(features.op_kinds), node=len(features.node), kernel=len(features.kernel), row=row,
        node_tile=len(features.node_tile),
    )  # fmt: skip


@dataclass
class TrainedModel:
    """Made by training or loading."""

    spec: dict[str, Any]
    """The model's entry of the study."""
    seed: int
    features: FeatureSet
    scaling: Scaling
    shape: NetworkShape
    network: Network
    target_mean: float = 0.0
    best_step: int = 0
    training_kernels: int = 0
    """Distinct by shard."""
    training_rows: int = 0

    @property
    def scale(self) -> Literal["seconds", "rank"]:
        """Either "rank" (comparable within a kernel only) or "seconds"."""
        return "rank" if self.spec["loss"] in RANK_LOSSES else "seconds"

    @cached_property
    def forward(self):
        """The network as one compiled function of a batch."""
        return tf.function(self.network, input_signature=[batch_signature(self.shape)])

    def targets(self, examples: Examples, rows: np.ndarray | slice = EVERY) -> np.ndarray:
        """float32[r] of some rows: what the network learns, the natural logarithm of the runtime or of its ratio to
        the analytical estimate, less the training mean."""
        log_time = np.log(examples.runtime_s[rows])
        return (log_time - self._reference(examples, rows) - self.target_mean).astype(np.float32)

    def _reference(self, examples: Examples, rows: np.ndarray | slice = EVERY) -> np.ndarray | float:
        return np.log(examples.analytical[rows, 0]) if self.spec["knowledge"] == "ratio" else 0.0

    def outputs(self, examples: Examples, batcher: Batcher | None = None) -> np.ndarray:
        """float32[r] raw outputs of the network for every row, in large batches."""
        batcher = batcher or Batcher(examples, self.scaling, self.shape.inputs)
        out = np.empty(len(examples.tile), np.float32)
        most_rows = ROWS_PER_BATCH_OF_NODE_TILES if self.shape.inputs.node_tile else ROWS_PER_BATCH
        for first, last in cut_into_batches(examples, most_rows):
            rows = slice(examples.row_offset[first], examples.row_offset[last])
            out[rows] = self.forward(batcher.all_rows(first, last)).numpy()
        return out

    def predict(self, examples: Examples) -> np.ndarray:
        """float64[r] seconds, or scores where `scale` is "rank".

        Raises FeatureSetError for examples with other features than those of training.
        """
        check_feature_set(self.features, examples.features)
        outputs = self.outputs(examples).astype(np.float64)
        if self.scale == "rank":
            return outputs
        return np.exp(outputs + self.target_mean + self._reference(examples))
