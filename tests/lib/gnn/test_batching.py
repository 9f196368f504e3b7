"""Batches and samples."""

import numpy as np
import pytest

from lib.gnn.batching import Batcher, Inputs, cut_into_batches
from lib.gnn.examples import examples_of_shards
from lib.gnn.feature_set import (
    HARDWARE_FEATURES,
    KERNEL_FEATURES,
    KERNEL_LAYOUT_FEATURES,
    NODE_LAYOUT_FEATURES,
)
from lib.gnn.sampling import Sampler
from lib.gnn.scaling import fit_scaling, scaled
from lib.gnn.tile_features import raw_tile_features
from tests.lib.gnn.synthetic import shard

EVERYTHING = Inputs(tile="projected", analytical=True, node_tile="projected")


def batcher(task="tile", inputs=EVERYTHING, **sizes):
    examples = examples_of_shards([shard(task, **sizes)])
    return Batcher(examples, fit_scaling(examples, np.random.default_rng(0)), inputs)


def test_a_batch_joins_graphs_without_padding():
    make = batcher(count=6, rows=2)
    batch = make.batch(np.array([2, 0]), np.array([5, 0, 1]), np.array([0, 1, 1], np.int32))
    # kernel 2 is a dot (2 operands, 1 op), kernel 0 a convolution with bias and relu (3 operands, 3 ops)
    assert batch.node_kernel.tolist() == [0] * 3 + [1] * 6
    assert batch.edge.tolist() == [[0, 2], [1, 2], [3, 6], [4, 6], [6, 7], [5, 7], [7, 8]]
    assert batch.pair_node.tolist() == [0, 1, 2, *range(3, 9), *range(3, 9)]
    assert batch.pair_row.tolist() == [0] * 3 + [1] * 6 + [2] * 6
    assert batch.row.shape[0] == 3
    assert len(batch.pair) == 15


def test_groups_of_features_that_the_network_does_not_read_are_empty():
    make = batcher(inputs=Inputs(tile=None, analytical=False, node_tile=None))
    batch = make.all_rows(0, 2)
    assert batch.row.shape == (20, 0)
    assert len(batch.pair) == len(batch.pair_node) == 0


def test_layout_features_are_read_where_asked():
    """Behind a node's and a kernel's own; those of a kernel go where its static features go."""
    plain = batcher().all_rows(0, 3)
    told = batcher(inputs=EVERYTHING._replace(layout=True)).all_rows(0, 3)
    assert told.node.shape[1] == plain.node.shape[1] + len(NODE_LAYOUT_FEATURES)
    assert np.array_equal(told.node[:, : plain.node.shape[1]], plain.node)
    assert told.kernel.shape[1] == plain.kernel.shape[1] + len(KERNEL_LAYOUT_FEATURES)
    at_nodes = batcher(inputs=EVERYTHING._replace(layout=True, static="node")).all_rows(0, 3)
    assert at_nodes.kernel.shape[1] == len(HARDWARE_FEATURES)
    static = len(KERNEL_FEATURES) + len(KERNEL_LAYOUT_FEATURES)
    assert at_nodes.node.shape[1] == told.node.shape[1] + static


def test_early_join_gives_each_row_the_edges_of_its_kernel():
    inputs = Inputs(tile=None, analytical=False, node_tile="raw", early=True)
    make = batcher(count=6, rows=2, inputs=inputs)
    batch = make.batch(np.array([2, 0]), np.array([5, 0, 1]), np.array([0, 1, 1], np.int32))
    convolution = np.array([[0, 3], [1, 3], [3, 4], [2, 4], [4, 5]])
    np.testing.assert_array_equal(batch.pair_edge[:2], [[0, 2], [1, 2]])
    np.testing.assert_array_equal(batch.pair_edge[2:7], 3 + convolution)
    np.testing.assert_array_equal(batch.pair_edge[7:], 9 + convolution)


def test_a_raw_tile_is_repeated_at_the_nodes_of_its_row():
    make = batcher(count=6, rows=2, inputs=Inputs(tile=None, analytical=False, node_tile="raw"))
    batch = make.all_rows(0, 2)
    tile = scaled(raw_tile_features(make.examples.tile[:4]), make.scaling.raw_tile)
    np.testing.assert_array_equal(batch.pair, tile[batch.pair_row])
    assert batch.row.shape == (4, 0)
    at_the_head = batcher(count=6, rows=2, inputs=Inputs(tile="raw", analytical=False, node_tile=None)).all_rows(0, 2)
    np.testing.assert_array_equal(at_the_head.row, tile)


def test_static_features_at_the_head_at_each_node_or_nowhere():
    def batch(static):
        return batcher(inputs=Inputs(tile=None, analytical=False, node_tile=None, static=static)).all_rows(3, 5)

    kernel, node, off = (batch(static) for static in ("kernel", "node", "off"))
    hardware = kernel.kernel[:, len(KERNEL_FEATURES) :]
    for other in (node, off):
        np.testing.assert_array_equal(other.kernel, hardware)
    np.testing.assert_array_equal(off.node, kernel.node)
    repeated = kernel.kernel[kernel.node_kernel, : len(KERNEL_FEATURES)]
    np.testing.assert_array_equal(node.node, np.concatenate([kernel.node, repeated], axis=1))


def test_cutting_covers_all_kernels_once():
    examples = batcher(count=30, rows=7).examples
    ranges = cut_into_batches(examples, 50)
    assert [first for first, _ in ranges[1:]] == [last for _, last in ranges[:-1]]
    assert (ranges[0][0], ranges[-1][1]) == (0, 30)
    assert all(last - first == 7 for first, last in ranges[:-1])  # 7 kernels of 7 rows
    assert cut_into_batches(examples, 3) == [(k, k + 1) for k in range(30)]  # a kernel is never cut


def test_many_nodes_make_batches_of_fewer_rows():
    examples = batcher(count=6, rows=7).examples
    nodes = np.diff(examples.geometry.nodes.offset)
    pairs = 7 * int(nodes[:2].sum())
    ranges = cut_into_batches(examples, 1000, pairs)
    assert ranges[0] == (0, 2)
    assert all(7 * nodes[first:last].sum() <= pairs or last == first + 1 for first, last in ranges)
    assert (ranges[0][0], ranges[-1][1]) == (0, 6)


def sampler(family, row_offset, rows, least_rows=2, seed=0, kernels=1000):
    groups = np.asarray(family).reshape(len(row_offset) - 1, -1)
    return Sampler(groups, np.asarray(row_offset), seed, kernels=kernels, rows=rows, least_rows=least_rows)


def test_families_are_drawn_evenly_whatever_their_size():
    family = [0] * 99 + [1]
    drawn = sampler(family, np.arange(101) * 4, rows=2).draw(1)
    assert (drawn.kernels == 99).mean() == pytest.approx(0.5, abs=0.06)


def test_workloads_and_hardware_variants_are_drawn_evenly_within_a_family():
    # family 0: workload 0 on hardware 0 (90 kernels) and 1 (6); workload 1 on hardware 0 (3). family 1: 1 kernel.
    # By hand: 1/2 x 1/2 x 1/2 for the first two, 1/2 x 1/2 for the third, 1/2 for the last.
    groups = [(0, 0, 0)] * 90 + [(0, 0, 1)] * 6 + [(0, 1, 0)] * 3 + [(1, 2, 1)]
    kernels = sampler(groups, np.arange(101) * 4, rows=2, kernels=10_000).draw(1).kernels
    shares = np.histogram(kernels, [0, 90, 96, 99, 100])[0] / 10_000
    assert shares == pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 2], abs=0.02)
    assert len(set(kernels)) == 100
    backwards = sampler(groups[::-1], np.arange(101) * 4, rows=2, kernels=10_000).draw(1).kernels
    shares = np.histogram(backwards, [0, 1, 4, 10, 100])[0] / 10_000
    assert shares == pytest.approx([1 / 2, 1 / 4, 1 / 8, 1 / 8], abs=0.02)


def test_rows_are_dealt_without_repetition_as_far_as_they_reach():
    drawn = sampler([0, 0], [0, 8, 11], rows=6, kernels=50).draw(1)
    for kernel, rows in zip(drawn.kernels, drawn.rows.reshape(50, 6), strict=True):
        first, count = ((0, 8), (8, 3))[kernel]
        assert set(rows) <= set(range(first, first + count))
        assert len(set(rows)) == min(6, count)
    assert drawn.row_kernel.tolist() == np.repeat(np.arange(50), 6).tolist()


def test_kernels_with_too_few_rows_are_left_out():
    drawn = sampler([0, 0, 0], [0, 1, 3, 4], rows=2).draw(1)
    assert set(drawn.kernels) == {1}
    with pytest.raises(ValueError, match="no training kernel has 2 rows"):
        sampler([0], [0, 1], rows=2)


def test_a_sample_depends_on_the_seed_and_the_step_alone():
    one, two = (sampler([0, 1], [0, 8, 11], rows=3, seed=7) for _ in range(2))
    in_order = [one.draw(step) for step in (1, 2, 3)]
    np.testing.assert_array_equal(two.draw(3).rows, in_order[2].rows)
    assert (in_order[0].rows != in_order[1].rows).any()
    assert (sampler([0, 1], [0, 8, 11], rows=3, seed=8).draw(1).rows != in_order[0].rows).any()
