"""Import of TpuGraphs' tile files: shapes, layouts, bounds and operand order worked out by hand; refusals."""

import numpy as np
import pytest

from lib.program.kernels import INPUT, KERNEL_CLASSES, OUTPUT, WEIGHT
from lib.program.op_kinds import op_kind_table
from lib.targets.recorded import RecordedFileError, read_recorded_file, read_recorded_folder
from lib.targets.tpugraphs_columns import OPCODES
from tests.lib.targets.tpugraphs_examples import bounds, convolution_nodes, copy_file, node, write_file


def ops(recorded) -> list[str]:
    return [op_kind_table()[kind][0] for kind in recorded.kernels.op_kind]


def test_opcode_numbers_are_those_of_the_table():
    # README of google-research-datasets/tpu_graphs and hlo_opcode.h: first, last, and one in each ten between.
    numbers = {
        "abs": 1, "bitcast": 11, "broadcast": 13, "compare": 20, "convolution": 26, "copy": 27, "dot": 34, "fusion": 41,
        "get-tuple-element": 45, "multiply": 59, "parameter": 63, "reduce": 70, "rsqrt": 81, "select": 83,
        "shift-left": 87, "subtract": 95, "tuple": 100, "while": 102, "logistic": 107, "tan": 120,
    }  # fmt: skip
    assert {name: OPCODES.index(name) for name in numbers} == numbers
    assert len(set(OPCODES)) == len(OPCODES) == 121


def test_a_copy_between_layouts(tmp_path):
    # Bounds run along the layout from major to minor: h 5, w 5, batch in 8, channels in 128.
    found = read_recorded_file(copy_file(tmp_path / "copy.npz"))
    assert (found.names, found.notes) == (["copy"], [""])
    assert found.kernels.loops.tolist() == [[32, 5, 5, 256, 1, 1, 1, 1]]
    assert found.kernels.operand_order[:, :4].tolist() == [[3, 2, 1, 0], [3, 0, 2, 1]]
    assert found.schedules.tile.tolist() == [[32, 5, 5, 256, 1, 1, 1, 1], [8, 3, 2, 128, 1, 1, 1, 1]]
    assert found.runtime_s.tolist() == pytest.approx([1e-6, 2e-6])
    assert found.default_runtime_s.tolist() == pytest.approx([1.5e-6, 1.5e-6])


def test_a_convolution_finds_its_operands_by_shape(tmp_path):
    # Output bounds: batch, h, w in 8, channels in 128. Kernel bounds: h, w, in channels in 8, out channels in 128.
    nodes, edges = convolution_nodes()
    tiles = [bounds((3, 3, 8, 2), (8, 14, 2, 2)), bounds((1, 3, 4, 1), (2, 7, 1, 1))]
    found = read_recorded_file(write_file(tmp_path / "conv.npz", nodes, edges, tiles))
    kernels = found.kernels
    assert KERNEL_CLASSES[kernels.kernel_class[0]] == "convolution"
    assert ops(found) == ["convolution", "maximum"]
    assert kernels.loops.tolist() == [[8, 14, 14, 256, 64, 3, 3, 1]]
    assert kernels.operand_role.tolist() == [INPUT, WEIGHT, OUTPUT]
    assert kernels.operand_elements.tolist() == [8 * 14 * 14 * 64, 9 * 64 * 256, 8 * 14 * 14 * 256]
    assert found.schedules.tile.tolist() == [[8, 14, 14, 256, 64, 3, 3, 1], [2, 7, 8, 128, 32, 1, 3, 1]]


def test_the_gradient_of_weights_slides_a_window_as_large_as_the_image(tmp_path):
    # f01b_i01o->01bf: images are features, channels the batch; f32[32, 27, 27, 64] and f32[32, 27, 27, 192] give f32[5,
    # 5, 64, 192]. Window 27 x 27, padding 2. Kernel bounds: 9 of 27 lines, all of a line, 32 images in 8, 128 channels.
    window = {"size": (27, 27), "stride": (1, 1), "low": (2, 2), "high": (2, 2), "dilation": (1, 1), "base": (1, 1)}
    numbers = (3, 0, 1, 2, 0, 0, 0, 3, 1, 2, 0, 0, 2, 3, 1, 1)
    nodes = [
        node("parameter", shape=(32, 27, 27, 64)), node("parameter", shape=(32, 27, 27, 192), parameter=1),
        node("convolution", shape=(5, 5, 64, 192), **window, numbers=numbers, root=True),
    ]  # fmt: skip
    tiles = [bounds((9, 27, 4, 1), (5, 1, 4, 1))]
    found = read_recorded_file(write_file(tmp_path / "gradient.npz", nodes, [(2, 0), (2, 1)], tiles))
    assert found.kernels.loops.tolist() == [[64, 5, 5, 192, 32, 27, 27, 1]]
    assert found.schedules.tile.tolist() == [[32, 5, 1, 128, 32, 9, 27, 1]]


def test_the_gradient_of_a_pooling(tmp_path):
    # Maxima of 3 x 3 windows, stride 2, of f32[32, 27, 27, 128]: gradients f32[32, 13, 13, 128], the scalar first.
    window = {"size": (1, 3, 3, 1), "stride": (1, 2, 2, 1), "dilation": (1,) * 4, "base": (1,) * 4}
    nodes = [
        node("parameter", parameter=0), node("parameter", parameter=1), node("compare", "pred", root=True),
        node("parameter", parameter=0), node("parameter", parameter=1), node("add", root=True),
        node("constant"), node("parameter", shape=(32, 13, 13, 128), layout=(3, 0, 2, 1), parameter=1),
        node("parameter", shape=(32, 27, 27, 128), layout=(3, 0, 2, 1)),
        node("select-and-scatter", shape=(32, 27, 27, 128), layout=(3, 0, 2, 1), root=True, **window),
    ]  # fmt: skip
    edges = [(2, 0), (2, 1), (5, 3), (5, 4), (9, 6), (9, 7), (9, 8), (9, 2), (9, 5)]
    found = read_recorded_file(write_file(tmp_path / "pool.npz", nodes, edges, [bounds(output=(9, 27, 2, 1))]))
    assert found.kernels.loops.tolist() == [[32, 27, 27, 128, 1, 2, 2, 1]]  # ceil(3 / 2) windows hold each element
    assert found.schedules.tile.tolist() == [[16, 9, 27, 128, 1, 2, 2, 1]]


def reduction_nodes(axes=(0, 1)):
    """Sum of f32[64, 16, 256] over the first two dimensions, with the computation that it calls."""
    return [
        node("parameter", parameter=0), node("parameter", parameter=1), node("add", root=True),
        node("parameter", shape=(64, 16, 256), layout=(2, 0, 1)), node("constant"),
        node("reduce", shape=(256,), dimensions=axes, root=True),
    ], [(2, 0), (2, 1), (5, 3), (5, 4), (5, 2)]  # fmt: skip


def test_a_reduction_is_cut_by_what_it_reads(tmp_path):
    # In memory, from major: 16, then 64 in blocks of 8, then 256 in blocks of 128. Loops: kept 256, then 64 and 16.
    nodes, edges = reduction_nodes()
    found = read_recorded_file(write_file(tmp_path / "sum.npz", nodes, edges, [bounds(output=(4, 3, 1))]))
    assert KERNEL_CLASSES[found.kernels.kernel_class[0]] == "reduction"
    assert found.kernels.loops.tolist() == [[256, 64, 16, 1, 1, 1, 1, 1]]
    assert found.schedules.tile.tolist() == [[128, 24, 4, 1, 1, 1, 1, 1]]


def test_a_reduction_may_be_cut_by_its_result(tmp_path):
    # f32[64, 16, 256] summed over the first dimension: two bounds are those of the result, 16 in 8 and 256 in 128.
    nodes, edges = reduction_nodes(axes=(0,))
    nodes[-1] = node("reduce", shape=(16, 256), dimensions=(0,), root=True)
    found = read_recorded_file(write_file(tmp_path / "sum.npz", nodes, edges, [bounds(output=(1, 2))]))
    assert found.schedules.tile.tolist() == [[8, 256, 64, 1, 1, 1, 1, 1]]


def test_kernel_bounds_follow_the_weights_layout_where_only_that_fits(tmp_path):
    # Weights with input channels minor: 256 output channels in blocks of 8, 64 input channels in one of 128.
    nodes, edges = convolution_nodes()
    for place in (0, 7):
        nodes[place] = node("parameter", shape=(3, 3, 64, 256), layout=(2, 3, 1, 0), parameter=1)
    found = read_recorded_file(write_file(tmp_path / "c.npz", nodes, edges, [bounds((3, 3, 32, 1), (8, 14, 2, 2))]))
    assert found.schedules.tile.tolist() == [[8, 14, 14, 256, 64, 3, 3, 1]]


def test_of_several_results_the_largest_is_kept_and_the_others_told(tmp_path):
    nodes = [
        node("parameter", shape=(64, 256)), node("exponential", shape=(64, 256)),
        node("convert", "bf16", shape=(64, 256)), node("tuple", "tuple", root=True),
    ]  # fmt: skip
    edges = [(1, 0), (2, 1), (3, 1), (3, 2)]
    found = read_recorded_file(write_file(tmp_path / "two.npz", nodes, edges, [bounds(output=(8, 2))]))
    assert ops(found) == ["exponential"]
    assert found.notes == [f"outputs of {64 * 256 * 2} bytes beside the largest are left out"]


def test_a_relabelled_parameter_has_the_new_shape(tmp_path):
    # [256, 64] with the first dimension minor, read as [64, 256] row-major: no movement.
    nodes = [
        node("parameter", shape=(256, 64), layout=(0, 1)), node("bitcast", shape=(64, 256)),
        node("negate", shape=(64, 256), root=True),
    ]  # fmt: skip
    found = read_recorded_file(write_file(tmp_path / "cast.npz", nodes, [(1, 0), (2, 1)], [bounds(output=(8, 1))]))
    assert found.kernels.operand_order[:, :2].tolist() == [[1, 0], [1, 0]]
    assert found.schedules.tile.tolist() == [[64, 128, 1, 1, 1, 1, 1, 1]]


def test_a_folder_lists_what_it_refuses(tmp_path):
    copy_file(tmp_path / "b.npz")
    copy_file(tmp_path / "a.npz")
    (tmp_path / "c.npz").write_bytes(b"no archive")
    found = read_recorded_folder(tmp_path)
    assert found.names == ["a", "b"]
    assert found.schedules.kernel.tolist() == [0, 0, 1, 1]
    assert [str(tmp_path / "c.npz") in message for message in found.refused] == [True]
    (tmp_path / "none").mkdir()
    with pytest.raises(RecordedFileError, match="no npz file"):
        read_recorded_folder(tmp_path / "none")


@pytest.mark.parametrize(
    ("replaced", "reason"),
    [
        ({"config_runtime": None}, "config_runtime are missing"),
        ({"node_feat": np.zeros((2, 139), dtype=np.float32)}, "expected f.'n', 140"),
        ({"node_feat": np.full((2, 140), np.nan, dtype=np.float32)}, "not finite"),
        ({"node_opcode": np.array([63, 121], dtype=np.uint8)}, "node_opcode 121"),
        ({"edge_index": np.array([[1, 2]])}, "names node 2 of 2"),
        ({"config_runtime": np.array([5, 0])}, "config_runtime has the value 0"),
        ({"config_feat": np.zeros((0, 24), dtype=np.float32), "config_runtime": np.zeros(0, dtype=np.int64),
          "config_runtime_normalizers": np.zeros(0, dtype=np.int64)}, "0 configurations"),
        ({"node_opcode": np.array([{"a": 1}, 2], dtype=object)}, "pickle"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused_with_their_path(tmp_path, replaced, reason):
    path = copy_file(tmp_path / "bad.npz", **replaced)
    with pytest.raises(RecordedFileError, match=reason) as caught:
        read_recorded_file(path)
    assert str(caught.value).startswith(str(path))


def test_a_truncated_file_and_a_pickle_are_refused(tmp_path):
    whole = copy_file(tmp_path / "whole.npz").read_bytes()
    for name, content in (("cut.npz", whole[: len(whole) // 2]), ("pickle.npz", b"\x80\x04K\x01.")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RecordedFileError, match=name):
            read_recorded_file(tmp_path / name)


def refused(tmp_path, nodes, edges, configurations) -> str:
    with pytest.raises(RecordedFileError) as caught:
        read_recorded_file(write_file(tmp_path / "no.npz", nodes, edges, configurations))
    return str(caught.value)


def test_what_no_kernel_represents_is_refused_in_words(tmp_path):
    array = {"shape": (64, 256)}
    one = [node("parameter", **array)]
    plain = [bounds(output=(8, 2))]
    assert "complex" in refused(tmp_path, [*one, node("complex", root=True, **array)], [(1, 0)], plain)
    assert "c64" in refused(
        tmp_path, [node("parameter", "c64", **array), node("negate", root=True, **array)], [(1, 0)], plain
    )
    assert "layout [0, 0]" in refused(
        tmp_path, [*one, node("negate", layout=(0, 0), root=True, **array)], [(1, 0)], plain
    )
    dots = [*one, node("dot", root=True, **array)]
    assert "the dimensions that a dot works along" in refused(tmp_path, dots, [(1, 0)], plain)
    negated = [*one, node("negate", root=True, **array)]
    assert "input bounds" in refused(tmp_path, negated, [(1, 0)], [bounds(output=(8, 2), given=(1, 1))])
    assert "configuration 1: output bounds [8, 2, 1" in refused(
        tmp_path, negated, [(1, 0)], [*plain, bounds(output=(8, 2, 1))]
    )
    assert "do not fit dimensions [64, 256]" in refused(tmp_path, negated, [(1, 0)], [bounds(output=(9, 2))])
    assert "kernel bounds" in refused(tmp_path, negated, [(1, 0)], [bounds((1, 1), (8, 2))])
    vector = [node("parameter", shape=(256,)), node("negate", shape=(256,), root=True)]
    assert "fewer than two" in refused(tmp_path, vector, [(1, 0)], [bounds(output=(2,))])
    nodes, edges = convolution_nodes(numbers=(1, 3, 0, 2, 0, 0, 2, 3, 0, 1, 0, 0, 0, 3, 1, 1))
    assert "neither order of its operands" in refused(tmp_path, nodes, edges, [bounds(output=(8, 14, 2, 2))])
    assert "nothing is computed" in refused(tmp_path, [node("parameter", root=True, **array)], [], plain)
