"""What the target says and what its time costs."""

import numpy as np
import pytest

from lib.autotune.target import Measured, Prices, SimulatedTarget, charged_s, runs
from lib.cost.cost_model import Costs, Reason
from tests.datapath_examples import tpu_v3
from tests.lib.autotune.three_kernels import space


class FixedCosts:
    """Two rows: 1 s, and one that can't be run."""

    name, scale, accepts, part_names = "fixed", "seconds", frozenset({"tile"}), ()
    seconds = np.array([1.0, 4.0, np.nan])
    reason = np.array([Reason.OK, Reason.OK, Reason.TILE_TOO_LARGE], dtype=np.uint8)

    def cost(self, kernels, schedules, datapath, *, parts=False):
        return Costs(self.seconds, self.reason, np.zeros((3, 3)), None, None)


def test_what_runs_too_long_is_timed_out_and_has_no_time():
    measured = SimulatedTarget(FixedCosts(), tpu_v3(), timeout_s=3.0).measure(space().kernels, space().schedules)
    assert measured.seconds[0] == 1.0
    assert np.isnan(measured.seconds[1:]).all()
    assert measured.reason.tolist() == [Reason.OK, Reason.TIMED_OUT, Reason.TILE_TOO_LARGE]


def test_a_model_that_ranks_is_no_target():
    model = FixedCosts()
    model.scale = "rank"
    with pytest.raises(ValueError, match="'fixed' ranks and gives no seconds"):
        SimulatedTarget(model, tpu_v3(), timeout_s=1.0)


def test_charges():
    measured = Measured(np.array([1.0, np.nan, np.nan]), np.array([Reason.OK, Reason.TIMED_OUT, Reason.FAILED]))
    assert charged_s(measured, Prices(0.5, 3, 10.0)).tolist() == [0.5 + 3.0, 0.5 + 10.0, 0.5]
    assert runs(measured, 3).tolist() == [3, 1, 0]
