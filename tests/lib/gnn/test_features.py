"""Feature values of hand-made kernels, by hand, and what a model says to other features."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from lib.gnn.analytical_features import analytical_feature_names, analytical_features
from lib.gnn.examples import examples_of_shards
from lib.gnn.feature_set import (
    HARDWARE_FEATURES,
    KERNEL_FEATURES,
    KERNEL_LAYOUT_FEATURES,
    NODE_FEATURES,
    NODE_LAYOUT_FEATURES,
    NODE_TILE_FEATURES,
    RAW_TILE_FEATURES,
    TILE_FEATURES,
    VERSION,
    FeatureSetError,
    check_feature_set,
    feature_set,
)
from lib.gnn.layout_features import kernel_layout_features, node_layout_features
from lib.gnn.node_table import node_table
from lib.gnn.scaling import LIMIT, fit_scaling, scaled
from lib.gnn.static_features import hardware_features, hardware_limits, kernel_features, node_features
from lib.gnn.tile_features import geometry, node_tile_features, raw_tile_features, tile_features
from lib.program.kernel_builder import KernelsBuilder, OpRow
from lib.program.op_form import FORMS
from lib.schedule.vector_tiles import OWN_PICK, VECTOR_COLUMNS
from tests.kernel_examples import convolution_relu, example_kernels
from tests.lib.gnn.synthetic import PARTS, TPU_V3_CORE, shard

FORM_COLUMNS = [f"form_{name}" for name in FORMS]
CONVOLUTION_TILE = [1, 14, 28, 128, 128, 3, 3, 1]
"""Of convolution_relu (4 x 28 x 28 x 256 from 128 channels, 3 x 3): 4 x 2 x 1 x 2 = 16 steps."""


def named(names, row):
    return dict(zip(names, row.tolist(), strict=True))


def examples():
    kernels = example_kernels()
    nodes = node_table(kernels)
    limits = np.tile(hardware_limits(TPU_V3_CORE), (kernels.number, 1))
    return kernels, nodes, limits


def log2(value):
    return pytest.approx(float(np.log2(value)), abs=1e-5)


def test_node_features_of_a_convolution():
    kernels, nodes, limits = examples()
    rows = node_features(kernels, nodes, limits)
    image = named(NODE_FEATURES, rows[0])
    assert image["extent_batch"] == log2(1 + 4)
    assert image["extent_out_h"] == log2(1 + 30)  # 28 outputs under a window of 3
    assert image["extent_in_c"] == log2(1 + 128)
    assert image["extent_out_c"] == log2(1 + 1)
    assert image["elements"] == log2(1 + 4 * 28 * 28 * 128)
    assert (image["is_input"], image["is_weight"], image["element_bytes"]) == (1, 0, 2)
    assert image["lane_fill"] == 1  # 128 channels on 128 lanes
    assert image["sublane_fill"] == pytest.approx(30 / 32)  # bfloat16: 16 rows a register
    assert (image["consumers"], image["producers"]) == (log2(2), 0)
    convolution = named(NODE_FEATURES, rows[3])
    assert convolution["iterations"] == log2(1 + 4 * 28 * 28 * 256 * 128 * 9)
    assert convolution["elements"] == log2(1 + 4 * 28 * 28 * 256)
    assert convolution["extent_in_c"] == log2(2)  # contracted: not in the result
    assert (convolution["is_hero"], convolution["is_root"], convolution["op_class_matrix"]) == (1, 0, 1)
    assert convolution["producers"] == log2(1 + 2)
    relu = named(NODE_FEATURES, rows[5])
    assert (relu["is_root"], relu["is_hero"], relu["op_class_simple"], relu["consumers"]) == (1, 0, 1, 0)


def test_kernel_features_of_a_convolution():
    kernels, _, _ = examples()
    row = named(KERNEL_FEATURES, kernel_features(kernels)[0])
    out = 4 * 28 * 28 * 256
    assert row["matrix_flops"] == log2(1 + 2 * out * 128 * 9)
    assert row["simple_ops"] == log2(1 + 2 * out)  # bias and relu
    assert row["transcendental_ops"] == 0
    assert row["input_bytes"] == log2(1 + 2 * 4 * 28 * 28 * 128)
    assert row["weight_bytes"] == log2(1 + 2 * (9 * 128 * 256 + 256))
    assert row["output_bytes"] == log2(1 + 2 * out)
    assert (row["operands"], row["ops"], row["edges"]) == (log2(5), log2(4), log2(6))
    assert (row["class_convolution"], row["class_dot"]) == (1, 0)
    assert (row["reduces_in_c"], row["reduces_out_c"], row["window_kernel_h"]) == (1, 0, 1)


def layout_of(row):
    """Layout features of one kernel: of its nodes by name, and its own."""
    builder = KernelsBuilder()
    builder.add(row)
    kernels = builder.build()
    nodes = node_table(kernels)
    shape = geometry(kernels, nodes, np.tile(hardware_limits(TPU_V3_CORE), (1, 1)))
    of_nodes = [named(NODE_LAYOUT_FEATURES, node) for node in node_layout_features(shape)]
    return of_nodes, named(KERNEL_LAYOUT_FEATURES, kernel_layout_features(shape)[0])


def test_layout_features_of_a_convolution():
    (image, weights, bias, convolution, _, relu), kernel = layout_of(convolution_relu())
    assert image == {
        "minor_extent": log2(1 + 128), "lies_like_root": 0, "minor_reduced": 1, **dict.fromkeys(FORM_COLUMNS, 0)
    }  # fmt: skip
    assert (weights["minor_extent"], weights["lies_like_root"]) == (log2(1 + 256), 1)
    assert (bias["minor_extent"], relu["minor_reduced"], convolution["form_weights_turned"]) == (log2(1 + 256), 0, 0)
    assert kernel["output_minor_extent"] == log2(1 + 256)
    assert kernel["output_element_bytes"] == 2
    assert kernel["turned_bytes"] == log2(1 + 2 * 4 * 28 * 28 * 128)  # the image lies along input channels
    assert kernel["minor_reduced"] == 1


def test_layout_features_of_a_gradient():
    """Weights [0, 1, o, i]: along the input channels, which are summed over."""
    forward = convolution_relu()
    turned = replace(forward.operands[1], order=(4, 3, 6, 5))
    operands = [forward.operands[0], turned, *forward.operands[2:]]
    ops = [replace(forward.ops[0], form=1 << FORMS.index("weights_turned")), *forward.ops[1:]]
    nodes, kernel = layout_of(replace(forward, operands=operands, ops=ops))
    assert (nodes[1]["minor_extent"], nodes[1]["lies_like_root"], nodes[1]["minor_reduced"]) == (log2(1 + 128), 0, 1)
    assert [node["form_weights_turned"] for node in nodes] == [0, 0, 0, 1, 0, 0]
    assert (kernel["form_weights_turned"], kernel["form_source_turned"]) == (1, 0)
    assert kernel["turned_bytes"] == log2(1 + 2 * (4 * 28 * 28 * 128 + 9 * 128 * 256))


def test_hardware_features_of_a_tpu_v3_core():
    row = named(HARDWARE_FEATURES, hardware_features(TPU_V3_CORE))
    assert row["peak_flops_per_s"] == log2(2 * 0.94e9 * 2 * 128 * 128)
    assert row["peak_vector_ops_per_s"] == log2(0.94e9 * 2 * 512)
    assert row["dram_bytes_per_s"] == log2(450e9)
    assert row["flops_per_dram_byte"] == log2(2 * 0.94e9 * 2 * 128 * 128 / 450e9)


def test_every_field_of_a_datapath_shows_in_its_features():
    """Also where another field makes up for it in a product or a sum."""
    before = hardware_features(TPU_V3_CORE)
    for name, value in TPU_V3_CORE._asdict().items():
        other = (not value) if isinstance(value, bool) else 0.5 if name == "array_efficiency" else 2 * value + 1
        assert (hardware_features(TPU_V3_CORE._replace(**{name: other})) != before).any(), name
    turned = TPU_V3_CORE._replace(pes_x=TPU_V3_CORE.pes_y, pes_y=TPU_V3_CORE.pes_x)
    assert (hardware_features(turned) != before).any()
    moved = TPU_V3_CORE._replace(l1_input_bytes=8 * 2**10, l1_output_bytes=24 * 2**10)
    assert (hardware_features(moved) != before).any()


def test_tile_features_of_a_convolution():
    kernels, nodes, limits = examples()
    tile = np.array([CONVOLUTION_TILE], np.int32)
    row = named(TILE_FEATURES, tile_features(geometry(kernels, nodes, limits), np.array([0]), tile)[0])
    assert row["tile_out_h"] == log2(1 + 14)
    assert (row["trips_batch"], row["trips_out_h"], row["trips_out_c"], row["steps"]) == (2, 1, 1, 4)
    assert row["edge_waste"] == 0
    image = 2 * 128 * 32 * 16  # 16 rows of 30 pixels, in registers 32
    weights = 2 * (9 * 128 * 128 + 128)
    output = 2 * 128 * 32 * 14
    assert row["input_tile_bytes"] == log2(1 + image)
    assert row["weight_tile_bytes"] == log2(1 + weights)
    assert row["output_tile_bytes"] == log2(1 + output)
    assert row["buffer_fill"] == log2(1 + (image + weights + output) / 2**23)  # half of 16 MiB
    assert row["moved_input_bytes"] == log2(1 + 8 * image)  # stays over the output channels
    assert row["moved_weight_bytes"] == log2(1 + 16 * weights)
    assert row["moved_output_bytes"] == log2(1 + 16 * output)
    assert (row["array_fill_rows"], row["array_fill_columns"]) == (1, 1)
    assert row["padded_simple_ops"] == log2(1 + 2 * 16 * 14 * 32 * 128)


def test_transfers_of_a_convolution_come_in_contiguous_runs():
    kernels, nodes, limits = examples()
    tile = np.array([CONVOLUTION_TILE], np.int32)
    row = named(TILE_FEATURES, tile_features(geometry(kernels, nodes, limits), np.array([0]), tile)[0])
    image = 2 * 128 * 30 * 16  # 16 rows of 30 pixels lie together: 30 register tiles of 4 KiB, 8 times
    assert row["input_runs"] == log2(1 + 8)
    assert row["input_run_bytes"] == log2(1 + image)
    assert row["input_covered"] == log2(8 * image / (2 * 4 * 28 * 28 * 128))
    weights = 2 * (9 * 128 * 128 + 128)  # half of the output channels: a run ends with each 16 input channels; the bias
    assert row["weight_runs"] == log2(1 + 16 * (9 * 8 + 1))
    assert row["weight_run_bytes"] == log2(1 + weights / (9 * 8 + 1))
    assert row["weight_covered"] == log2(16 * weights / (2 * (9 * 128 * 256 + 256)))
    output = 2 * 14 * 28 * 128  # likewise 16 pixels
    assert row["output_runs"] == log2(1 + 16 * output / 4096)
    assert row["output_run_bytes"] == log2(1 + 4096)
    assert row["output_covered"] == log2(16 * output / (2 * 4 * 28 * 28 * 256))
    assert row["runs"] == log2(1 + 8 + 16 * (9 * 8 + 1) + 16 * output / 4096)
    assert row["turned_ops"] == 0


def test_what_a_convolution_leaves_of_two_arrays():
    """9 passes of 14 x 28 pixels on 128 x 128 cells, 16 steps; the work of 9 arrays for 392 cycles shared by two."""
    kernels, nodes, limits = examples()
    tile = np.array([CONVOLUTION_TILE], np.int32)
    row = named(TILE_FEATURES, tile_features(geometry(kernels, nodes, limits), np.array([0]), tile)[0])
    assert row["array_fill_contraction"] == 1
    assert row["array_passes"] == log2(9 * 16)
    assert row["array_stream"] == log2(392 / 128)
    assert row["array_use_by_pixels"] == log2(1)  # 196 pixels each
    assert row["array_use_by_channels"] == log2(1 / 2)  # 64 channels each
    assert row["array_use_by_contraction"] == log2(9 / 2 / 5)  # 5 and 4 taps


def test_taps_share_the_rows_of_the_array_where_channels_are_few():
    builder = KernelsBuilder()
    builder.add(convolution_relu(in_c=3))
    kernels = builder.build()
    shapes = geometry(kernels, node_table(kernels), hardware_limits(TPU_V3_CORE)[None])
    row = named(TILE_FEATURES, tile_features(shapes, np.array([0]), kernels.loops)[0])
    assert row["array_fill_contraction"] == pytest.approx(27 / 128)
    assert row["array_passes"] == log2(2)  # 256 output channels


def test_an_image_that_does_not_lie_along_its_channels_is_turned_for_the_matrix_unit():
    kernel = convolution_relu()
    image = replace(kernel.operands[0], order=(2, 4, 1, 0))
    builder = KernelsBuilder()
    builder.add(replace(kernel, operands=[image, *kernel.operands[1:]]))
    kernels = builder.build()
    shapes = geometry(kernels, node_table(kernels), hardware_limits(TPU_V3_CORE)[None])
    assert shapes.turned.tolist() == [True, False, False, False, False, False]
    row = named(TILE_FEATURES, tile_features(shapes, np.array([0]), np.array([CONVOLUTION_TILE], np.int32))[0])
    assert row["turned_ops"] == log2(1 + 16 * 16 * 128 * 128)  # 16 steps of 16 rows, 30 pixels on 128 lanes


def test_raw_tile_features_are_extents_sum_and_product():
    row = named(RAW_TILE_FEATURES, raw_tile_features(np.array([CONVOLUTION_TILE], np.int32))[0])
    assert row["tile_out_w"] == log2(1 + 28)
    assert row["tile_sum"] == log2(1 + 1 + 14 + 28 + 128 + 128 + 3 + 3 + 1)
    assert row["tile_product"] == log2(1 + 14 * 28 * 128 * 128 * 9)


def test_edge_waste_counts_what_the_last_tile_lacks():
    kernels, nodes, limits = examples()
    tile = kernels.loops[2:3].copy()  # dot 64 x 1000 x 2048
    tile[0, 3] = 384  # 1000 columns in 3 tiles of 384
    row = named(TILE_FEATURES, tile_features(geometry(kernels, nodes, limits), np.array([2]), tile)[0])
    assert row["edge_waste_out_c"] == log2(3 * 384 / 1000)
    assert row["edge_waste"] == log2(3 * 384 / 1000)
    assert row["steps"] == log2(3)


def test_tile_projected_on_the_nodes_of_a_convolution():
    kernels, nodes, limits = examples()
    tile = np.array([CONVOLUTION_TILE], np.int32)
    rows = node_tile_features(geometry(kernels, nodes, limits), np.array([0]), tile)
    assert rows.shape == (6, len(NODE_TILE_FEATURES))
    image, weights, convolution = (named(NODE_TILE_FEATURES, rows[n]) for n in (0, 1, 3))
    assert image["tile_extent_out_h"] == log2(1 + 16)
    assert image["tile_elements"] == log2(1 + 16 * 30 * 128)
    assert image["tile_padded_elements"] == log2(1 + 16 * 32 * 128)
    assert (image["distinct_tiles"], image["loads"]) == (3, 3)  # 4 images x 2 halves
    assert image["run_bytes"] == log2(1 + 2 * 128 * 30 * 16)  # whole rows: one run
    assert (weights["distinct_tiles"], weights["loads"]) == (1, 4)  # fetched again for each half image
    assert weights["run_bytes"] == log2(1 + 2 * 128)
    assert convolution["moved_bytes"] == 0  # inside of the kernel


def test_an_op_before_a_convolution_runs_once_an_element_and_lies_as_its_input():
    image, kernel = 4 * 28 * 28 * 128, convolution_relu()
    operands = [kernel.operands[0], kernel.operands[1], kernel.operands[3]]
    ops = [OpRow("maximum", operands[0].stride, image, 2, (0,)), replace(kernel.ops[0], sources=(2, 1))]
    builder = KernelsBuilder()
    builder.add(replace(kernel, operands=operands, ops=ops, hero=1))
    kernels = builder.build()
    nodes, limits = node_table(kernels), hardware_limits(TPU_V3_CORE)[None]
    assert named(KERNEL_FEATURES, kernel_features(kernels)[0])["simple_ops"] == log2(1 + image)
    maximum = named(NODE_FEATURES, node_features(kernels, nodes, limits)[2])
    assert maximum["iterations"] == log2(1 + image)
    assert (maximum["lane_fill"], maximum["sublane_fill"]) == (1, pytest.approx(30 / 32))
    tile = np.array([CONVOLUTION_TILE], np.int32)
    row = named(TILE_FEATURES, tile_features(geometry(kernels, nodes, limits), np.array([0]), tile)[0])
    assert row["padded_simple_ops"] == log2(1 + 16 * 16 * 32 * 128)  # 16 steps of 16 rows of 30 pixels


def test_pairs_follow_rows_and_their_nodes():
    kernels, nodes, limits = examples()
    shapes = geometry(kernels, nodes, limits)
    whole = node_tile_features(shapes, np.arange(kernels.number), kernels.loops)
    assert len(whole) == nodes.offset[-1]
    alone = node_tile_features(shapes, np.array([3]), kernels.loops[3:4])
    np.testing.assert_array_equal(alone, whole[nodes.offset[3] : nodes.offset[4]])


def test_analytical_features_are_logarithms_and_shares():
    parts = ("analytical_s", "analytical_steps", "analytical_transfer_s")
    row = named(analytical_feature_names(parts), analytical_features(parts, np.array([[4e-6, 7.0, 1e-6]]))[0])
    assert row["analytical_s"] == log2(1 + 4000)
    assert row["analytical_steps"] == log2(8)
    assert row["analytical_transfer_s_share"] == log2(1 / 4)


def test_scaling_comes_from_the_training_split_alone():
    train = examples_of_shards([shard("tile", seed=1)])
    scaling = fit_scaling(train, np.random.default_rng(0))
    own = scaled(train.node, scaling.node)
    varying = scaling.node[1] > 0
    np.testing.assert_allclose(own[:, varying].mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(own[:, varying].std(axis=0), 1, atol=0.05)  # outliers are held
    other = examples_of_shards([shard("tile", seed=2)])
    assert np.abs(scaled(other.node, scaling.node).mean(axis=0)).max() > 0.01


def test_constant_columns_are_dropped_and_outliers_held():
    train = examples_of_shards([shard("tile", seed=1)])
    scaling = fit_scaling(train, np.random.default_rng(0))
    clock = len(KERNEL_FEATURES) + HARDWARE_FEATURES.index("clock_hz")
    other = train.kernel.copy()
    other[:, clock] += 3
    other[0, 0] = 1e9
    values = scaled(other, scaling.kernel)
    assert not values[:, clock].any()
    assert values.max() == LIMIT


def test_other_feature_sets_are_refused_in_words():
    trained = feature_set(("analytical_s", *(f"analytical_{part}" for part in PARTS)))
    check_feature_set(trained, trained)
    with pytest.raises(FeatureSetError, match=r"analytical: missing \['analytical_compute_s'"):
        check_feature_set(trained, feature_set(("analytical_s",)))
    with pytest.raises(FeatureSetError, match=f"version: trained on 0, offered {VERSION}"):
        check_feature_set(trained.model_copy(update={"version": 0}), trained)
    with pytest.raises(FeatureSetError, match="node: another order"):
        check_feature_set(trained.model_copy(update={"node": trained.node[::-1]}), trained)


def test_a_model_from_before_the_last_tile_features_is_still_served():
    offered = feature_set(("analytical_s",))
    check_feature_set(offered.model_copy(update={"tile": offered.tile[:-3]}), offered)
    with pytest.raises(FeatureSetError, match=r"tile: missing \['steps'\]"):
        check_feature_set(offered, offered.model_copy(update={"tile": tuple(t for t in offered.tile if t != "steps")}))
    with pytest.raises(FeatureSetError, match=r"tile: missing .*'tile_batch'"):
        check_feature_set(offered.model_copy(update={"tile": offered.tile[3:]}), offered)


def test_features_and_batches_need_no_tensorflow():
    code = "import lib.gnn.batching, lib.gnn.sampling, sys; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_learned_model_never_imports_cost_models():
    code = (
        "import pkgutil, importlib, sys, lib.gnn;"
        "[importlib.import_module(m.name) for m in pkgutil.walk_packages(lib.gnn.__path__, 'lib.gnn.')];"
        "sys.exit(any(name.startswith('lib.cost') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_tiles_measured_on_a_cpu_bring_what_becomes_of_them_there():
    simulated = shard("tile")
    measured = simulated._replace(origin="measured")
    names = set(examples_of_shards([measured]).features.analytical)
    assert names - set(examples_of_shards([simulated]).features.analytical) == {*VECTOR_COLUMNS, OWN_PICK}
    found = examples_of_shards([measured])
    own = found.analytical[:, found.features.analytical.index(OWN_PICK)]
    np.testing.assert_array_equal(own, simulated.rows["is_default"].to_numpy())
