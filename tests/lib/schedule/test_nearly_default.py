"""Tiles by descent under the analytical model against the best of the whole space."""

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.hardware.datapath import datapath_from_spec
from lib.program.kernel_builder import KernelsBuilder
from lib.schedule.default import default_tiles
from lib.schedule.nearly_default import nearly_default_tiles
from lib.schedule.schedules import schedules_for_tiles
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from tests.kernel_examples import convolution_relu, depthwise, dot


def kernels():
    builder = KernelsBuilder()
    for batch in (1, 16):
        builder.add(convolution_relu(batch=batch))
        builder.add(depthwise(batch=batch))
        builder.add(dot(rows=64 * batch, columns=1000, contracted=192))
    return builder.build()


@pytest.mark.parametrize("hardware", ["tpu-v3", "fast-large", "fast-small"])
def test_hardly_slower_than_the_default_tiles(hardware):
    datapath = datapath_from_spec(merged_datapath([HARDWARE_PRESETS[hardware]]))
    found = kernels()
    rows = schedules_for_tiles(np.arange(found.number), nearly_default_tiles(found, datapath))
    seconds = Analytical().cost(found, rows, datapath).value
    _, best, fits = default_tiles(found, datapath)
    assert fits.all()
    assert (seconds >= best * (1 - 1e-12)).all()
    assert seconds == pytest.approx(best, rel=0.1)


def test_no_tile_fits():
    spec = merged_datapath([HARDWARE_PRESETS["tpu-v3"]]) | {"global_buffer_bytes": 64}
    assert (nearly_default_tiles(kernels(), datapath_from_spec(spec)) == 1).all()
