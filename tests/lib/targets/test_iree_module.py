"""Tiles of matrix ops as IREE takes them: sizes worked out by hand, refusals, equal text for equal ops."""

import pytest

from lib.targets.iree_module import IllegalTile, loop_tiles, tile_module
from lib.targets.iree_tiles import tunable
from lib.targets.loop_merging import merged
from lib.targets.matrix_op import matrix_op
from tests.lib.targets import matrix_ops


def sizes(op, tile) -> tuple[str, str]:
    """Lowering configuration and pipeline."""
    text = tile_module(*op, tile).text
    return text.split("lowering_config<")[1].split(">")[0], text.split("pipeline<")[1].split(">")[0]


def test_without_a_tile_the_compiler_chooses():
    module = tile_module(*matrix_ops.dot(), None)
    assert module.runtime == "iree"
    assert "attrs = {} {" in module.text
    assert "tensor<16x64xf32>, %right: tensor<64x32xf32>) -> tensor<16x32xf32>" in module.text


def test_a_tile_of_a_dot():
    # Rows: 8 of 16. Lanes: 16 registers hold 8 rows x 32 lanes.
    assert sizes(matrix_ops.dot(64, 128, 256), (16, 1, 1, 64, 16, 1, 1, 1)) == (
        "distribution = [16, 64, 0], vector_common_parallel = [8, 32, 0], vector_reduction = [0, 0, 16]",
        "DoubleTilingExpert",
    )


def test_few_rows_leave_registers_for_lanes():
    # 2 rows leave 8 registers a row, 128 lanes; 96 lanes of 4 rows would be 24 registers of 16.
    assert "vector_common_parallel = [2, 128, 0]" in sizes(matrix_ops.dot(2, 512), (2, 1, 1, 512, 1, 1, 1, 1))[0]
    assert "vector_common_parallel = [4, 32, 0]" in sizes(matrix_ops.dot(4, 96), (4, 1, 1, 96, 1, 1, 1, 1))[0]


def test_lanes_are_a_power_of_two_of_registers():
    # 144 = 9 * 16: 3 registers divide it, but no two.
    assert "vector_common_parallel = [4, 16, 0]" in sizes(matrix_ops.dot(4, 144), (4, 1, 1, 144, 1, 1, 1, 1))[0]


def test_lanes_that_no_register_divides():
    # Divisors up to a register: of 40 1 2 4 5 8 10, of 24 1 2 3 4 6 8 12.
    assert "vector_common_parallel = [8, 10, 0]" in sizes(matrix_ops.dot(8, 40), (8, 1, 1, 40, 1, 1, 1, 1))[0]
    assert "vector_common_parallel = [8, 12, 0]" in sizes(matrix_ops.dot(8, 24), (8, 1, 1, 24, 1, 1, 1, 1))[0]


def test_a_tile_of_a_convolution():
    # Of 4 pixels of out_w all are rows, so 4 registers of lanes, of which the tile has two.
    assert sizes(matrix_ops.convolution(), (1, 2, 4, 32, 8, 1, 3, 1)) == (
        "distribution = [1, 2, 4, 32, 0, 0, 0], vector_common_parallel = [1, 1, 4, 32, 0, 0, 0],"
        " vector_reduction = [0, 0, 0, 0, 1, 3, 8]",
        "ConvTileAndDecomposeExpert",
    )


def test_a_tile_of_a_depthwise_convolution():
    assert sizes(matrix_ops.depthwise(), (2, 4, 8, 1, 1, 1, 3, 16)) == (
        "distribution = [2, 4, 8, 16, 0, 0], vector_common_parallel = [1, 1, 8, 16, 0, 0],"
        " vector_reduction = [0, 0, 0, 0, 1, 3]",
        "ConvTileAndDecomposeExpert",
    )


def test_convolutions_with_other_layouts_have_the_general_pipeline():
    for op in (matrix_ops.convolution(numbers="NCHW"), matrix_ops.convolution(numbers="HWC_OUT")):
        assert sizes(op, (1, 8, 8, 16, 4, 1, 1, 1))[1] == "DoubleTilingExpert"


def test_merged_loops_take_runs():
    # Batch 2 x height 6 x width 8 in one loop: 4 pixels; 3 lines; 2 images.
    op = merged(matrix_op(*matrix_ops.pointwise()))
    assert loop_tiles(op, (1, 1, 4, 32, 16, 1, 1, 1)) == (4, 32, 16)
    assert loop_tiles(op, (1, 3, 8, 32, 16, 1, 1, 1)) == (24, 32, 16)
    assert loop_tiles(op, (2, 6, 8, 32, 16, 1, 1, 1)) == (96, 32, 16)
    with pytest.raises(IllegalTile, match=r"batch x out_h x out_w as one loop.*whole of out_w \(8\)"):
        loop_tiles(op, (1, 3, 4, 32, 16, 1, 1, 1))


def test_a_canonical_loop_of_two_dimensions_is_cut_from_the_major_one():
    # Group: 2 sequences x 4 heads.
    op = merged(matrix_op(*matrix_ops.attention()))
    assert loop_tiles(op, (8, 1, 1, 8, 16, 1, 1, 2)) == (1, 2, 8, 8, 16)
    assert loop_tiles(op, (8, 1, 1, 8, 16, 1, 1, 8)) == (2, 4, 8, 8, 16)
    with pytest.raises(IllegalTile, match=r"a tile of 6 along group.*at most the minor one's 4, or a multiple"):
        loop_tiles(op, (8, 1, 1, 8, 16, 1, 1, 6))


@pytest.mark.parametrize("extent", [0, 17])
def test_tiles_beyond_their_loop_are_refused(extent):
    with pytest.raises(IllegalTile, match=rf"'dot.2'.*a tile of {extent} along batch; 1 to 16 are possible"):
        tile_module(*matrix_ops.dot(), (extent, 1, 1, 32, 8, 1, 1, 1))


def test_vector_tiles_that_the_compiler_refuses_are_refused():
    # 8 rows x 32 lanes x 32 steps of four bytes are 32 KiB; IREE 3.13 says 'operations with large vector sizes (32768
    # bytes)' there, and takes 31 steps.
    op = matrix_ops.dot(8, 32, 62)
    assert "vector_reduction = [0, 0, 31]" in sizes(op, (8, 1, 1, 32, 31, 1, 1, 1))[0]
    with pytest.raises(IllegalTile, match="a vector tile of 15872 points takes 63488 bytes"):
        tile_module(*op, (8, 1, 1, 32, 62, 1, 1, 1))


def test_more_than_a_line_of_a_window_is_refused():
    with pytest.raises(IllegalTile, match="a tile of 3 along kernel_h"):
        tile_module(*matrix_ops.convolution(), (1, 2, 4, 32, 8, 3, 1, 1))


def test_an_op_whose_tile_the_compiler_loses_takes_none():
    op = matrix_ops.depthwise_weight_gradient()
    assert "compilation_info" not in tile_module(*op, None).text
    with pytest.raises(IllegalTile, match="gradient of depthwise weights"):
        tile_module(*op, (1, 3, 3, 1, 1, 1, 1, 32))


def test_a_window_beside_a_loop_of_one_step_takes_no_tile():
    # Seen with IREE 3.13 for a batch, a line, an input channel or a side of the window of one.
    s = matrix_ops.FloatSketch()
    made = s.convolution(s.input(1, 8, 8, 16), s.weight(3, 3, 16, 32), (1, 8, 8, 32), pad=(1, 1))
    with pytest.raises(IllegalTile, match=r"a loop of one step \(batch\).*batch of 2 or more"):
        tile_module(*s.only(made), (1, 4, 8, 32, 8, 1, 1, 1))
    assert not tunable(*s.only(made))


def test_equal_ops_have_equal_text_whatever_their_names():
    program, index = matrix_ops.convolution()
    renamed = [one.replace(name=f"other.{place}") for place, one in enumerate(program.instructions)]
    other = program.replace(name="other", instructions=tuple(renamed))
    tile = (1, 2, 4, 32, 8, 1, 3, 1)
    assert tile_module(other, index, tile) == tile_module(program, index, tile)
    assert tile_module(program, index, (2, 2, 4, 32, 8, 1, 3, 1)) != tile_module(program, index, tile)
