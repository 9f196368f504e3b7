"""Default and chosen configuration are measured anew in both orders, without what they share."""

import numpy as np
import pytest

from lib.autotune.remeasured import remeasured
from tests.lib.autotune.three_kernels import HandMadeTarget, default, space


class Anew(HandMadeTarget):
    """Every run takes 10 % longer than the one before it, from half a second on."""

    def __init__(self, fails=False):
        super().__init__()
        self.fails, self.runs = fails, []

    def measured_anew(self, kernels, schedules):
        tiles = list(zip(schedules.kernel.tolist(), schedules.tile[:, 0].tolist(), strict=True))
        self.runs.append(tiles)
        return np.full(len(tiles), np.nan) if self.fails else 0.5 * 1.1 ** np.arange(len(tiles))


def chosen():
    """Kernel A with its best tile, 0.5 s; B and C as by default."""
    tiles, seconds = default().tile.copy(), default().seconds.copy()
    tiles[0], seconds[0] = space().schedules.tile[2], 0.5
    return default()._replace(tile=tiles, seconds=seconds)


def test_only_what_differs_is_measured_and_in_both_orders():
    """A runs twice: 0.5 s measured first, 0.55 s last; B and C keep their 0.9 s together."""
    target = Anew()
    found = remeasured(default(), chosen(), target)
    assert [len(run) for run in target.runs] == [2, 2]
    assert target.runs[0] == target.runs[1][::-1]
    assert found.kernels == 2
    assert found.default_s == pytest.approx([2 * 0.5 + 0.9, 2 * 0.55 + 0.9])
    assert found.chosen_s == pytest.approx([2 * 0.55 + 0.9, 2 * 0.5 + 0.9])
    assert found.speedups == pytest.approx([1.9 / 2.0, 2.0 / 1.9])


def test_a_target_that_always_says_the_same_has_nothing_to_say_anew():
    assert remeasured(default(), chosen(), HandMadeTarget()) is None


def test_a_kernel_that_fails_now_leaves_no_figure():
    assert remeasured(default(), chosen(), Anew(fails=True)) is None
