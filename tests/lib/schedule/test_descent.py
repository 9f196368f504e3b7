"""Tiles found by descent: they fit, come near to the best of the whole space, and obey the model that decides."""

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.cost.cost_model import Costs
from lib.cost.simulator import Simulator
from lib.program.kernel_builder import KernelsBuilder
from lib.schedule.descent import found_tiles
from lib.schedule.schedules import schedules_for_tiles
from lib.schedule.tiles import tile_space
from tests.datapath_examples import tpu_v3
from tests.kernel_examples import convolution_relu, depthwise, dot, elementwise, max_pool, reduction

WHOLE_SPACE = 1 << 20


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


def best_of_all(model, datapath) -> np.ndarray:
    space = tile_space(KERNELS, datapath, WHOLE_SPACE, seed=0)
    best = np.full(KERNELS.number, np.inf)
    np.minimum.at(best, space.kernel, model.cost(KERNELS, space, datapath).value)
    return best


@pytest.mark.parametrize("datapath", DATAPATHS.values(), ids=DATAPATHS)
def test_near_the_best_of_the_whole_space(datapath):
    model = Simulator()
    found = found_tiles(KERNELS, datapath, model)
    ratio = found.seconds / best_of_all(model, datapath)
    assert (ratio >= 1 - 1e-12).all()
    assert ratio.max() < 1.10
    assert np.exp(np.log(ratio).mean()) < 1.03


@pytest.mark.parametrize("datapath", DATAPATHS.values(), ids=DATAPATHS)
def test_seconds_are_those_of_the_tile(datapath):
    found = found_tiles(KERNELS, datapath, Simulator())
    schedules = schedules_for_tiles(np.arange(KERNELS.number), found.tile)
    assert Simulator().cost(KERNELS, schedules, datapath).value == pytest.approx(found.seconds, rel=1e-12)


def test_no_tile_fits():
    found = found_tiles(KERNELS, tpu_v3()._replace(global_buffer_bytes=256), Simulator())
    assert np.isnan(found.seconds).all()
    assert (found.tile == 1).all()


class FewChannels:
    """Wants as few output channels at a time as possible, against the analytical model."""

    def cost(self, kernels, schedules, datapath, *, parts=False):
        rows = len(schedules.kernel)
        return Costs(
            schedules.tile[:, 3].astype(float), np.zeros(rows, dtype=np.uint8), np.zeros((rows, 3)), None, None
        )


def test_the_model_that_decides_has_the_last_word():
    convolution = 0
    wide = found_tiles(KERNELS, tpu_v3(), Analytical()).tile[convolution, 3]
    few = found_tiles(KERNELS, tpu_v3(), FewChannels())
    assert few.tile[convolution, 3] < wide
    assert few.seconds[convolution] == few.tile[convolution, 3]


def test_the_same_every_time():
    first, second = (found_tiles(KERNELS, tpu_v3(), Simulator()) for _ in range(2))
    assert (first.tile == second.tile).all()
    assert (first.seconds == second.seconds).all()
