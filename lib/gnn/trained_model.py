"""A model that can predict: network, scaling and what its output means."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from lib.gnn.backend import tf
from lib.gnn.batching import STATIC, Batcher, Inputs, TileView, cut_into_batches
from lib.gnn.examples import Examples
from lib.gnn.feature_set import check_feature_set
from lib.gnn.form_rates import UNKNOWN, reference_s
from lib.gnn.network import Network, NetworkShape, batch_signature
from lib.gnn.scaling import Scaling
from schemas.loss import is_rank_loss
from schemas.model_artifact import FeatureSet

ROWS_PER_BATCH = 16_384
"""Large batches: below, the fixed costs of small operations weigh."""
ROWS_PER_BATCH_OF_NODE_TILES = 4_096
"""Where each row brings a tile of each of its kernel's nodes: above, the embeddings leave the processor's caches."""
NODES_OF_A_ROW = 32
"""Kernels with more nodes make batches of fewer rows: memory doesn't grow with them."""
ROWS_PER_BATCH_OF_SEQUENCES = 1_024
"""Where the nodes under each row are a padded sequence: bounds the memory of attention to about 1 GiB."""

EVERY = slice(None)
"""All rows."""


def inputs_of(spec: dict[str, Any]) -> Inputs:
    """Which features a model entry reads.

    In the tile task the tile varies, so it is an input whatever `knowledge` says. A raw tile enters at one place, where
    it joins the graph; a projected one has features of the whole kernel too, and these are always at the head.

    Raises ValueError for `knowledge: ratio` with a rank loss, which compares rows and predicts no time.
    """
    task, knowledge = spec["task"], spec["knowledge"]
    if knowledge == "ratio" and is_rank_loss(spec["loss"]):
        raise ValueError(f"knowledge: ratio needs loss: log-mse, since {spec['loss']} predicts no time")
    view: TileView | None = spec["tile_features"] if task == "tile" or knowledge != "off" else None
    at_nodes = spec["join"] != "late"
    return Inputs(
        tile=None if view == "raw" and at_nodes else view,
        analytical=knowledge in ("analytical", "ratio"),
        node_tile=view if at_nodes else None,
        early=view is not None and spec["join"] == "early",
        static=spec["static_features"],
        layout=spec.get("layout_features", False),
    )


def network_shape(spec: dict[str, Any], features: FeatureSet, scaling: Scaling) -> NetworkShape:
    """The network of a model entry for a feature set."""
    inputs = inputs_of(spec)
    row = {None: 0, "projected": len(features.tile), "raw": len(features.raw_tile)}[inputs.tile]
    static = STATIC + inputs.layout * len(features.kernel_layout)
    return NetworkShape(
        graph_network=spec["graph_network"],
        edges=spec["edges"],
        layers=spec["layers"],
        width=spec["width"],
        reduction=spec["reduction"],
        inputs=inputs,
        op_kinds=len(features.op_kinds),
        node=len(features.node)
        + inputs.layout * len(features.node_layout)
        + (static if inputs.static == "node" else 0),
        kernel=len(features.kernel) - STATIC + (static if inputs.static == "kernel" else 0),
        row=row + inputs.analytical * len(scaling.analytical[0]),
        node_tile={None: 0, "projected": len(features.node_tile), "raw": len(features.raw_tile)}[inputs.node_tile],
    )


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
    rates: np.ndarray | None = None
    """Of forms, see :mod:`lib.gnn.form_rates`: where the entry reads the layout and learns a ratio to the estimate."""

    @property
    def scale(self) -> Literal["seconds", "rank"]:
        """Either "rank" (comparable within a kernel only) or "seconds"."""
        return "rank" if is_rank_loss(self.spec["loss"]) else "seconds"

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
        if self.spec["knowledge"] != "ratio":
            return 0.0
        return np.log(reference_s(examples, UNKNOWN if self.rates is None else self.rates, rows))

    def outputs(self, examples: Examples, batcher: Batcher | None = None) -> np.ndarray:
        """float32[r] raw outputs of the network for every row, in large batches."""
        batcher = batcher or Batcher(examples, self.scaling, self.shape.inputs)
        out = np.empty(len(examples.tile), np.float32)
        for first, last in cut_into_batches(examples, *self._rows_and_pairs_per_batch()):
            rows = slice(examples.row_offset[first], examples.row_offset[last])
            out[rows] = self.forward(batcher.all_rows(first, last)).numpy()
        return out

    def _rows_and_pairs_per_batch(self) -> tuple[int, int | None]:
        if not self.shape.inputs.node_tile:
            return ROWS_PER_BATCH, None
        sequences = self.shape.reduction in ("lstm", "transformer")
        rows = ROWS_PER_BATCH_OF_SEQUENCES if sequences else ROWS_PER_BATCH_OF_NODE_TILES
        return rows, rows * NODES_OF_A_ROW

    def predict(self, examples: Examples) -> np.ndarray:
        """float64[r] seconds, or scores where `scale` is "rank".

        Raises FeatureSetError for examples with other features than those of training.
        """
        check_feature_set(self.features, examples.features)
        outputs = self.outputs(examples).astype(np.float64)
        if self.scale == "rank":
            return outputs
        return np.exp(outputs + self.target_mean + self._reference(examples))
