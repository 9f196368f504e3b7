"""What a CPU's compiler makes of a tile."""

from math import prod

import numpy as np
import pytest

from lib.schedule.schedules import schedules_for_tiles
from lib.schedule.vector_tiles import (
    OWN_PICK,
    PARTS,
    VECTOR_COLUMNS,
    vector_columns,
    vector_lanes,
    vector_tile_parts,
    vector_tiles,
)
from lib.targets.iree_module import loop_tiles, vector_tile
from lib.targets.iree_tiles import tile_candidates
from lib.targets.loop_merging import merged
from lib.targets.matrix_op import matrix_op
from lib.targets.measured_tiles import tiled_kernels
from tests.lib.targets import matrix_ops

OPS = {
    "dot": matrix_ops.dot(),
    "batched dot": matrix_ops.attention(),
    "convolution": matrix_ops.convolution(),
    "strided convolution": matrix_ops.convolution(stride=2),
    "convolution with channels first": matrix_ops.convolution(numbers="NCHW"),
    "pointwise convolution": matrix_ops.pointwise(),
    "depthwise convolution": matrix_ops.depthwise(),
    "transposed convolution": matrix_ops.transposed(),
    "gradient of weights": matrix_ops.weight_gradient(),
}


@pytest.mark.parametrize(
    ("lanes", "rows", "expected"),
    [(64, 8, 32), (512, 2, 128), (512, 1, 256), (144, 4, 16), (96, 4, 32), (48, 1, 16), (40, 8, 10), (24, 8, 12)],
)  # fmt: skip
def test_lanes_are_a_power_of_two_of_registers_or_a_divisor_of_less_than_one(lanes, rows, expected):
    assert vector_lanes(lanes, rows) == expected


@pytest.mark.parametrize("name", OPS)
def test_vector_tiles_are_those_that_the_compiler_is_told(name):
    program, index = OPS[name]
    kernels = tiled_kernels(program).kernels
    tiles = tile_candidates(program, index, 20, seed=0)
    found = vector_tiles(kernels, schedules_for_tiles(np.zeros(len(tiles)), tiles))
    op = merged(matrix_op(program, index))
    told = [vector_tile(op, loop_tiles(op, tile)) for tile in tiles]
    assert (found.rows * found.lanes).tolist() == [prod(max(size, 1) for size in sizes) for sizes in told]
    minor = next(one.loop for one in reversed(op.output) if op.loops[one.loop].extent > 1)
    assert found.lanes.tolist() == [sizes[minor] for sizes in told]


def test_parts_of_a_dot():
    # 32 x 64 = 32 x 48 times 48 x 64 in blocks of 16 x 64, vector tiles of 8 rows and 32 lanes, 12 steps unrolled.
    program, _ = matrix_ops.dot(32, 64, 48)
    rows = schedules_for_tiles(np.zeros(1), np.array([[16, 1, 1, 64, 12, 1, 1, 1]], np.int32))
    parts = dict(zip(PARTS, vector_tile_parts(tiled_kernels(program).kernels, rows)[0].tolist(), strict=True))
    assert parts == {
        "vector_rows": 8, "vector_lanes": 32, "vector_registers": 16, "vector_unrolled": 12, "vector_points": 3072,
        "vector_tiles": 8, "vector_input_bytes": 4 * 8 * 48, "vector_weight_bytes": 4 * 48 * 32,
        "vector_loaded_bytes": 8 * 4 * 48 * (8 + 32), "block_rows": 16, "block_input_bytes": 4 * 16 * 48,
        "block_weight_bytes": 4 * 48 * 64, "block_output_bytes": 4 * 16 * 64,
        "block_bytes": 4 * (16 * 48 + 48 * 64 + 16 * 64), "block_vector_tiles": 4, "blocks": 2,
        "blocks_loaded_bytes": 8 * (16 * 48 + 48 * 64 + 16 * 64), "contraction_steps": 4, "input_lane_step": 0,
        "input_row_step": 48, "input_contraction_step": 1, "weight_lane_step": 1, "weight_contraction_step": 64,
    }  # fmt: skip


def test_columns_are_the_parts_and_where_the_compiler_picks_by_itself():
    program, index = matrix_ops.convolution()
    kernels, tiles = tiled_kernels(program).kernels, tile_candidates(program, index, 5, seed=0)
    rows = schedules_for_tiles(np.zeros(len(tiles)), tiles)
    own = np.arange(len(tiles)) == 2
    columns = vector_columns(kernels, rows, own)
    assert tuple(columns) == (*VECTOR_COLUMNS, OWN_PICK)
    parts = np.stack([columns[name] for name in VECTOR_COLUMNS], axis=1)
    np.testing.assert_array_equal(parts, vector_tile_parts(kernels, rows))
    assert columns[OWN_PICK].tolist() == own.tolist()
    assert not vector_columns(kernels, rows)[OWN_PICK].any()
