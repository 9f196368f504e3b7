"""Layers on a graph of three nodes, by hand."""

import numpy as np
import pytest

from lib.gnn.backend import tf
from lib.gnn.layers import ColumnWiseReduction, GraphSageBlock, NodeBlock

X = np.array([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], np.float32)
CHAIN = np.array([[0, 1], [1, 2]], np.int32)


def test_column_wise_reduction():
    out = ColumnWiseReduction()((X, tf.constant([0, 0, 1]))).numpy()
    np.testing.assert_allclose(out, [[2, -1, 3, 2, 0.4, -0.2], [5, 6, 5, 6, 0.5, 0.6]], rtol=1e-6)


def test_graph_sage_mixes_producers_and_consumers():
    layer = GraphSageBlock(2, seed=1)
    layer((X, CHAIN))
    names = {variable.path.split("/", 1)[1]: variable for variable in layer.weights}
    # keep the aggregate (rows 2 and 3 of the kernel), drop the node itself; add forward and backward
    for direction in ("forward", "backward"):
        names[f"{direction}/kernel"].assign([[0, 0], [0, 0], [1, 0], [0, 1]])
    names["join/kernel"].assign([[1, 0], [0, 1], [1, 0], [0, 1]])
    out = layer((X, CHAIN)).numpy()

    def unit(vector):
        return np.maximum(vector / np.linalg.norm(vector), 0)

    expected = [
        X[0] + unit(X[0]) + unit((X[0] + X[1]) / 2),
        X[1] + unit((X[0] + X[1]) / 2) + unit((X[1] + X[2]) / 2),
        X[2] + unit((X[1] + X[2]) / 2) + unit(X[2]),
    ]
    np.testing.assert_allclose(out, expected, rtol=1e-5)


def test_node_block_does_not_look_at_edges():
    layer = NodeBlock(2, seed=1)
    with_edges, without = layer((X, CHAIN)), layer((X, CHAIN[:0]))
    np.testing.assert_array_equal(with_edges, without)
    kernel = layer.weights[0].numpy()
    np.testing.assert_allclose(with_edges, X + np.maximum(X @ kernel, 0), rtol=1e-5)


@pytest.mark.parametrize("block", [GraphSageBlock, NodeBlock])
def test_equal_seeds_give_equal_weights(block):
    weights = []
    for _ in range(2):
        layer = block(4, seed=3)
        layer((np.ones((3, 4), np.float32), CHAIN))
        weights.append([variable.numpy() for variable in layer.weights])
    for one, two in zip(*weights, strict=True):
        np.testing.assert_array_equal(one, two)
