"""The tile autotuner against results worked by hand, see three_kernels.py."""

import numpy as np
import pytest

from lib.autotune.target import KeptTarget
from lib.autotune.tile_order import best_rows, best_so_far, ranked_order
from lib.autotune.tiles import random_scores, tune_tiles
from lib.autotune.tuned import compared
from lib.cost.cost_model import Reason
from lib.journal import Journal
from tests.lib.autotune import three_kernels as by_hand
from tests.lib.autotune.three_kernels import SPEC, HandMadeModel, HandMadeTarget


def tuned(target=None, **changes):
    models = {"by-hand": {1: HandMadeModel()}}
    return tune_tiles(SPEC | changes, by_hand.default(), models, target or HandMadeTarget())


def row(table, **wanted):
    for column, value in wanted.items():
        table = table[table[column].isna()] if value is None else table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_order_is_by_rank_then_by_weight_without_defaults():
    order = ranked_order(by_hand.space(), by_hand.SCORE, by_hand.DEFAULT_S)
    assert order.row.tolist() == [3, 4, 1, 2]  # A's fourth and B's first, A's second, A's third (behind its default)
    assert order.rank.tolist() == [0, 0, 1, 3]
    assert [order.first(top) for top in (1, 2, 3, 4)] == [2, 3, 3, 4]


def test_of_equal_scores_the_default_comes_first():
    order = ranked_order(by_hand.space(), np.zeros(7), by_hand.DEFAULT_S)
    assert order.all_ranks.tolist() == [0, 1, 2, 3, 1, 0, 0]


def test_a_tile_without_a_score_comes_last():
    score = by_hand.SCORE.copy()
    score[3] = np.nan
    assert ranked_order(by_hand.space(), score, by_hand.DEFAULT_S).all_ranks[3] == 3


def test_top_1_skips_the_failing_tile_and_keeps_the_default():
    results, _ = compared(tuned(), 2.9)
    found = row(results, strategy="by-hand", top=1, compile_cost_s=1.0)
    assert found["runtime_s"] == pytest.approx(2 * 1.0 + 0.4 + 0.3)
    assert found["speedup"] == pytest.approx(2.9 / 2.7)
    assert found["regret_pct"] == pytest.approx((2.7 / 1.7 - 1) * 100)
    assert np.isnan(found["ranked_regret_pct"])  # A's only ranked tile could not be run
    assert (found["configurations"], found["target_runs"], found["failed"], found["timed_out"]) == (2, 3, 1, 0)
    assert found["target_s"] == pytest.approx(1.0 + (1.0 + 3 * 0.4))


def test_top_2_counts_compiling_and_three_runs_of_each_new_tile():
    results, _ = compared(tuned(), 2.9)
    for cost, seconds in ((1.0, 1.0 + 2.2 + 3.4), (10.0, 10.0 + 11.2 + 12.4)):
        found = row(results, strategy="by-hand", top=2, compile_cost_s=cost)
        assert found["runtime_s"] == pytest.approx(2 * 0.8 + 0.4 + 0.3)
        assert found["ranked_regret_pct"] == pytest.approx((2.3 / 1.7 - 1) * 100)
        assert found["target_s"] == pytest.approx(seconds)
        assert (found["configurations"], found["target_runs"]) == (3, 6)


def test_a_budget_ends_before_the_run_that_would_exceed_it():
    results, _ = compared(tuned(), 2.9)
    assert row(results, strategy="by-hand", budget_s=4.0, compile_cost_s=1.0)["runtime_s"] == pytest.approx(2.7)
    nothing = row(results, strategy="by-hand", budget_s=4.0, compile_cost_s=10.0)
    assert (nothing["runtime_s"], nothing["target_s"], nothing["configurations"]) == (pytest.approx(2.9), 0.0, 0)


def test_exhaustive_is_the_ceiling():
    results, _ = compared(tuned(), 2.9)
    found = row(results, strategy="exhaustive", top=0, budget_s=None, compile_cost_s=1.0)
    assert found["runtime_s"] == pytest.approx(1.7)
    assert found["regret_pct"] == 0
    assert found["target_s"] == pytest.approx(1.0 + 2.2 + 3.4 + 2.5)
    assert (results["regret_pct"] >= 0).all()


def test_a_run_that_times_out_costs_its_time_and_counts_once():
    results, _ = compared(tuned(HandMadeTarget(Reason.TIMED_OUT)), 2.9)
    found = row(results, strategy="by-hand", top=1, compile_cost_s=1.0)
    assert found["runtime_s"] == pytest.approx(2.7)
    assert (found["failed"], found["timed_out"], found["target_runs"]) == (0, 1, 1 + 3)
    assert found["target_s"] == pytest.approx((1.0 + 2.0) + (1.0 + 3 * 0.4))


def test_skipped_configurations_are_listed():
    skipped = tuned(HandMadeTarget(Reason.TIMED_OUT)).skipped
    assert skipped[["root", "tile_batch", "reason"]].values.tolist() == [["a", 1, "TIMED_OUT"]]


def test_trace_has_a_row_wherever_the_program_gets_faster():
    _, trace = compared(tuned(), 2.9)
    rows = trace[(trace["strategy"] == "by-hand") & (trace["compile_cost_s"] == 1.0)]
    assert rows["target_s"].tolist() == pytest.approx([0.0, 3.2, 6.6, 6.6])
    assert rows["runtime_s"].tolist() == pytest.approx([2.9, 2.7, 2.3, 2.3])


def test_chosen_tiles_are_those_of_the_headline_strategy():
    found = tuned()
    assert found.headline == "by-hand"
    assert found.chosen.tile[:, 0].tolist() == [3, 2, 4]
    assert found.chosen.runtime_s == pytest.approx(2.3)
    assert found.best["target_s"] == pytest.approx(6.6)


def test_without_models_the_analytical_model_is_the_headline():
    found = tune_tiles(SPEC, by_hand.default(), {}, HandMadeTarget())
    assert found.headline == "analytical"
    assert set(found.results["strategy"]) == {"analytical", "random", "exhaustive"}


def test_random_draws_depend_on_the_seed_and_the_kernel():
    space = by_hand.space()
    first, again, other = (random_scores(space, seed) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert (first != other).all()


def test_an_interrupted_run_continues_from_its_journal(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        tuned(KeptTarget(HandMadeTarget(stops_after=3, batch=1), Journal(tmp_path / "journal")))
    target = HandMadeTarget(batch=1)
    continued = tuned(KeptTarget(target, Journal(tmp_path / "journal")))
    assert target.asked == 1  # of the four tiles that are no default
    whole = tuned()
    assert continued.results.equals(whole.results)
    assert continued.trace.equals(whole.trace)
    assert continued.skipped.equals(whole.skipped)


def test_best_rows_prefer_the_default_among_equals():
    seconds = np.array([0.5, 0.8, 0.5, np.nan, 0.4, 0.4, 0.3])
    assert best_rows(by_hand.space(), seconds, np.array([2, 3, 4])).tolist() == [0, 5, 6]


def test_best_so_far_never_rises():
    kernel, seconds = np.array([0, 0, 1]), np.array([5.0, np.nan, 1.0])
    target_s, runtime_s = best_so_far(kernel, seconds, np.ones(3), np.array([1, 3]), np.array([4.0, 2.0]))
    assert target_s.tolist() == [0.0, 3.0, 3.0]
    assert runtime_s.tolist() == [10.0, 7.0, 7.0]


def test_without_exhaustive_only_what_the_limits_reach_is_run():
    target = HandMadeTarget(batch=1)
    found = tuned(KeptTarget(target), exhaustive=False, top=[1], budgets_s=[0.5])
    results, _ = compared(found, 2.9)
    assert set(results["strategy"]) == {"by-hand", "analytical", "random"}
    assert target.asked < 4  # tiles that are no default
    assert results["regret_pct"].min() == 0  # above the best that was run
    assert found.results["runtime_s"].min() > 1.7


def test_a_budget_lets_a_strategy_go_on_beyond_its_top_without_exhaustive():
    found = tuned(exhaustive=False, top=[1], budgets_s=[8.0], compile_costs_s=[1.0])
    results = found.results[found.results["strategy"] == "by-hand"]
    assert results["configurations"].tolist() == [2, 3]  # the budget ends before A's third tile at 9.1 s
    whole = tuned(top=[1], budgets_s=[8.0], compile_costs_s=[1.0])
    assert results.equals(whole.results[whole.results["strategy"] == "by-hand"].reset_index(drop=True))
