"""Batches: several kernels as one disjoint graph, with the rows (tiles) to be priced.

Nothing is padded and no edge is repeated for the tiles of a kernel: rows point to their kernel, and
the nodes under a tile (`pair`) point to their node and row. All arrays but one dimension of each have
fixed shapes, so TensorFlow traces the network once.
"""

from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from lib.gnn.analytical_features import analytical_features
from lib.gnn.examples import Examples
from lib.gnn.feature_set import KERNEL_FEATURES
from lib.gnn.layout_features import kernel_layout_features, node_layout_features
from lib.gnn.scaling import Scaling, scaled
from lib.gnn.tile_features import node_tile_features, raw_tile_features, tile_features

TileView = Literal["projected", "raw"]
STATIC = len(KERNEL_FEATURES)
"""Columns of a kernel before those of the hardware."""


class Inputs(NamedTuple):
    """Which groups of features the network reads besides nodes and kernels."""

    tile: TileView | None
    """Of the tile, at the head."""
    analytical: bool
    node_tile: TileView | None
    """Of the tile, at each node."""
    early: bool = False
    """Whether nodes under a tile exchange messages, and so need edges."""
    static: Literal["kernel", "node", "off"] = "kernel"
    """Where a kernel's own features are; those of the hardware are always at the head."""
    layout: bool = False
    """Whether nodes and kernels have features of how arrays lie and how matrix ops are written."""


class Batch(NamedTuple):
    """b kernels with n nodes and e edges; r rows, sorted by kernel; p pairs of a row and a node of its kernel."""

    op_kind: np.ndarray
    """int32[n]"""
    node: np.ndarray
    """float32[n, node features]"""
    edge: np.ndarray
    """int32[e, 2] (source, target)"""
    node_kernel: np.ndarray
    """int32[n]"""
    kernel: np.ndarray
    """float32[b, kernel features]"""
    row_kernel: np.ndarray
    """int32[r]"""
    row: np.ndarray
    """float32[r, tile and analytical features], no columns where the network reads neither."""
    pair_node: np.ndarray
    """int32[p]; no pairs where the network reads no nodes under tiles."""
    pair_row: np.ndarray
    """int32[p]"""
    pair: np.ndarray
    """float32[p, node tile features]"""
    pair_edge: np.ndarray
    """int32[q, 2] (source, target) among the pairs of a row; none where they exchange no messages."""


class Batcher:
    """Makes batches of some examples: static features are scaled once, tile features by batch."""

    def __init__(self, examples: Examples, scaling: Scaling, inputs: Inputs):
        self.examples, self.scaling, self.inputs = examples, scaling, inputs
        self._node = scaled(examples.node, scaling.node)
        kernel = scaled(examples.kernel, scaling.kernel)
        self._static, hardware = kernel[:, :STATIC], kernel[:, STATIC:]
        if inputs.layout:
            node = scaled(node_layout_features(examples.geometry), scaling.node_layout)
            self._node = np.concatenate([self._node, node], axis=1)
            layout = scaled(kernel_layout_features(examples.geometry), scaling.kernel_layout)
            self._static = np.concatenate([self._static, layout], axis=1)
        at_head = [self._static, hardware] if inputs.static == "kernel" else [hardware]
        self._kernel = np.concatenate(at_head, axis=1)

    def batch(self, kernels: np.ndarray, rows: np.ndarray, row_kernel: np.ndarray) -> Batch:
        """The kernels (int64[b] into the examples) with `rows` (int64[r] into the examples' rows).

        `row_kernel`: int32[r] position of each row's kernel in `kernels`, never falling.
        """
        examples, nodes = self.examples, self.examples.geometry.nodes
        node_index, node_kernel, edge = _join_graphs(kernels, nodes.offset, examples.edge_offset, examples.edge)
        example_kernel = kernels[row_kernel]
        tile = examples.tile[rows]
        node = self._node[node_index]
        if self.inputs.static == "node":
            node = np.concatenate([node, self._static[kernels[node_kernel]]], axis=1)
        row = [np.zeros((len(rows), 0), np.float32)]
        if self.inputs.tile == "raw":
            row.append(scaled(raw_tile_features(tile), self.scaling.raw_tile))
        elif self.inputs.tile:
            known = len(self.scaling.tile[0])
            row.append(scaled(tile_features(examples.geometry, example_kernel, tile)[:, :known], self.scaling.tile))
        if self.inputs.analytical:
            values = analytical_features(examples.features.analytical, examples.analytical[rows])
            row.append(scaled(values, self.scaling.analytical))
        pair_node, pair_row = np.zeros(0, np.int32), np.zeros(0, np.int32)
        pair, pair_edge = np.zeros((0, 0), np.float32), np.zeros((0, 2), np.int32)
        if self.inputs.node_tile:
            pair_node, pair_row = _pairs(kernels, row_kernel, nodes.offset)
        if self.inputs.node_tile == "raw":
            pair = scaled(raw_tile_features(tile), self.scaling.raw_tile)[pair_row]
        elif self.inputs.node_tile:
            pair = scaled(node_tile_features(examples.geometry, example_kernel, tile), self.scaling.node_tile)
        if self.inputs.early:
            pair_edge = _pair_edges(example_kernel, nodes.offset, examples.edge_offset, examples.edge)
        return Batch(
            nodes.op_kind[node_index], node, edge, node_kernel, self._kernel[kernels],
            np.asarray(row_kernel, np.int32), np.concatenate(row, axis=1), pair_node, pair_row, pair, pair_edge,
        )  # fmt: skip

    def all_rows(self, first: int, last: int) -> Batch:
        """The kernels `first` to `last - 1` with all of their rows."""
        offset = self.examples.row_offset
        row_kernel = np.repeat(np.arange(last - first, dtype=np.int32), np.diff(offset[first : last + 1]))
        return self.batch(np.arange(first, last), np.arange(offset[first], offset[last]), row_kernel)


def cut_into_batches(examples: Examples, most_rows: int, most_pairs: int | None = None) -> list[tuple[int, int]]:
    """(first, last) kernel ranges that cover all kernels with about `most_rows` rows or nodes each, and no more than
    `most_pairs` pairs of a row and a node.

    A kernel is never cut, so one with more rows makes a batch of its own.
    """
    nodes = examples.geometry.nodes.offset
    limits = [(np.maximum(examples.row_offset, nodes), most_rows)]
    if most_pairs is not None:
        pairs = np.concatenate([[0], np.cumsum(np.diff(examples.row_offset) * np.diff(nodes))])
        limits.append((pairs, most_pairs))
    ranges, first = [], 0
    kernels = len(examples.kernel)
    while first < kernels:
        last = min(int(np.searchsorted(size, size[first] + most, side="right")) - 1 for size, most in limits)
        last = min(max(last, first + 1), kernels)
        ranges.append((first, last))
        first = last
    return ranges


@njit(cache=True)
def _join_graphs(kernels, node_offset, edge_offset, edge):
    nodes = edges = 0
    for k in kernels:
        nodes += node_offset[k + 1] - node_offset[k]
        edges += edge_offset[k + 1] - edge_offset[k]
    node_index = np.empty(nodes, np.int64)
    node_kernel = np.empty(nodes, np.int32)
    joined = np.empty((edges, 2), np.int32)
    nodes = edges = 0
    for position in range(len(kernels)):
        k = kernels[position]
        for e in range(edge_offset[k], edge_offset[k + 1]):
            joined[edges, 0] = nodes + edge[e, 0]
            joined[edges, 1] = nodes + edge[e, 1]
            edges += 1
        for n in range(node_offset[k], node_offset[k + 1]):
            node_index[nodes] = n
            node_kernel[nodes] = position
            nodes += 1
    return node_index, node_kernel, joined


@njit(cache=True)
def _pairs(kernels, row_kernel, node_offset):
    first = np.zeros(len(kernels) + 1, np.int64)
    for position in range(len(kernels)):
        k = kernels[position]
        first[position + 1] = first[position] + node_offset[k + 1] - node_offset[k]
    pairs = 0
    for r in range(len(row_kernel)):
        pairs += first[row_kernel[r] + 1] - first[row_kernel[r]]
    pair_node = np.empty(pairs, np.int32)
    pair_row = np.empty(pairs, np.int32)
    pairs = 0
    for r in range(len(row_kernel)):
        for n in range(first[row_kernel[r]], first[row_kernel[r] + 1]):
            pair_node[pairs] = n
            pair_row[pairs] = r
            pairs += 1
    return pair_node, pair_row


@njit(cache=True)
def _pair_edges(row_kernels, node_offset, edge_offset, edge):
    """Each row's own copy of its kernel's edges; `row_kernels`: int64[r] into the examples."""
    edges = 0
    for k in row_kernels:
        edges += edge_offset[k + 1] - edge_offset[k]
    joined = np.empty((edges, 2), np.int32)
    pairs = edges = 0
    for k in row_kernels:
        for e in range(edge_offset[k], edge_offset[k + 1]):
            joined[edges, 0] = pairs + edge[e, 0]
            joined[edges, 1] = pairs + edge[e, 1]
            edges += 1
        pairs += node_offset[k + 1] - node_offset[k]
    return joined
