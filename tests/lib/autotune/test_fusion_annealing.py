"""Annealing: prices that follow moves equal those of the whole program, and a killed one continues."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.autotune.fusion_annealing import anneal
from lib.autotune.fusion_chain import MOST_FLIPS, Chain, is_taken
from lib.autotune.fusion_kernels import DistinctKernels, KernelPrices
from lib.fusion import FusionSpace
from lib.fusion.grouping import Grouping, GroupingRules
from lib.journal import Journal
from lib.program.extraction import KernelExtractor
from tests.lib.autotune.fusion_examples import four_in_a_row, hand_price
from tests.lib.dataset.test_tasks import two_blocks
from tests.lib.program.random_programs import programs
from tests.program_examples import Sketch


@settings(max_examples=60, deadline=None)
@given(program=programs(), seed=st.integers(0, 99))
def test_a_chain_s_seconds_are_those_of_full_extraction(program, seed):
    space, extractor, rng = FusionSpace(program), KernelExtractor(program), np.random.default_rng(seed)
    rules = GroupingRules(space)
    prices = KernelPrices(DistinctKernels(rules.states), hand_price)
    chain = Chain(Grouping(rules, space.random(rng)))
    prices.learn(chain.grouping.kernels.values())
    chain.begin(prices.of_state)
    for _ in range(10 if rules.nodes else 0):
        change = chain.proposed(rng.random(2 * MOST_FLIPS))
        prices.learn(change.added.values())
        chain.take(change, chain.seconds_after(change, prices.of_state))
        whole = extractor.extract(space.group(np.array(chain.grouping.fuse)))
        assert chain.seconds == pytest.approx(float(hand_price(whole.kernels) @ whole.executions), rel=1e-12)


def test_all_chains_find_the_best_of_four_in_a_row():
    rules, prices = _rules_and_prices(four_in_a_row())
    found = anneal(rules, prices, [rules.space.default()] * 3, 60, (1,))
    assert found.found[0].seconds == pytest.approx(4.4)
    assert found.moves == 180


def test_a_kernel_is_priced_once_and_all_of_a_round_together():
    rules = GroupingRules(FusionSpace(two_blocks()))
    asked: list[list[str]] = []

    def price(kernels):
        asked.append(kernels.fingerprint)
        return hand_price(kernels)

    anneal(rules, KernelPrices(DistinctKernels(rules.states), price), [rules.space.default()] * 8, 30, (1,))
    names = [name for batch in asked for name in batch]
    assert len(names) == len(set(names))
    assert len(asked) <= 31


def test_a_killed_annealing_continues_from_its_journal(tmp_path, monkeypatch):
    monkeypatch.setattr("lib.autotune.fusion_annealing.ROUNDS_A_RECORD", 10)
    starts = [FusionSpace(two_blocks()).default()] * 4

    def run(journal):
        rules, prices = _rules_and_prices(two_blocks())
        return anneal(rules, prices, starts, 50, (5,), journal)

    calls = 0

    def killed(*arguments):
        nonlocal calls
        calls += 1
        if calls == 27 * len(starts):
            raise KeyboardInterrupt
        return is_taken(*arguments)

    whole = run(None)
    monkeypatch.setattr("lib.autotune.fusion_annealing.is_taken", killed)
    with pytest.raises(KeyboardInterrupt):
        run(Journal(tmp_path / "journal"))
    journal = Journal(tmp_path / "journal")
    assert journal.records[-1]["rounds"] == 20
    continued = run(journal)
    assert (continued.moves, continued.failed) == (whole.moves, whole.failed)
    assert [one.seconds for one in continued.found] == [one.seconds for one in whole.found]
    assert [one.fuse.tolist() for one in continued.found] == [one.fuse.tolist() for one in whole.found]


def test_few_chains_price_their_next_moves_together_and_move_as_they_would_one_by_one(monkeypatch):
    def run():
        asked = []

        def price(kernels):
            asked.append(kernels.number)
            return hand_price(kernels)

        rules, prices = _rules_and_prices(two_blocks(), price)
        return anneal(rules, prices, [rules.space.default()], 60, (1,)), len(asked)

    together, calls = run()
    monkeypatch.setattr("lib.autotune.fusion_annealing.LEAST_BATCH", 1)
    one_by_one, more_calls = run()
    assert calls < more_calls
    assert [one.fuse.tolist() for one in together.found] == [one.fuse.tolist() for one in one_by_one.found]


def test_a_move_in_all_equal_blocks_flips_what_is_as_fused_there():
    s = Sketch()
    x = s.input(8, 128)
    for _ in range(5):
        for opcode in ("negate", "abs", "cosine", "sine"):
            x = s.op(opcode, x)
    rules = GroupingRules(FusionSpace(s.program(x)))
    chain = Chain(Grouping(rules, rules.space.default()))
    node = 10  # the second block's third op, of those after the input
    first, no_further_flip = (rules.nodes.index(node) + 0.5) / len(rules.nodes), 0.99
    draws = np.array([first, 0.99, *[no_further_flip] * 6])
    assert chain.proposed(draws).nodes == (node,)
    draws[1] = 0.0
    everywhere = chain.proposed(draws).nodes
    assert node in everywhere
    assert len(everywhere) >= 3
    assert {place % 4 for place in everywhere} == {node % 4}
    chain.grouping.apply(chain.grouping.after([node + 4]))
    assert chain.proposed(draws).nodes == tuple(place for place in everywhere if place != node + 4)


def test_moves_to_what_can_not_run_are_counted_and_never_taken():
    def pairs_fail(kernels):
        return np.where(np.diff(kernels.op_offset) == 2, np.inf, hand_price(kernels))

    rules, prices = _rules_and_prices(four_in_a_row(), pairs_fail)
    found = anneal(rules, prices, [rules.space.default()] * 3, 60, (1,))
    assert found.failed > 0
    assert found.found[0].seconds == pytest.approx(5.0)  # three and one


def test_metropolis_rule():
    assert is_taken(2.0, 1.9, 1.0, 0.999)
    assert not is_taken(2.0, float("inf"), 0.0, 0.0)
    # Slower by the temperature of 0.2 %: taken with the chance exp(-1) = 0.368.
    assert is_taken(1.0, 1.002, 0.0, 0.367)
    assert not is_taken(1.0, 1.002, 0.0, 0.369)


def _rules_and_prices(program, price=hand_price):
    rules = GroupingRules(FusionSpace(program))
    return rules, KernelPrices(DistinctKernels(rules.states), price)
