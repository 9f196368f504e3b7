"""What the target says and what its time costs."""

import numpy as np
import pytest

from lib.autotune.target import KeptTarget, Measured, Prices, SimulatedTarget, charged_s, runs
from lib.cost.cost_model import Costs, Reason
from lib.journal import Journal
from tests.datapath_examples import tpu_v3
from tests.lib.autotune.three_kernels import SECONDS, HandMadeTarget, space


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


ALL = np.arange(len(SECONDS))


def test_no_configuration_is_run_twice():
    target = HandMadeTarget(batch=2)
    kept, tiles = KeptTarget(target), space()
    for rows in (ALL[:3], ALL, ALL[::-1]):
        measured = kept.measure(tiles.kernels, tiles.rows(rows))
        assert measured.seconds.tolist() == pytest.approx(SECONDS[rows].tolist(), nan_ok=True)
    assert target.asked == len(ALL)


def test_what_was_run_before_a_kill_is_not_run_again(tmp_path):
    tiles = space()
    with pytest.raises(KeyboardInterrupt):
        KeptTarget(HandMadeTarget(stops_after=4, batch=2), Journal(tmp_path)).measure(tiles.kernels, tiles.rows(ALL))
    target = HandMadeTarget(Reason.TIMED_OUT, batch=2)
    measured = KeptTarget(target, Journal(tmp_path)).measure(tiles.kernels, tiles.rows(ALL))
    assert target.asked == len(ALL) - 4
    assert measured.seconds.tolist() == pytest.approx(SECONDS.tolist(), nan_ok=True)
    assert measured.reason.tolist() == [Reason.OK] * 3 + [Reason.FAILED] + [Reason.OK] * 3  # as it was said first


@pytest.mark.parametrize("seconds", [0.0, -1.0, np.nan, np.inf])
def test_a_configuration_without_a_sound_time_has_failed(seconds):
    class UnsoundTarget(HandMadeTarget):
        def measure(self, kernels, schedules):
            rows = len(schedules.kernel)
            return Measured(np.full(rows, seconds), np.full(rows, Reason.OK, dtype=np.uint8))

    measured = KeptTarget(UnsoundTarget()).measure(space().kernels, space().schedules)
    assert np.isnan(measured.seconds).all()
    assert set(measured.reason.tolist()) == {Reason.FAILED}
