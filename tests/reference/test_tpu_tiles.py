"""Simulator and analytical model against measured tiles of real TPU kernels."""

import numpy as np
import pytest

from lib.fidelity.tpu_tiles import TILES, analytical_s, figures, predictions, simulated_s
from lib.targets.recorded import read_recorded_folder
from tests.datapath_examples import tpu_v3

ROWS = {"calibration": (16, 23, 11), "validation": (61, 16, 10)}
"""Configurations of each file, as the description of the data lists them."""


@pytest.mark.parametrize("role", ROWS)
def test_all_files_that_ship_are_read(role):
    recorded = read_recorded_folder(TILES / role)
    assert recorded.refused == []
    assert tuple(np.bincount(recorded.schedules.kernel)) == ROWS[role]
    assert (recorded.default_runtime_s > 0).all()


@pytest.mark.parametrize("role", ROWS)
def test_the_simulator_orders_tiles_better_than_the_analytical_model_and_picks_near_the_best(role):
    recorded = read_recorded_folder(TILES / role)
    simulated = predictions(recorded, simulated_s(recorded.kernels, recorded.schedules, tpu_v3()))
    analytical = predictions(recorded, analytical_s(recorded.kernels, recorded.schedules, tpu_v3()))
    for ours, theirs in zip(simulated, analytical, strict=True):
        assert ours.tau > theirs.tau
        assert ours.picked_s <= 1.1 * ours.best_s


def test_equal_tiles_are_averaged_and_a_tile_without_a_cost_is_left_out():
    recorded = read_recorded_folder(TILES / "calibration")
    kernel = recorded.names.index("alexnet_tile_07_copy.25")
    rows = recorded.schedules.kernel == kernel
    seconds = np.where(rows, recorded.runtime_s, 0.0)
    found = predictions(recorded, seconds)[kernel]
    # 11 rows, the whole kernel twice: 7.310 and 7.591 us.
    assert (found.tiles, found.tau, found.pairs) == (10, 1.0, 45)
    assert found.best_s == found.picked_s == pytest.approx((7.310e-6 + 7.591e-6) / 2)
    slowest = np.flatnonzero(rows)[recorded.runtime_s[rows].argmax()]
    seconds[slowest] = np.nan
    assert predictions(recorded, seconds)[kernel].tiles == 9


def test_figures_of_the_simulator_have_their_range_over_constants_that_calibrate_alike():
    found = {(figure.subject, figure.quantity): figure for figure in figures()}
    assert len(found) == 6 * 6
    for (kernel, quantity), figure in found.items():
        if quantity.endswith("_simulator"):
            assert figure.low <= figure.ours <= figure.high
        else:
            assert np.isnan([figure.low, figure.high]).all()
        if quantity == "kendall_tau_simulator":
            assert figure.low > found[kernel, "kendall_tau_analytical"].ours
