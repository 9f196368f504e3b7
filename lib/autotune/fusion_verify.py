"""From what a model proposes to what the target confirms, within a budget of target seconds.

A program's runtime is a sum over kernels, so a proposal need not be run as a whole: it is cut into the parts that
change different kernels, and the parts that promise the most for the target seconds that they take are run first.
Kernels that the target has run are known from then on; the model's word for all others is corrected by kernel class.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from lib.autotune.fusion_annealing import Annealing, Found
from lib.autotune.fusion_chain import Chain
from lib.autotune.fusion_kernels import KernelPrices
from lib.autotune.fusion_target import Account
from lib.fusion.grouping import Change, Grouping, GroupingRules
from lib.program.kernels import KERNEL_CLASSES, Kernels

MOST_SEARCHES = 6
"""Searches on the corrected model after the first, each from the best configuration so far."""
LEAST_GAIN = 1e-6
"""Share of the program's runtime that a change must promise to be run: less is no gain that a person would see."""


class Improvement(NamedTuple):
    """A configuration that the target found faster than all before."""

    target_s: float
    """Target seconds spent when it was found."""
    seconds: float
    """Of the program, by the target."""
    fuse: np.ndarray
    """bool[n]"""


class Verified(NamedTuple):
    """What a strategy came to."""

    improvements: list[Improvement]
    """The first one is the start."""
    moves: int
    """Of annealing."""
    failed: int
    """Configurations that the target could not run."""

    def followed_by(self, later: "Verified") -> "Verified":
        """With what came of going on from the last improvement. Its runtime is summed up anew there, so what is faster
        by no more than rounding is left out."""
        fastest_s = self.improvements[-1].seconds
        faster = [one for one in later.improvements[1:] if one.seconds < fastest_s]
        return Verified(self.improvements + faster, self.moves + later.moves, self.failed + later.failed)


Search = Callable[[int, KernelPrices, np.ndarray], Annealing]
"""Annealing on corrected prices from a configuration; the first argument numbers the searches from 1."""


def verify(
    rules: GroupingRules,
    account: Account,
    prices: KernelPrices,
    start: np.ndarray,
    first: Annealing,
    search_again: Search,
) -> Verified:
    """Run what `first` found, then what further searches find, until the budget is spent or nothing more is promised.

    `start`: bool[n], whose kernels the account knows.
    """
    descent = _Descent(rules, account, corrected(account, prices), start)
    annealing, moves = first, first.moves
    for number in range(1, MOST_SEARCHES + 2):
        before = len(account.compiled)
        for found in annealing.found:
            descent.towards(found)
        if account.is_spent or number > MOST_SEARCHES or (number > 1 and len(account.compiled) == before):
            break
        annealing = search_again(number, corrected(account, prices), descent.current.grouping.fused())
        moves += annealing.moves
    return Verified(descent.improvements, moves, descent.failed)


def corrected(account: Account, prices: KernelPrices) -> KernelPrices:
    """Prices that are the target's for kernels that it has run, else the model's times a factor of the kernel's class.

    The factor is what the target took for all kernels of the class that it has run, over what the model says of them
    (of Kaufman et al., MLSys 2021, appendix: how the analytical model's estimates become seconds).
    """
    measured = account.by_fingerprint()
    kernels = prices.kernels
    both = [n for n, name in enumerate(kernels.fingerprint) if measured.get(name, inf) < inf]
    prices.learn_numbers(both)
    factor = np.ones(len(KERNEL_CLASSES))
    if both:
        names = [kernels.fingerprint[number] for number in both]
        target_s = np.array([measured[name] for name in names])
        model_s = np.array([prices.of_fingerprint[name] for name in names])
        told = np.isfinite(model_s)
        each = kernels.kernels(both).kernel_class[told]
        took, told_s = (np.bincount(each, seconds[told], len(factor)) for seconds in (target_s, model_s))
        overall = took.sum() / told_s.sum() if told_s.sum() > 0 else 1.0
        factor = np.divide(took, told_s, out=np.full(len(factor), overall), where=told_s > 0)

    def price(new: Kernels) -> np.ndarray:
        return prices.price(new) * factor[new.kernel_class]

    out = KernelPrices(kernels, price)
    known = [n for n, name in enumerate(kernels.fingerprint) if name in prices.of_fingerprint]
    if known:
        factors = factor[kernels.kernels(known).kernel_class].tolist()
        for number, each_factor in zip(known, factors, strict=True):
            name = kernels.fingerprint[number]
            out.of_fingerprint[name] = prices.of_fingerprint[name] * each_factor
    out.of_fingerprint |= measured
    return out


class _Descent:
    """The best configuration so far, on its way to proposed ones by the parts of them that hold what they promise."""

    def __init__(self, rules: GroupingRules, account: Account, prices: KernelPrices, start: np.ndarray):
        self.rules, self.account, self.prices = rules, account, prices
        self.current = Chain(Grouping(rules, start))
        self.current.begin(account.seconds)
        self.improvements = [Improvement(account.spent_s, self.current.seconds, np.array(start, dtype=bool))]
        self.failed = 0

    def towards(self, found: Found) -> None:
        """Take the parts of a proposal that are faster on the target, those that promise the most a second first."""
        seconds = self.current.seconds
        self.current = Chain(Grouping(self.rules, self.current.grouping.fused()))
        self.current.seconds = seconds
        pieces = parts(self.current.grouping, Grouping(self.rules, found.fuse))
        candidates = {nodes for piece in pieces for nodes in (piece, *((node,) for node in piece))}
        while candidates and not self.account.is_spent:
            best = self._most_promising(sorted(candidates))
            if best is None:
                return
            nodes, change = best
            candidates.discard(nodes)
            if self._is_faster(change):
                candidates = {tuple(n for n in other if n not in nodes) for other in candidates} - {()}

    def _most_promising(self, candidates: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], Change] | None:
        changes = [self.current.grouping.after(nodes) for nodes in candidates]
        self.prices.learn(
            state for change in changes for states in (change.removed, change.added) for state in states.values()
        )
        promised: dict[frozenset[int], list[tuple[float, int]]] = {}
        for place, change in enumerate(changes):
            gain = self.current.seconds - self.current.seconds_after(change, self.prices.of_state)
            if gain > LEAST_GAIN * self.current.seconds:
                promised.setdefault(self.account.unknown(change.added.values()), []).append((gain, place))
        best, most = None, 0.0
        for new, gains in promised.items():
            gains.sort(reverse=True)
            first = gains[0][1]
            cost_s = self.account.expected_s(changes[first].added.values(), self.prices.of_state) if new else 0.0
            a_second = _of_all(gains, candidates) / (cost_s + 1e-3)
            if a_second > most:
                best, most = (candidates[first], changes[first]), a_second
        return best

    def _is_faster(self, change: Change) -> bool:
        """Run the change on the target and take it if it is faster."""
        within = self.account.spend(change.added.values())
        self.prices.replace(self.account.by_fingerprint())
        if not within:
            return False
        after = self.current.seconds_after(change, self.account.seconds)
        self.failed += after == inf
        if after >= self.current.seconds:
            return False
        self.current.take(change, after)
        self.improvements.append(Improvement(self.account.spent_s, after, np.array(self.current.grouping.fuse)))
        return True


def _of_all(gains: Sequence[tuple[float, int]], candidates: Sequence[tuple[int, ...]]) -> float:
    """Seconds gained by all changes that wait for the same kernels, such as the same one in equal blocks; of those that
    share instructions the best. `gains`: each with the place of its candidate, the largest first."""
    counted: set[int] = set()
    total = 0.0
    for gain, place in gains:
        if counted.isdisjoint(candidates[place]):
            counted.update(candidates[place])
            total += gain
    return total


def parts(current: Grouping, wanted: Grouping) -> list[tuple[int, ...]]:
    """Instructions to flip in `current` to come to `wanted`, cut into parts that change different kernels.

    Flags of `current` must all have an effect, see :meth:`Grouping.fused`.
    """
    rules = current.rules
    here, there = current.groups(), wanted.groups()
    differing = np.flatnonzero(current.fused() != wanted.fused()).tolist()
    parent = {node: node for node in differing}

    def top(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    changed_by: dict[tuple[int, int], int] = {}
    for node in differing:
        for place in (node, *rules.readers[node]):
            for kernel in ((0, int(here[place])), (1, int(there[place]))):
                parent[top(node)] = top(changed_by.setdefault(kernel, node))
    found: dict[int, list[int]] = {}
    for node in differing:
        found.setdefault(top(node), []).append(node)
    return [tuple(nodes) for nodes in found.values()]
