"""Layers on a graph of three nodes, by hand."""

import numpy as np
import pytest

from lib.gnn.backend import tf
from lib.gnn.layers import (
    ColumnWiseReduction,
    GraphAttentionBlock,
    GraphSageBlock,
    LstmReduction,
    NodeBlock,
    PerNodeReduction,
    TransformerReduction,
    padding,
)

X = np.array([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], np.float32)
CHAIN = np.array([[0, 1], [1, 2]], np.int32)


def test_column_wise_reduction():
    out = ColumnWiseReduction()((X, tf.constant([0, 0, 1]))).numpy()
    np.testing.assert_allclose(out, [[2, -1, 3, 2, 0.4, -0.2], [5, 6, 5, 6, 0.5, 0.6]], rtol=1e-6)


def test_graph_sage_mixes_producers_and_consumers():
    x = np.array([[1, 2, 5, -2], [3, -4, 1, 2], [5, 6, -3, 4]], np.float32)
    layer = GraphSageBlock(4, seed=1)
    layer((x, CHAIN))
    names = {variable.path.split("/", 1)[1]: variable for variable in layer.weights}
    # of the aggregate (the kernel's last four rows) take two columns forward and the other two backward
    for direction, first in (("forward", 4), ("backward", 6)):
        kernel = np.zeros((8, 2))
        kernel[first, 0] = kernel[first + 1, 1] = 1
        names[f"{direction}/kernel"].assign(kernel)
    names["join/kernel"].assign(np.eye(4))
    out = layer((x, CHAIN)).numpy()

    def unit(vector):
        return np.maximum(vector / np.linalg.norm(vector), 0)

    along, against = x[:, :2], x[:, 2:]
    producers = [unit(along[0]), unit((along[0] + along[1]) / 2), unit((along[1] + along[2]) / 2)]
    consumers = [unit((against[0] + against[1]) / 2), unit((against[1] + against[2]) / 2), unit(against[2])]
    np.testing.assert_allclose(out, x + np.concatenate([producers, consumers], axis=1), rtol=1e-5)


def test_node_block_does_not_look_at_edges():
    layer = NodeBlock(2, seed=1)
    with_edges, without = layer((X, CHAIN)), layer((X, CHAIN[:0]))
    np.testing.assert_array_equal(with_edges, without)
    kernel = layer.weights[0].numpy()
    np.testing.assert_allclose(with_edges, X + np.maximum(X @ kernel, 0), rtol=1e-5)


def weights_of(layer) -> dict:
    """Variables by path within the layer."""
    return {variable.path.split("/", 1)[1]: variable for variable in layer.weights}


@pytest.mark.parametrize("edges", ["directed", "undirected"])
def test_graph_sage_along_the_edges_or_both_ways_alike(edges):
    layer = GraphSageBlock(2, seed=1, edges=edges)
    layer((X, CHAIN))
    names = weights_of(layer)
    (convolution,) = [name for name in names if name.endswith("/kernel") and name != "join/kernel"]
    names[convolution].assign([[0, 0], [0, 0], [1, 0], [0, 1]])  # the aggregate
    names["join/kernel"].assign(np.eye(2))
    heard = {"directed": [[0], [0, 1], [1, 2]], "undirected": [[0, 1], [0, 1, 2], [1, 2]]}[edges]
    means = np.array([X[nodes].mean(axis=0) for nodes in heard])
    expected = X + np.maximum(means / np.linalg.norm(means, axis=1, keepdims=True), 0)
    np.testing.assert_allclose(layer((X, CHAIN)), expected, rtol=1e-5)


def test_graph_attention_weighs_producers():
    layer = GraphAttentionBlock(4, seed=1, edges="directed")  # four heads of one channel
    x = np.array([[1, 2, 5, 2], [3, 4, 1, 2], [5, 6, 3, 4]], np.float32)
    layer((x, CHAIN))
    names = weights_of(layer)
    names["forward/kernel"].assign(np.eye(4)[:, :, None])
    names["forward/attn_kernel_self"].assign(np.zeros((1, 4, 1)))
    names["forward/attn_kernel_neigh"].assign(np.ones((1, 4, 1)))
    names["join/kernel"].assign(np.eye(4))

    def attended(*nodes):
        weight = np.exp(x[list(nodes)])
        return (weight * x[list(nodes)]).sum(axis=0) / weight.sum(axis=0)

    np.testing.assert_allclose(
        layer((x, CHAIN)), x + np.array([attended(0), attended(0, 1), attended(1, 2)]), rtol=1e-5
    )


def test_per_node_reduction():
    layer = PerNodeReduction(2, seed=1)
    layer((X, tf.constant([0, 0, 1])))
    names = weights_of(layer)
    names["hidden/kernel"].assign(np.eye(2))
    names["score/kernel"].assign([[1], [10]])
    names["score/bias"].assign([0.5])
    # scores 1 + 20 + 0.5, 3 + 0 + 0.5 and 5 + 60 + 0.5
    np.testing.assert_allclose(layer((X, tf.constant([0, 0, 1]))), [[2.5], [6.55]], rtol=1e-6)


def test_lstm_reduction_follows_the_order_of_nodes():
    layer, segment = LstmReduction(2, seed=1), tf.constant([0, 0, 1])
    out = layer((X, segment)).numpy()
    kernel, recurrent, bias = (variable.numpy() for variable in layer.weights)

    def last_state(nodes):
        h, c = np.zeros(2), np.zeros(2)
        for x in nodes:
            i, f, g, o = np.split(x @ kernel + h @ recurrent + bias, 4)
            c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            h = np.tanh(c) / (1 + np.exp(-o))
        return h

    np.testing.assert_allclose(out, [last_state(X[:2]), last_state(X[2:])], rtol=1e-5)


def test_transformer_reduction_attends_within_segments():
    layer, segment = TransformerReduction(2, seed=1), tf.constant([0, 0, 1])
    out = layer((X, segment)).numpy()
    w = {name: variable.numpy() for name, variable in weights_of(layer).items()}

    def norm(x, name):
        return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-3) * w[
            f"{name}/gamma"
        ] + w[f"{name}/beta"]

    def encoded(x):
        heads = []
        for head in range(4):  # of one channel
            q, k, v = (norm(x, "norm_attention") @ w[f"{n}/kernel"][:, [head]] for n in ("query", "key", "value"))
            weight = np.exp(q @ k.T)
            heads.append(weight / weight.sum(axis=1, keepdims=True) @ v)
        y = x + np.concatenate(heads, axis=1) @ w["attended/kernel"]
        wide = np.maximum(norm(y, "norm_feed_forward") @ w["wide/kernel"] + w["wide/bias"], 0)
        return y + wide @ w["narrow/kernel"] + w["narrow/bias"]

    expected = [
        np.concatenate([z.mean(axis=0), z.max(axis=0), 0.1 * z.sum(axis=0)]) for z in (encoded(X[:2]), encoded(X[2:]))
    ]
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_long_segments_are_cut_into_pieces(monkeypatch):
    monkeypatch.setattr(padding, "LONGEST", 2)
    segment = tf.constant([0, 1, 1, 1, 1, 1, 2, 2])
    where = padding.places(segment)
    assert where.shape.numpy().tolist() == [5, 2]
    assert where.segment.numpy().tolist() == [0, 1, 1, 1, 2]
    x = tf.reshape(tf.range(1.0, 9.0), (8, 1))
    side_by_side = padding.padded(x, where)
    assert side_by_side[:, :, 0].numpy().tolist() == [[1, 0], [2, 3], [4, 5], [6, 0], [7, 8]]
    assert padding.filled(where).numpy().tolist() == [[True, False], [True] * 2, [True] * 2, [True, False], [True] * 2]
    np.testing.assert_array_equal(padding.unpadded(side_by_side, where), x)


@pytest.mark.parametrize("reduction", [LstmReduction, TransformerReduction])
def test_a_thousand_nodes_take_the_memory_of_pieces(reduction):
    nodes = 1000
    x = np.random.default_rng(0).normal(size=(nodes + 3, 4)).astype(np.float32)
    segment = tf.constant([0] * nodes + [1] * 3)
    out = reduction(4, seed=1)((x, segment)).numpy()
    assert np.isfinite(out).all()
    assert padding.places(segment).shape.numpy().tolist() == [9, 128]


@pytest.mark.parametrize("block", [GraphSageBlock, GraphAttentionBlock, NodeBlock])
def test_equal_seeds_give_equal_weights(block):
    weights = []
    for _ in range(2):
        layer = block(4, seed=3)
        layer((np.ones((3, 4), np.float32), CHAIN))
        weights.append([variable.numpy() for variable in layer.weights])
    for one, two in zip(*weights, strict=True):
        np.testing.assert_array_equal(one, two)
