"""The fusion autotuner: strategies that look for a program's fastest fusion configuration on a target."""

from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from lib.autotune.fusion_annealing import Annealing, anneal
from lib.autotune.fusion_chain import MOST_FLIPS, Chain, is_taken
from lib.autotune.fusion_kernels import DistinctKernels, KernelPrices, Price
from lib.autotune.fusion_target import Account, Compiled, Occurs, Run, TargetKernels
from lib.autotune.fusion_verify import Improvement, Verified, verify
from lib.autotune.target import Prices
from lib.fusion.grouping import Grouping, GroupingRules
from lib.fusion.space import FusionSpace
from lib.journal import Journal
from lib.program.program import Program

Start = Literal["default", "random"]

FURTHER_ROUNDS = 0.25
"""Rounds of a search on the corrected model, as a share of the first search's."""
MOST_TARGET_MOVES = 20_000
"""Moves on the target itself: those between kernels that it has run cost no target seconds, so a budget may never be
spent."""
LATE_PROGRESS = 0.5
"""Where annealing on the target begins after a model's proposals have been run, so that what is good is not left."""
MOST_DRAWN = 100
"""Random starts that are drawn until the target can run one."""


class FusionRun(NamedTuple):
    """One run of a strategy with one budget."""

    strategy: str
    start: Start
    seed: int
    compile_cost_s: float
    budget_s: float
    improvements: list[Improvement]
    """What the target found faster than all before; the first is the start, the last the configuration chosen."""
    compiled: list[Compiled]
    """Kernels that were charged for."""
    target_s: float
    """Spent."""
    moves: int
    """Of annealing, on the model or the target."""
    failed: int
    """Configurations that the target could not run; they were skipped."""

    @property
    def seconds(self) -> float:
        """Of the program under the chosen configuration, by the target."""
        return self.improvements[-1].seconds

    @property
    def fuse(self) -> np.ndarray:
        """bool[n], the chosen configuration."""
        return self.improvements[-1].fuse

    def within(self, budget_s: float) -> "FusionRun":
        """What the run had come to when it had spent a smaller budget."""
        return self._replace(
            budget_s=budget_s,
            improvements=[one for one in self.improvements if one.target_s <= budget_s],
            compiled=[one for one in self.compiled if one.target_s <= budget_s],
            target_s=min(self.target_s, budget_s),
        )


class FusionTuner:
    """The strategies on one program and target. Everything that they find out about kernels is shared, but each
    strategy pays for what it runs on the target."""

    def __init__(self, program: Program, run: Run, journal: Path | None = None, occurs: Occurs | None = None):
        """`journal`: folder for how far each annealing is, see `lib.journal`; `occurs`: is told where each kernel lies.

        Raises UnsupportedInstruction, and ValueError where the target can't run the default configuration.
        """
        self.program = program
        self.space = FusionSpace(program)
        self.rules = GroupingRules(self.space)
        self.kernels = DistinctKernels(self.rules.states)
        self.target = TargetKernels(self.kernels, run, occurs)
        self._journal = journal
        self._prices: dict[Price, KernelPrices] = {}
        self._searches: dict[tuple, Annealing] = {}
        self.default_s = self._seconds(self.space.default())
        if self.default_s == inf:
            raise ValueError(f"program '{program.name}': the target can't run the default fusion configuration")

    def start(self, start: Start, seed: int) -> np.ndarray:
        """bool[n]: the default configuration, or the first random one of the seed that the target can run.

        Raises ValueError where it can't run any of the first MOST_DRAWN.
        """
        if start == "default":
            return self.space.default()
        rng = np.random.default_rng([seed, 0])
        for _ in range(MOST_DRAWN):
            fuse = self.space.random(rng)
            if self._seconds(fuse) < inf:
                return fuse
        raise ValueError(
            f"program '{self.program.name}': the target can't run any of {MOST_DRAWN} random fusion configurations;"
            " leave start: random out"
        )

    def on_target(
        self, strategy: Literal["target", "random"], start: Start, seed: int, prices: Prices, budget_s: float
    ) -> FusionRun:
        """Annealing of one chain with the target's own seconds; `random` takes every move that can run.

        The temperature falls with the budget. Raises ValueError for an empty budget.
        """
        began = self.start(start, seed)
        account = self._account(began, prices, budget_s)
        found = _walk(self.rules, account, began, (seed, 1), takes_all=strategy == "random")
        return _run(strategy, start, seed, account, found)

    def with_model(
        self, name: str, price: Price, start: Start, seed: int, prices: Prices, budget_s: float,
        chains: int, rounds: int,
    ) -> FusionRun:  # fmt: skip
        """Annealing of many chains on a model, then the target for what they found, then annealing on the target with
        what is left of the budget; `name` is the strategy's.

        Raises ValueError for an empty budget.
        """
        began = self.start(start, seed)
        account = self._account(began, prices, budget_s)
        known = self._prices.setdefault(price, KernelPrices(self.kernels, price))
        key = (name, start, seed, chains, rounds)
        if key not in self._searches:
            journal = Journal(self._journal / "-".join(map(str, key))) if self._journal is not None else None
            self._searches[key] = anneal(self.rules, known, [began] * chains, rounds, (seed, 2, 0), journal)

        def search_again(number: int, corrected: KernelPrices, best: np.ndarray) -> Annealing:
            further = max(1, int(FURTHER_ROUNDS * rounds))
            return anneal(self.rules, corrected, [best] * chains, further, (seed, 2, number))

        found = verify(self.rules, account, known, began, self._searches[key], search_again)
        if not account.is_spent:
            best = found.improvements[-1].fuse
            found = found.followed_by(_walk(self.rules, account, best, (seed, 3), first_progress=LATE_PROGRESS))
        return _run(name, start, seed, account, found)

    def _account(self, began: np.ndarray, prices: Prices, budget_s: float) -> Account:
        """Default and start have been run before the tuning begins."""
        account = Account(self.target, prices, budget_s)
        for fuse in (self.space.default(), began):
            account.free(Grouping(self.rules, fuse).kernels.values())
        return account

    def _seconds(self, fuse: np.ndarray) -> float:
        chain = Chain(Grouping(self.rules, fuse))
        found = self.target.of(chain.grouping.kernels.values())
        chain.begin({state: seconds for state, (_, seconds, _) in found.items()})
        return chain.seconds


def _run(strategy: str, start: Start, seed: int, account: Account, found: Verified) -> FusionRun:
    return FusionRun(
        strategy, start, seed, account.prices.compile_cost_s, account.budget_s, found.improvements, account.compiled,
        account.spent_s, found.moves, found.failed,
    )  # fmt: skip


def _walk(
    rules: GroupingRules,
    account: Account,
    start: np.ndarray,
    seed: Sequence[int],
    *,
    takes_all: bool = False,
    first_progress: float | None = None,
) -> Verified:
    """Annealing on the target. Move r draws from the stream (seed, r) alone.

    The temperature falls with the budget and the moves; from `first_progress` on, where given, with the moves alone, so
    that less budget would have ended it earlier without another change.
    """
    chain = Chain(Grouping(rules, start))
    account.spend(chain.grouping.kernels.values())  # costs nothing: what is started from has been run
    chain.begin(account.seconds)
    improvements = [Improvement(account.spent_s, chain.seconds, np.array(start, dtype=bool))]
    failed = moves = 0
    while rules.nodes and moves < MOST_TARGET_MOVES:
        rng = np.random.default_rng([*seed, moves])
        change, draw = chain.proposed(rng.random(2 * MOST_FLIPS)), float(rng.random())
        if not account.spend(change.added.values()):
            break
        moves += 1
        after = chain.seconds_after(change, account.seconds)
        best = chain.best_seconds
        progress = moves / MOST_TARGET_MOVES
        if first_progress is None:
            progress = max(progress, account.spent_s / account.budget_s)
        else:
            progress = first_progress + (1.0 - first_progress) * progress
        if after == inf:
            failed += 1
        elif takes_all or is_taken(chain.seconds, after, progress, draw):
            chain.take(change, after)
            if after < best:
                improvements.append(Improvement(account.spent_s, after, np.array(chain.best_fuse)))
    return Verified(improvements, moves, failed)


def fusion_runs(
    tuner: FusionTuner,
    models: Sequence[tuple[str, Price]],
    *,
    starts: Sequence[Start],
    seed: int,
    budgets_s: Sequence[float],
    prices: Sequence[Prices],
    chains: int,
    rounds: int,
) -> Iterator[FusionRun]:
    """Every strategy from every start: `target` and `random`, then the models by name, at each budget.

    A model's search is the same for all budgets and compile costs, and what it does on the target with a smaller
    budget is the beginning of what it does with the largest. Annealing on the target plans with its budget.
    """
    most_s = max(budgets_s)
    for start in starts:
        for cost in prices:
            for budget_s in sorted(budgets_s):
                yield tuner.on_target("target", start, seed, cost, budget_s)
            walked = tuner.on_target("random", start, seed, cost, most_s)
            yield from (walked.within(budget_s) for budget_s in sorted(budgets_s))
            for name, price in models:
                found = tuner.with_model(name, price, start, seed, cost, most_s, chains, rounds)
                yield from (found.within(budget_s) for budget_s in sorted(budgets_s))
