"""The fusion autotuner on four ops in a row, whose best configuration and target seconds are worked out by hand."""

import numpy as np
import pytest

from lib.autotune.fusion import FusionTuner, fusion_runs
from lib.autotune.target import Measured, Prices
from lib.cost.cost_model import Reason
from tests.lib.autotune.fusion_examples import four_in_a_row, hand_price, hand_run
from tests.program_examples import Sketch


@pytest.fixture(autouse=True)
def few_moves_on_the_target(monkeypatch):
    monkeypatch.setattr("lib.autotune.fusion.MOST_TARGET_MOVES", 200)


PAIR_S = 1.0 + 3 * 2.2
"""Target seconds of the one new kernel of the best configuration: it is compiled once and runs three times."""


def tuned(budget_s: float, run=hand_run, price=hand_price):
    tuner = FusionTuner(four_in_a_row(), run)
    return tuner.with_model("model", price, "default", 1, Prices(1.0, 3, 10.0), budget_s, chains=4, rounds=40)


def test_the_model_s_best_is_found_and_costs_one_kernel():
    found = tuned(100.0)
    assert found.improvements[0].seconds == pytest.approx(5.8)  # the default: all four in one kernel
    assert found.seconds == pytest.approx(4.4)
    assert [one.target_s for one in found.improvements] == [0.0, pytest.approx(PAIR_S)]
    assert [one.runs for one in found.within(PAIR_S).compiled] == [3]
    assert int(found.fuse.sum()) == 2


def test_a_budget_that_ends_before_the_kernel_has_run_keeps_the_default():
    found = tuned(PAIR_S - 0.1)
    assert found.seconds == pytest.approx(5.8)
    assert found.target_s == pytest.approx(PAIR_S - 0.1)
    assert found.compiled == []


def test_a_smaller_budget_is_the_beginning_of_a_larger_one():
    found = tuned(100.0)
    assert found.within(PAIR_S + 0.1).seconds == pytest.approx(4.4)
    early = found.within(PAIR_S - 0.1)
    assert (early.seconds, early.target_s) == (pytest.approx(5.8), pytest.approx(PAIR_S - 0.1))


def test_a_kernel_that_times_out_costs_the_time_limit_and_is_never_chosen():
    def pairs_time_out(kernels):
        late = np.diff(kernels.op_offset) == 2
        return Measured(
            np.where(late, np.nan, hand_price(kernels)),
            np.where(late, Reason.TIMED_OUT, Reason.OK).astype(np.uint8),
        )

    found = tuned(100.0, run=pairs_time_out)
    places = [place for place, one in enumerate(found.compiled) if one.reason == Reason.TIMED_OUT]
    assert [found.compiled[place].runs for place in places] == [1]
    spent = [0.0, *(one.target_s for one in found.compiled)]
    assert spent[places[0] + 1] - spent[places[0]] == pytest.approx(1.0 + 10.0)
    assert found.failed >= 1
    assert found.seconds == pytest.approx(5.0)  # three and one


def test_kernels_that_fail_cost_their_compilation_and_are_never_chosen():
    def pairs_fail(kernels):
        fails = np.diff(kernels.op_offset) == 2
        return Measured(
            np.where(fails, np.nan, hand_price(kernels)),
            np.where(fails, Reason.FAILED, Reason.OK).astype(np.uint8),
        )

    found = tuned(100.0, run=pairs_fail)
    failing = [one for one in found.compiled if one.reason == Reason.FAILED]
    assert [one.runs for one in failing] == [0]
    assert found.failed >= 1
    assert found.seconds == pytest.approx(5.0)  # three and one


def test_a_model_that_is_wrong_by_a_factor_is_corrected():
    assert tuned(100.0, price=lambda kernels: 7 * hand_price(kernels)).seconds == pytest.approx(4.4)


def test_what_a_model_does_not_see_is_found_with_what_is_left_of_the_budget():
    def fused_is_best(kernels):
        return np.ones(kernels.number)

    assert tuned(4.0, price=fused_is_best).seconds == pytest.approx(5.8)
    assert tuned(100.0, price=fused_is_best).seconds == pytest.approx(4.4)


def test_kernels_that_equal_blocks_wait_for_are_run_first():
    """Three pairs that gain 1 ms each by two new kernels, and a wide pair that gains 1.5 ms by two others."""
    s = Sketch()
    pairs = [s.op("abs", s.op("negate", s.input(8, width))) for width in (256, 128, 128, 128)]

    def price(kernels):
        wide = kernels.loops[:, 1] == 256
        alone = np.diff(kernels.op_offset) == 1
        return 1e-3 * np.where(wide, np.where(alone, 2.0, 5.5), np.where(alone, 1.0, 3.0))

    def run(kernels):
        return Measured(price(kernels), np.full(kernels.number, Reason.OK, dtype=np.uint8))

    tuner = FusionTuner(s.program(*pairs), run)
    assert tuner.default_s == pytest.approx(14.5e-3)
    found = tuner.with_model("model", price, "default", 1, Prices(1.0, 3, 10.0), 2.1, chains=4, rounds=40)
    assert found.seconds == pytest.approx(11.5e-3)


def test_annealing_on_the_target_alone_finds_it_too():
    tuner = FusionTuner(four_in_a_row(), hand_run)
    found = tuner.on_target("target", "default", 1, Prices(1.0, 3, 10.0), 100.0)
    assert found.seconds == pytest.approx(4.4)
    # All that there is to run: kernels of one, two and three ops; that of four has been run before.
    assert found.target_s == pytest.approx(3 * 1.0 + 3 * (1.3 + 2.2 + 3.7))


def test_an_empty_budget_is_refused():
    with pytest.raises(ValueError, match="a budget of 0 target seconds is empty"):
        tuned(0.0)


def test_a_target_that_can_not_run_the_default_is_refused():
    def nothing_runs(kernels):
        return Measured(np.full(kernels.number, np.nan), np.full(kernels.number, Reason.FAILED, dtype=np.uint8))

    with pytest.raises(ValueError, match="can't run the default fusion configuration"):
        FusionTuner(four_in_a_row(), nothing_runs)


def test_every_strategy_runs_with_every_budget_start_and_cost_and_repeats_by_seed():
    def runs():
        tuner = FusionTuner(four_in_a_row(), hand_run)
        return list(
            fusion_runs(
                tuner, [("model", hand_price)], starts=["default", "random"], seed=3, budgets_s=[10.0, 5.0],
                prices=[Prices(1.0, 3, 10.0), Prices(0.1, 3, 10.0)], chains=2, rounds=10,
            )
        )  # fmt: skip

    first, second = runs(), runs()
    asked = {(run.strategy, run.start, run.compile_cost_s, run.budget_s) for run in first}
    assert len(asked) == len(first) == 3 * 2 * 2 * 2
    for one, other in zip(first, second, strict=True):
        assert [tuple(i[:2]) for i in one.improvements] == [tuple(i[:2]) for i in other.improvements]
        assert one.target_s == other.target_s <= one.budget_s
        assert one.fuse.tolist() == other.fuse.tolist()
