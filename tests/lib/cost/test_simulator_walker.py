"""The closed form equals the walk through every tile step."""

import numpy as np
import pytest

from lib.cost.simulator import Simulator
from tests.lib.cost.random_kernels import EDGE, ROOMY, TPU_V3, random_kernels, random_rows
from tests.reference.walker import Walker


def assert_equal_to_walk(rows, most_steps, datapath, seed):
    generator = np.random.default_rng(seed)
    kernels = random_kernels(generator, rows)
    schedules = random_rows(generator, kernels, most_steps)
    costs = Simulator().cost(kernels, schedules, datapath)
    walker = Walker(kernels, datapath)
    assert not costs.reason.any()
    for row in range(rows):
        seconds, moved = walker.walk(
            row, schedules.tile[row], int(schedules.dataflow[row]), int(schedules.loop_order[row])
        )
        context = (kernels.loops[row], schedules.tile[row], schedules.loop_order[row])
        assert costs.value[row] == pytest.approx(seconds, rel=1e-12), context
        assert costs.dram_bytes[row] == pytest.approx(moved, rel=1e-12), context


def test_closed_form_equals_walk():
    assert_equal_to_walk(300, 300, ROOMY, seed=1)


def test_closed_form_equals_walk_on_small_arrays():
    assert_equal_to_walk(60, 200, EDGE._replace(global_buffer_bytes=1 << 40), seed=2)


@pytest.mark.slow
def test_closed_form_equals_walk_on_ten_thousand_rows():
    assert_equal_to_walk(10_000, 600, ROOMY, seed=3)


def test_a_tile_that_does_not_fit_has_no_cost():
    kernels = random_kernels(np.random.default_rng(4), 9)
    schedules = random_rows(np.random.default_rng(4), kernels, 1)
    costs = Simulator().cost(kernels, schedules, TPU_V3._replace(global_buffer_bytes=1024), parts=True)
    assert (np.isnan(costs.value) == (costs.reason == 1)).all()
    assert (costs.reason == 1).all()
    none = Simulator().cost(
        kernels, schedules, TPU_V3._replace(global_buffer_bytes=0, l1_input_bytes=0, l1_weight_bytes=0, l1_output_bytes=0)
    )
    assert (none.reason == 2 + 1).all()
