"""Which tiles of a matrix op are tried with IREE: whole spaces counted by hand, samples, canonical order."""

import numpy as np
import pytest

from lib.targets.iree_module import loop_tiles, tile_module
from lib.targets.iree_tiles import divisors, tile_candidates, tunable
from lib.targets.loop_merging import merged
from lib.targets.matrix_op import matrix_op
from tests.lib.targets import matrix_ops


def test_divisors():
    assert divisors(12) == [12, 6, 4, 3, 2, 1]
    assert divisors(96, multiple=16) == [96, 48, 32, 16]


def test_the_whole_space_of_a_dot():
    # Rows 4: 4 2 1. Columns 32: 32 16, whole registers. Contracted 12: 12 6 4 3 2 1. All vector tiles are small.
    program, index = matrix_ops.dot(4, 32, 12)
    tiles = tile_candidates(program, index, 100, seed=0)
    assert tiles.shape == (3 * 2 * 6, 8)
    assert tiles.dtype == np.int32
    assert tiles[0].tolist() == [4, 1, 1, 32, 12, 1, 1, 1]
    assert tiles[-1].tolist() == [1, 1, 1, 16, 1, 1, 1, 1]
    assert tiles.tolist() == sorted(tiles.tolist(), reverse=True)


def test_tiles_of_a_single_result_cut_the_contraction():
    program, index = matrix_ops.dot(rows=1, columns=1, contracted=64)
    assert tile_candidates(program, index, 100, seed=0)[:, 4].tolist() == [64, 32, 16, 8, 4, 2, 1]


def test_tiles_of_merged_loops_are_runs():
    # 2 images of 6 x 8 pixels: 8 4 2 1 pixels, 6 3 2 lines, both images; columns 32 16; contracted 16 8 4 2 1.
    program, index = matrix_ops.pointwise()
    tiles = tile_candidates(program, index, 1000, seed=0)
    assert len(tiles) == (4 + 3 + 1) * 2 * 5
    assert {tuple(tile[:3]) for tile in tiles.tolist()} == {
        (1, 1, 8), (1, 1, 4), (1, 1, 2), (1, 1, 1), (1, 6, 8), (1, 3, 8), (1, 2, 8), (2, 6, 8),
    }  # fmt: skip


def test_tiles_of_a_convolution_take_a_line_of_the_window():
    program, index = matrix_ops.convolution()
    tiles = tile_candidates(program, index, 10**6, seed=0)
    assert set(tiles[:, 5].tolist()) == {1}
    assert set(tiles[:, 6].tolist()) == {3, 1}
    # Images 2 1, lines and pixels 8 4 2 1, channels 32 16, taps of a line 3 1, contracted 16 8 4 2 1. With 8 rows, 32
    # lanes, 3 taps and 16 steps a vector tile has 12,288 points of the 8,191 that are taken, whatever images and lines.
    assert len(tiles) == 2 * 4 * 4 * 2 * 2 * 5 - 2 * 4


@pytest.mark.parametrize("op", [matrix_ops.attention(), matrix_ops.grouped(), matrix_ops.transposed()])
def test_every_candidate_is_a_legal_tile(op):
    nest = merged(matrix_op(*op))
    for tile in tile_candidates(*op, 50, seed=1):
        assert len(loop_tiles(nest, tile)) == len(nest.loops)
        assert "compilation_info" in tile_module(*op, tile).text


def test_samples_depend_on_seed_and_op_alone():
    program, index = matrix_ops.convolution()
    first = tile_candidates(program, index, 30, seed=7)
    assert first.shape == (30, 8)
    assert np.array_equal(first, tile_candidates(program.replace(name="other"), index, 30, seed=7))
    assert not np.array_equal(first, tile_candidates(program, index, 30, seed=8))
    assert len(np.unique(first, axis=0)) == 30


def test_spaces_too_large_to_count_are_sampled(monkeypatch):
    monkeypatch.setattr("lib.targets.iree_tiles.MOST_COUNTED", 10)
    program, index = matrix_ops.convolution()
    tiles = tile_candidates(program, index, 30, seed=7)
    assert len(np.unique(tiles, axis=0)) == 30


def test_an_op_without_a_choice_is_not_tunable():
    assert tunable(*matrix_ops.dot())
    assert not tunable(*matrix_ops.depthwise_weight_gradient())
    assert not tunable(*matrix_ops.dot(rows=1, columns=1, contracted=1))
    program, index = matrix_ops.dot()
    assert not tunable(program, index - 1)


def test_a_limit_below_one_is_refused():
    with pytest.raises(ValueError, match="limit: 0 tiles"):
        tile_candidates(*matrix_ops.dot(), 0, seed=0)
