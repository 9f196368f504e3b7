"""Our cycles on AccelForge's `tpu_v4i` against its own, fill, drain and latencies off."""

import pytest

from lib.fidelity.accelforge import figures

STEADY = [figure for figure in figures() if figure.quantity == "steady_state_cycles"]


def test_the_table_is_whole():
    assert len({figure.subject for figure in STEADY}) == len(STEADY) == 15


@pytest.mark.parametrize("figure", STEADY, ids=lambda figure: figure.subject)
def test_cycles_are_within_2_percent_of_the_larger_of_its_figure_and_the_ideal(figure):
    assert abs(figure.error_pct) <= 2
