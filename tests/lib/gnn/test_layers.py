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


@pytest.mark.parametrize("block", [GraphSageBlock, NodeBlock])
def test_equal_seeds_give_equal_weights(block):
    weights = []
    for _ in range(2):
        layer = block(4, seed=3)
        layer((np.ones((3, 4), np.float32), CHAIN))
        weights.append([variable.numpy() for variable in layer.weights])
    for one, two in zip(*weights, strict=True):
        np.testing.assert_array_equal(one, two)
