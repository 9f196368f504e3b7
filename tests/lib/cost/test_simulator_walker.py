"""The closed form equals the walk through every tile step."""

import numpy as np
import pytest

from lib.cost.simulator import Simulator
from lib.cost.tile_step import has_matrix_op
from lib.schedule.schedules import SPLIT_AXES
from tests.lib.cost.random_kernels import EDGE, ROOMY, random_kernels, random_rows
from tests.reference.walker import Walker


def random_padding(generator, schedules, kernels):
    """Half of the loops padded, up to the last tile's end or not quite as far."""
    loops, tile = kernels.loops, schedules.tile
    room = -(-loops // tile) * tile - loops
    padded = loops + (room * generator.random(room.shape)).round().astype(np.int32)
    return np.where(generator.random(room.shape) < 0.5, padded, 0).astype(np.int32)


def random_splits(generator, kernels):
    """What the grid's axes split of half of the matrix ops."""
    chosen = generator.integers(0, 1 + len(SPLIT_AXES), (kernels.number, 2))
    chosen[(generator.random(kernels.number) < 0.5) | ~has_matrix_op(kernels)] = 0
    return np.hstack([chosen, np.zeros_like(chosen)]).astype(np.int16)


def assert_equal_to_walk(rows, most_steps, datapath, seed):
    generator = np.random.default_rng(seed)
    kernels = random_kernels(generator, rows)
    schedules = random_rows(generator, kernels, most_steps)
    resident = generator.integers(0, 8, rows) * generator.integers(0, 2, rows)
    schedules = schedules._replace(
        resident=resident.astype(np.uint8),
        padded=random_padding(generator, schedules, kernels),
        spatial=random_splits(generator, kernels),
    )
    costs = Simulator().cost(kernels, schedules, datapath)
    walker = Walker(kernels, datapath)
    assert not costs.reason.any()
    for row in range(rows):
        seconds, moved = walker.walk(schedules, row)
        context = (kernels.loops[row], schedules.tile[row], schedules.loop_order[row], schedules.resident[row])
        assert costs.value[row] == pytest.approx(seconds, rel=1e-12), context
        assert costs.dram_bytes[row] == pytest.approx(moved, rel=1e-12), context


def test_closed_form_equals_walk():
    assert_equal_to_walk(300, 300, ROOMY, seed=1)


def test_closed_form_equals_walk_on_small_arrays():
    assert_equal_to_walk(60, 200, EDGE._replace(global_buffer_bytes=1 << 40), seed=2)


@pytest.mark.slow
def test_closed_form_equals_walk_on_ten_thousand_rows():
    assert_equal_to_walk(10_000, 600, ROOMY, seed=3)
