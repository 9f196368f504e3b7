"""Schedules found by descent: they fit, come near to the best of the whole space, and cost what the simulator says."""

import numpy as np
import pytest

from lib.cost.simulator import Simulator
from lib.program.kernel_builder import KernelsBuilder
from lib.residency.program_residency import placement_costs
from lib.schedule.best import best_schedules
from lib.schedule.default import default_schedule
from lib.schedule.descent import Enough, found_schedules, prepared
from lib.schedule.found_schedules import NO_WAIT
from lib.schedule.node_table import operand_table, tile_bytes
from lib.schedule.row_front import MOST_ROWS
from lib.schedule.schedules import OUTPUT_STATIONARY, Schedules
from tests.datapath_examples import tpu_v3
from tests.kernel_examples import convolution_relu, depthwise, dot, elementwise, max_pool, reduction


def kernels():
    builder = KernelsBuilder()
    for make in (convolution_relu, depthwise, elementwise, reduction, max_pool):
        builder.add(make(batch=64))
    builder.add(dot(rows=4096, columns=1000, contracted=2048))
    return builder.build()


KERNELS = kernels()
DATAPATHS = {
    "tpu-v3": tpu_v3(),
    "a small buffer": tpu_v3()._replace(global_buffer_bytes=1 << 19),
    "many small arrays": tpu_v3()._replace(pes_x=8, pes_y=8, systolic_rows=32, systolic_columns=32),
}


def found(datapath, **options):
    return found_schedules(prepared(KERNELS, datapath), datapath, **options)


@pytest.mark.parametrize("datapath", DATAPATHS.values(), ids=DATAPATHS)
def test_near_the_best_of_the_whole_space_and_never_slower_than_the_default(datapath):
    seconds = found(datapath).alone_s
    ratio = seconds / best_schedules(KERNELS, datapath).seconds
    assert (ratio >= 1 - 1e-9).all()
    assert ratio.max() < 1.10
    assert np.exp(np.log(ratio).mean()) < 1.03
    default = Simulator().cost(KERNELS, default_schedule(KERNELS, datapath), datapath).value
    assert (seconds <= default * (1 + 1e-9)).all()


@pytest.mark.parametrize("datapath", DATAPATHS.values(), ids=DATAPATHS)
def test_seconds_are_the_simulators_for_every_placement(datapath):
    several = found(datapath, several=True)
    rows, seconds, _ = several.choices()
    costs = placement_costs(KERNELS, rows, datapath, Simulator())
    ratio = seconds.transpose(0, 2, 1) / costs.seconds
    assert ratio[:, 0] == pytest.approx(1, rel=1e-12)
    # What hardly waits for DRAM is said to take as long as with everything in DRAM.
    assert ratio.min() >= 1 - 1e-12
    assert ratio.max() <= 1 + NO_WAIT
    assert several.rows.max() > 1
    assert (several.alone_s <= found(datapath).alone_s).all()


def test_rows_trade_seconds_for_room():
    datapath = tpu_v3()
    several = found(datapath, several=True)
    operands = operand_table(KERNELS, datapath.register_sublanes, datapath.register_lanes)
    for k in range(KERNELS.number):
        count = int(several.rows[k])
        assert count <= MOST_ROWS
        seconds = several.seconds[k, :count, 0]
        room = np.array([sum(tile_bytes(operands, k, np.append(tile, 1))) for tile in several.tile[k, :count]])
        assert seconds.argmin() == 0
        # All but the last, which is for operands on chip, are better than each other in one of the two.
        front = np.argsort(room[: max(1, count - 1)])
        assert (np.diff(seconds[front]) < 0).all()


def test_no_tile_fits():
    nothing = found(tpu_v3()._replace(global_buffer_bytes=256))
    assert (nothing.rows == 0).all()
    assert np.isnan(nothing.alone_s).all()


def test_dataflows_can_be_ruled_out():
    matrix = [0, 1, 5]
    only = found(tpu_v3(), dataflows=1 << OUTPUT_STATIONARY)
    assert (only.dataflow[matrix, 0] == OUTPUT_STATIONARY).all()
    assert (only.alone_s >= found(tpu_v3()).alone_s * (1 - 1e-9)).mean() > 0.5
    rows, seconds, _ = only.choices()
    assert isinstance(rows, Schedules)
    assert Simulator().cost(KERNELS, rows, tpu_v3()).value == pytest.approx(seconds[:, 0, 0], rel=1e-12)


def test_a_search_stops_once_all_kernels_surely_take_longer():
    executions, datapath = np.arange(1.0, 1 + KERNELS.number), tpu_v3()
    alone = found(datapath).alone_s
    total = float(executions @ alone)
    least_s = 0.5 * alone
    whole = found(datapath, enough=Enough(1.01 * total, executions, least_s))
    assert (whole.rows > 0).all()
    assert whole.least_s[0] == 0
    stopped = found(datapath, enough=Enough(0.6 * total, executions, least_s))
    assert 0.6 * total < stopped.least_s[0] <= 1.01 * total
    # Kernels with the longest bounds come first; those after the one that decides are not looked at.
    order = np.argsort(-executions * least_s)
    looked_at = stopped.rows[order] > 0
    assert looked_at[0]
    assert not looked_at[-1]
    assert (np.diff(looked_at.astype(int)) <= 0).all()


def test_the_same_every_time():
    first, second = (found(tpu_v3(), several=True) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one, other, equal_nan=True)
