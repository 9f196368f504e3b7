"""Cycles of the compiled matrix unit against SCALE-Sim's on all 76 rows that were run."""

import pytest

from lib.cost.simulator_constants import FOLDS_APART, FOLDS_OVERLAP
from lib.fidelity.scalesim import figures, layers

ROWS = layers()


def test_the_table_is_whole():
    assert len({row.name for row in ROWS}) == len(ROWS) == 19 * 2 * 2
    assert {row.scalesim for row in ROWS} == {"3.0.0"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_without_overlap_cycles_equal_scale_sim(row):
    assert row.our_cycles(FOLDS_APART) == row.compute_cycles


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_with_overlap_cycles_lie_between_the_ideal_and_scale_sim(row):
    assert row.ideal_cycles <= row.our_cycles(FOLDS_OVERLAP) <= row.compute_cycles


def test_figures_name_each_row_three_times_and_never_calibrate():
    found = figures()
    assert len({(figure.subject, figure.quantity) for figure in found}) == len(found) == 3 * len(ROWS)
    assert {figure.role for figure in found} == {"validation"}
    assert {figure.error_pct for figure in found if figure.quantity == "compute_cycles"} == {0.0}
