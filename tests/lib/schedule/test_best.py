"""The best schedule is the best of its candidate set, within the budget, and never worse than the default one."""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lib.cost.simulator import Simulator
from lib.program.kernel_builder import KernelsBuilder
from lib.program.kernels import Kernels
from lib.schedule.best import best_of, best_schedules
from lib.schedule.default import default_tiles
from lib.schedule.node_table import operand_table, tile_bytes
from lib.schedule.schedules import Schedules, schedules_for_tiles
from lib.schedule.tiles import tile_counts, tile_space
from tests.kernel_examples import convolution_relu, dot, elementwise, example_kernels
from tests.lib.cost.random_designs import random_datapath, random_kernels_of_all_kinds
from tests.lib.cost.random_kernels import TPU_V3

SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def every_row(tiles: Schedules, resident=None) -> Schedules:
    """The tiles under every dataflow and loop order."""
    rows = Schedules(*(np.repeat(field, 9, axis=0) for field in tiles))
    combination = np.tile(np.arange(9), len(tiles.kernel))
    rows = rows._replace(
        dataflow=(combination // 3).astype(np.uint8), loop_order=(combination % 3).astype(np.uint8)
    )  # fmt: skip
    return rows if resident is None else rows._replace(resident=resident[rows.kernel])


def least(kernels: Kernels, rows: Schedules, datapath) -> np.ndarray:
    """float64[k] by pricing all rows; NaN where none has a cost."""
    costs = Simulator().cost(kernels, rows, datapath)
    seconds = np.full(kernels.number, np.nan)
    np.fmin.at(seconds, rows.kernel, costs.value)
    return seconds


def moving_bytes(kernels: Kernels, tiles: np.ndarray, datapath) -> np.ndarray:
    operands = operand_table(kernels, datapath.register_sublanes, datapath.register_lanes)
    return np.array(
        [2 * sum(tile_bytes(operands, k, np.append(tiles[k], 1).astype(np.int64))) for k in range(kernels.number)]
    )


@FEW
@given(seed=SEEDS)
@example(seed=1851)  # steps that complete the output take longer than their loads, the others do not
def test_the_best_of_all_rows(seed):
    """The lower bound leaves no better row out, whatever the kernel and the design."""
    generator = np.random.default_rng(seed)
    kernels, datapath = random_kernels_of_all_kinds(generator), random_datapath(generator)
    tiles = tile_space(kernels, datapath, 12, seed)
    resident = None
    if datapath.global_buffer_bytes > 0 and generator.random() < 0.5:
        resident = generator.integers(0, 8, kernels.number).astype(np.uint8)
    best = best_of(kernels, tiles, datapath, resident=resident)
    expected = least(kernels, every_row(tiles, resident), datapath)
    np.testing.assert_allclose(best.seconds, expected, rtol=1e-8)
    found = ~np.isnan(best.seconds)
    rows = Schedules(*(field[found] for field in best.schedules))
    assert Simulator().cost(kernels, rows, datapath).value.tolist() == best.seconds[found].tolist()


@FEW
@given(seed=SEEDS)
def test_never_worse_than_the_default(seed):
    generator = np.random.default_rng(seed)
    kernels, datapath = random_kernels_of_all_kinds(generator), random_datapath(generator)
    tile, _, fits = default_tiles(kernels, datapath)
    default = Simulator().cost(kernels, schedules_for_tiles(np.arange(kernels.number), tile), datapath).value
    sample = best_schedules(kernels, datapath, limit=4, seed=seed)
    whole = best_schedules(kernels, datapath)
    assert (np.isnan(sample.seconds) == ~fits).all()
    assert (sample.seconds[fits] <= default[fits]).all()
    assert (whole.seconds[fits] <= sample.seconds[fits] * (1 + 1e-8)).all()


def test_the_whole_space_is_the_best_of_all_its_tiles():
    kernels = example_kernels()
    tiles = tile_space(kernels, TPU_V3, 1 << 30, 0)
    whole = best_schedules(kernels, TPU_V3)
    np.testing.assert_allclose(whole.seconds, least(kernels, every_row(tiles), TPU_V3), rtol=1e-8)
    assert whole.seconds.tolist() == best_of(kernels, tiles, TPU_V3).seconds.tolist()
    assert (whole.priced <= whole.considered).all()
    assert whole.priced.sum() < whole.considered.sum() / 10
    # Kernels without loops that have names have one order; those without a matrix op one dataflow.
    counts = tile_counts(kernels, TPU_V3)
    assert whole.considered[3:5].tolist() == counts[3:5].tolist()


def test_tiles_of_rows_in_any_order_and_kernels_without_any():
    kernels = example_kernels()
    tiles = tile_space(kernels, TPU_V3, 8, 0)
    backwards = Schedules(*(field[::-1] for field in tiles))
    assert best_of(kernels, backwards, TPU_V3).seconds.tolist() == best_of(kernels, tiles, TPU_V3).seconds.tolist()
    few = Schedules(*(field[tiles.kernel != 2] for field in tiles))
    assert np.isnan(best_of(kernels, few, TPU_V3).seconds).tolist() == [k == 2 for k in range(6)]


def test_tiles_keep_to_the_budget():
    kernels = example_kernels()
    free = best_schedules(kernels, TPU_V3)
    budget = int(np.median(moving_bytes(kernels, free.schedules.tile, TPU_V3)))
    tight = best_schedules(kernels, TPU_V3, budget_bytes=budget)
    used = moving_bytes(kernels, tight.schedules.tile, TPU_V3)
    assert (used <= budget).all()
    assert (tight.seconds >= free.seconds).all()
    assert (tight.seconds > free.seconds).any()
    # Where no tile is small enough, the smallest ones are left.
    smallest = best_schedules(kernels, TPU_V3, budget_bytes=1)
    rows = tile_space(kernels, TPU_V3, 1 << 30, 0)
    repeated = moving_bytes(kernels, smallest.schedules.tile, TPU_V3)
    operands = operand_table(kernels, TPU_V3.register_sublanes, TPU_V3.register_lanes)
    for k in range(kernels.number):
        sizes = [
            2 * sum(tile_bytes(operands, k, np.append(t, 1).astype(np.int64))) for t in rows.tile[rows.kernel == k]
        ]
        assert repeated[k] == min(sizes)


def test_resident_operands_change_the_choice():
    builder = KernelsBuilder()
    builder.add(elementwise(batch=64))
    kernels = builder.build()
    everything = best_schedules(kernels, TPU_V3._replace(global_buffer_bytes=1 << 30), resident=np.array([5]))
    # Nothing moves: one step, which pays control once.
    assert everything.schedules.tile.tolist() == kernels.loops.tolist()
    assert everything.schedules.resident.tolist() == [5]
    assert everything.seconds[0] < best_schedules(kernels, TPU_V3).seconds[0]


def test_a_small_output_tile_and_few_steps_win():
    """One convolution whose tiles all fit: the first load and last store are exposed, each step costs its control."""
    builder = KernelsBuilder()
    builder.add(convolution_relu(batch=8))
    builder.add(dot(rows=4096, columns=128, contracted=128))
    best = best_schedules(builder.build(), TPU_V3)
    whole = Simulator().cost(builder.build(), schedules_for_tiles(np.arange(2), builder.build().loops), TPU_V3)
    assert (best.seconds < whole.value).all()
    assert (best.schedules.tile.prod(axis=1) < builder.build().loops.prod(axis=1)).all()


def test_nothing_fits_without_a_buffer():
    bare = TPU_V3._replace(global_buffer_bytes=0, l1_input_bytes=0, l1_weight_bytes=0, l1_output_bytes=0)
    kernels = example_kernels()
    assert np.isnan(best_schedules(kernels, bare).seconds).all()
    rows = schedules_for_tiles(np.arange(kernels.number), kernels.loops)
    assert np.isnan(best_of(kernels, rows, bare).seconds).all()
    with pytest.raises(ValueError, match="limit: 0 tiles"):
        best_schedules(kernels, bare, limit=0)
