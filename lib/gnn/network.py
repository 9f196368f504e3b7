"""The network: node embeddings, graph layers, reduction, late, middle or early join of the tile, head."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lib.gnn.backend import keras, seeded_uniform, tf
from lib.gnn.batching import Batch, Inputs
from lib.gnn.layers import (
    ColumnWiseReduction,
    GraphAttentionBlock,
    GraphSageBlock,
    LstmReduction,
    NodeBlock,
    PerNodeReduction,
    TransformerReduction,
)

OP_EMBEDDING = 16
HEAD = (128, 64)
"""Units of the head's two layers before the last."""
GRAPH_NETWORKS: dict[str, Callable] = {"graphsage": GraphSageBlock, "gat": GraphAttentionBlock, "none": NodeBlock}
REDUCTIONS: dict[str, Callable] = {
    "column-wise": ColumnWiseReduction,
    "per-node": PerNodeReduction,
    "lstm": LstmReduction,
    "transformer": TransformerReduction,
}


class NetworkShape(NamedTuple):
    """What decides the network's weights, besides the seed."""

    graph_network: str
    """A key of GRAPH_NETWORKS; "none" is the same without message passing."""
    edges: str
    """"both", "directed" or "undirected"."""
    layers: int
    width: int
    reduction: str
    """A key of REDUCTIONS."""
    inputs: Inputs
    op_kinds: int
    node: int
    """Node features."""
    kernel: int
    """Kernel and hardware features."""
    row: int
    """Tile and analytical features."""
    node_tile: int
    """Features of a node under a tile."""


class Network(keras.Model):
    """Scores rows of kernels: float32[r] from a :class:`Batch`.

    In late and middle join the graph layers see only what is known without a tile, so they run once a kernel however
    many tiles are asked for.

    *Late join* (`inputs.node_tile` false): node embeddings are reduced to a kernel embedding; the head's
    first layer is split, so that its kernel part is computed once a kernel and its tile part once a row.

    *Middle join*: node embeddings are joined to the features of the node under the tile, pass one more
    node layer and are reduced to an embedding a row. That layer is split in the same way.

    *Early join* (`inputs.early`): the features of the node under the tile are joined to those of the node, so the graph
    layers run once a row.

    Features of kernel, hardware and row go straight to the head, past the graph layers.
    """

    def __init__(self, shape: NetworkShape, seed: int):
        super().__init__(name="network")
        self.built = True  # by the first call, not by a symbolic one before
        for kind, name, known in (
            ("graph network", shape.graph_network, GRAPH_NETWORKS),
            ("reduction", shape.reduction, REDUCTIONS),
        ):
            if name not in known:
                raise ValueError(f"{kind} {name!r} is none of {sorted(known)}")
        seeds = iter(np.random.default_rng(seed).integers(2**31 - 8, size=16 + shape.layers).tolist())

        def dense(units: int, name: str, activation: str | None = None, bias: bool = True):
            return keras.layers.Dense(
                units, activation=activation, use_bias=bias, kernel_initializer=seeded_uniform(next(seeds)), name=name
            )

        self._inputs = shape.inputs
        self._embedding = keras.layers.Embedding(
            shape.op_kinds, OP_EMBEDDING, embeddings_initializer=seeded_uniform(next(seeds)), name="op_kind"
        )
        self._node = dense(shape.width, "node")
        block = GRAPH_NETWORKS[shape.graph_network]
        way = {} if shape.graph_network == "none" else {"edges": shape.edges}
        self._graph = [block(shape.width, next(seeds), **way, name=f"graph_{i}") for i in range(shape.layers)]
        if shape.inputs.node_tile:
            if not shape.inputs.early:
                self._join_node = dense(shape.width, "join_node")
            self._join_tile = dense(shape.width, "join_tile", bias=False)
        self._head_embedding = dense(HEAD[0], "head_embedding", bias=False)
        self._head_kernel = dense(HEAD[0], "head_kernel")
        self._reads_row = shape.row > 0
        if self._reads_row:
            self._head_row = dense(HEAD[0], "head_row", bias=False)
        self._head = dense(HEAD[1], "head", "relu")
        self._score = dense(1, "score")
        self._reduce = REDUCTIONS[shape.reduction](shape.width, next(seeds), name="reduce")

    def call(self, batch: Batch):
        """Scores of the batch's rows, float32[r]."""
        x, edge = self._node(tf.concat([self._embedding(batch.op_kind), batch.node], axis=1)), batch.edge
        if self._inputs.early:
            x, edge = self._joined(x, batch), batch.pair_edge
        x = tf.nn.relu(x)
        for layer in self._graph:
            x = layer((x, edge))
        kernel = self._head_kernel(batch.kernel)
        if self._inputs.node_tile:
            if not self._inputs.early:
                x = tf.nn.relu(self._joined(self._join_node(x), batch))
            hidden = self._head_embedding(self._reduce((x, batch.pair_row))) + tf.gather(kernel, batch.row_kernel)
        else:
            embedding = self._head_embedding(self._reduce((x, batch.node_kernel)))
            hidden = tf.gather(embedding + kernel, batch.row_kernel)
        if self._reads_row:
            hidden += self._head_row(batch.row)
        return self._score(self._head(tf.nn.relu(hidden)))[:, 0]

    def _joined(self, x, batch: Batch):
        """float32[p, width]: nodes, each with its tile."""
        return tf.gather(x, batch.pair_node) + self._join_tile(batch.pair)


def batch_signature(shape: NetworkShape) -> Batch:
    """TensorSpecs of a batch with every count left open, so that a function of it is traced once."""

    def spec(dtype, *columns: int):
        return tf.TensorSpec((None, *columns), dtype)

    return Batch(
        op_kind=spec(tf.int32), node=spec(tf.float32, shape.node), edge=spec(tf.int32, 2), node_kernel=spec(tf.int32),
        kernel=spec(tf.float32, shape.kernel), row_kernel=spec(tf.int32), row=spec(tf.float32, shape.row),
        pair_node=spec(tf.int32), pair_row=spec(tf.int32), pair=spec(tf.float32, shape.node_tile),
        pair_edge=spec(tf.int32, 2),
    )  # fmt: skip


def build_network(shape: NetworkShape, seed: int) -> Network:
    """A network with its weights made, by calling it once on a batch of one node."""
    network = Network(shape, seed)
    one, no_edges = tf.zeros(1, tf.int32), tf.zeros((0, 2), tf.int32)
    node, kernel = tf.zeros((1, shape.node)), tf.zeros((1, shape.kernel))
    row, pair = tf.zeros((1, shape.row)), tf.zeros((1, shape.node_tile))
    network(Batch(one, node, no_edges, one, kernel, one, row, one, one, pair, no_edges))
    return network


def network_weights(network: Network) -> dict[str, np.ndarray]:
    """Weights by path within the network."""
    return {_path(variable): variable.numpy() for variable in network.weights}


def set_network_weights(network: Network, weights: dict[str, np.ndarray]) -> None:
    """Raises ValueError naming the first weight that is missing, unknown or of another shape."""
    own = {_path(variable): variable for variable in network.weights}
    if own.keys() != weights.keys():
        missing, unknown = sorted(own.keys() - weights.keys()), sorted(weights.keys() - own.keys())
        raise ValueError(f"weights: missing {missing}, unknown {unknown}")
    for path, variable in own.items():
        if tuple(variable.shape) != weights[path].shape:
            raise ValueError(f"weights: {path} has shape {weights[path].shape}, expected {tuple(variable.shape)}")
        variable.assign(weights[path])


def _path(variable) -> str:
    return variable.path.removeprefix("network/")
