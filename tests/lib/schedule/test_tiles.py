"""The tile space against brute force; samples that do not depend on the company; the default schedule."""

from itertools import product

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.program.kernels import take
from lib.schedule.default import default_schedule, default_tiles
from lib.schedule.footprint import padded_tile_bytes
from lib.schedule.schedules import WEIGHT_STATIONARY
from lib.schedule.tiles import tile_candidates, tile_counts, tile_space
from tests.datapath_examples import tpu_v3
from tests.kernel_examples import example_kernels

EVERYTHING = 10**6


def fitting_tiles(kernels, k, capacity) -> list[tuple[int, ...]]:
    found = tile_candidates(kernels, tpu_v3())
    loops = [found.extent[found.offset[8 * k + j] : found.offset[8 * k + j + 1]].tolist() for j in range(8)]
    tiles = []
    for tile in product(*loops):
        needed = sum(
            padded_tile_bytes(
                kernels.operand_stride[o], kernels.operand_order[o], kernels.loops[k], kernels.loop_kind[k],
                kernels.base_dilation[k], np.array(tile), kernels.operand_element_bytes[o], 8, 128,
            )
            for o in range(kernels.operand_offset[k], kernels.operand_offset[k + 1])
        )  # fmt: skip
        if 2 * needed <= capacity:
            tiles.append(tile)
    return tiles


@pytest.mark.parametrize("capacity", [16 * 2**20, 2**20])
def test_tile_space_is_what_fits_by_brute_force(capacity):
    kernels, datapath = example_kernels(), tpu_v3(global_buffer_bytes=capacity)
    space = tile_space(kernels, datapath, EVERYTHING, seed=1)
    counts = tile_counts(kernels, datapath)
    for k in range(kernels.number):
        expected = fitting_tiles(kernels, k, capacity)
        assert [tuple(t) for t in space.tile[space.kernel == k].tolist()] == expected
        assert counts[k] == len(expected)


def test_default_is_the_first_cheapest_tile_of_the_whole_space():
    kernels, datapath = example_kernels(), tpu_v3(global_buffer_bytes=2**20)
    space = tile_space(kernels, datapath, EVERYTHING, seed=1)
    value = Analytical().cost(kernels, space, datapath).value
    default = default_schedule(kernels, datapath)
    _, seconds, fits = default_tiles(kernels, datapath)
    assert fits.all()
    assert (default.dataflow == WEIGHT_STATIONARY).all()
    for k in range(kernels.number):
        rows = np.flatnonzero(space.kernel == k)
        best = rows[np.argmin(value[rows])]
        assert default.tile[k].tolist() == space.tile[best].tolist()
        assert seconds[k] == value[best]


def test_a_sample_is_in_order_without_repeats_and_holds_the_default():
    kernels, datapath = example_kernels(), tpu_v3()
    space = tile_space(kernels, datapath, 20, seed=1)
    whole = tile_space(kernels, datapath, EVERYTHING, seed=1)
    default = default_schedule(kernels, datapath).tile
    assert (np.diff(space.kernel) >= 0).all()
    for k in range(kernels.number):
        tiles = [tuple(t) for t in space.tile[space.kernel == k].tolist()]
        order = [tuple(t) for t in whole.tile[whole.kernel == k].tolist()]
        assert len(tiles) == min(20, len(order))
        assert tuple(default[k].tolist()) in tiles
        positions = [order.index(t) for t in tiles]
        assert positions == sorted(set(positions))


def test_a_kernel_has_the_same_sample_in_any_company():
    kernels, datapath = example_kernels(), tpu_v3()
    together = tile_space(kernels, datapath, 20, seed=1)
    apart = tile_space(take(kernels, np.array([3, 0])), datapath, 20, seed=1)
    assert apart.tile[apart.kernel == 0].tolist() == together.tile[together.kernel == 3].tolist()
    assert apart.tile[apart.kernel == 1].tolist() == together.tile[together.kernel == 0].tolist()


def test_another_seed_gives_another_sample():
    kernels, datapath = example_kernels(), tpu_v3()
    assert tile_space(kernels, datapath, 20, 1).tile.tolist() != tile_space(kernels, datapath, 20, 2).tile.tolist()


def test_a_limit_of_one_leaves_the_default_tile():
    kernels, datapath = example_kernels(), tpu_v3()
    assert tile_space(kernels, datapath, 1, 7).tile.tolist() == default_schedule(kernels, datapath).tile.tolist()
    with pytest.raises(ValueError, match="at least 1"):
        tile_space(kernels, datapath, 0, 7)


def test_kernels_without_a_fitting_tile_are_counted_named_and_skipped():
    kernels, datapath = example_kernels(), tpu_v3(global_buffer_bytes=64 * 1024)
    tile, seconds, fits = default_tiles(kernels, datapath)
    assert (tile_counts(kernels, datapath) == 0).tolist() == (~fits).tolist()
    assert np.isnan(seconds[~fits]).all()
    assert not np.isnan(seconds[fits]).any()
    assert not fits[0]
    # One pixel row, one tap, all 128 of both channels (the register tile): see the next test for the bytes.
    assert tile[0].tolist() == [1, 1, 16, 128, 128, 1, 1, 1]
    assert set(tile_space(kernels, datapath, 5, 1).kernel.tolist()) == set(np.flatnonzero(fits).tolist())


def test_the_error_tells_bytes_needed_and_allowed():
    kernels, datapath = example_kernels(), tpu_v3(global_buffer_bytes=64 * 1024)
    # input 16 x 128, weights 128 x 128, bias 128 and output 16 x 128, two bytes each
    needed = 2 * (16 * 128 + 128 * 128 + 128 + 16 * 128)
    with pytest.raises(ValueError, match=f"convolution, {kernels.fingerprint[0]}.*takes {needed} bytes.*32768"):
        default_schedule(kernels, datapath)
