"""Simulated annealing of many chains on a model: all new kernels of a round are priced in one batch."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from lib.autotune.fusion_chain import MOST_FLIPS, Chain, is_taken
from lib.autotune.fusion_kernels import KernelPrices
from lib.fusion.grouping import Grouping, GroupingRules
from lib.journal import Journal

ROUNDS_A_RECORD = 100
"""Rounds between records of the journal."""
LEAST_BATCH = 24
"""Moves that are priced together at least: few chains price what their next moves would be, were this one not taken.
A model takes about as long for twenty kernels as for one."""


class Found(NamedTuple):
    """A configuration that a model finds fast."""

    fuse: np.ndarray
    """bool[n]"""
    seconds: float
    """Of the program, by the model."""


class Annealing(NamedTuple):
    """What annealing found."""

    found: list[Found]
    """The best of each chain, the fastest first, each configuration once."""
    moves: int
    """Moves tried."""
    failed: int
    """Moves to configurations with a kernel that can't run; they were never taken."""


def anneal(
    rules: GroupingRules,
    prices: KernelPrices,
    starts: Sequence[np.ndarray],
    rounds: int,
    seed: Sequence[int],
    journal: Journal | None = None,
) -> Annealing:
    """One chain from each of `starts` (bool[n]), `rounds` moves each; the temperature falls geometrically.

    Round r draws from the stream (seed, r) alone, so an annealing that is continued from its journal equals one that
    was never stopped. A chain whose start can't run is at infinity and takes the first moves that can.
    """
    chains = _chains(rules, starts)
    prices.learn(state for chain in chains for state in chain.grouping.kernels.values())
    for chain in chains:
        chain.begin(prices.of_state)
    first, failed = _restored(chains, rules, prices, journal) if journal is not None else (0, 0)
    for number in range(first, rounds if rules.nodes else 0):
        draws, chance = _drawn(seed, number, len(chains))
        changes = [chain.proposed(draws[place]) for place, chain in enumerate(chains)]
        if not all(state in prices.of_state for change in changes for state in change.added.values()):
            last = min(number + LEAST_BATCH // len(chains), rounds)
            ahead = [_drawn(seed, later, len(chains))[0] for later in range(number + 1, last)]
            later = [chain.proposed(moves[place]) for moves in ahead for place, chain in enumerate(chains)]
            prices.learn(state for change in (*changes, *later) for state in change.added.values())
        for chain, change, draw in zip(chains, changes, chance, strict=True):
            after = chain.seconds_after(change, prices.of_state)
            if after == inf:
                failed += 1
            elif is_taken(chain.seconds, after, number / rounds, draw):
                chain.take(change, after)
        if journal is not None and ((number + 1) % ROUNDS_A_RECORD == 0 or number + 1 == rounds):
            _record(chains, prices, journal, number + 1, failed)
    return Annealing(_distinct(chains, rules), rounds * len(chains) if rules.nodes else 0, failed)


def _chains(rules: GroupingRules, starts: Sequence[np.ndarray]) -> list[Chain]:
    """A chain from each start; equal starts are grouped once."""
    grouped = {key: Grouping(rules, fuse) for key, fuse in {fuse.tobytes(): fuse for fuse in starts}.items()}
    return [Chain(grouped[fuse.tobytes()].copy()) for fuse in starts]


def _drawn(seed: Sequence[int], number: int, chains: int) -> tuple[np.ndarray, list[float]]:
    """Of a round: float64[chains, 2 * MOST_FLIPS] that make the moves, and each chain's chance."""
    rng = np.random.default_rng([*seed, number])
    return rng.random((chains, 2 * MOST_FLIPS)), rng.random(chains).tolist()


def _distinct(chains: Sequence[Chain], rules: GroupingRules) -> list[Found]:
    found: dict[bytes, Found] = {}
    for chain in sorted(chains, key=lambda chain: chain.best_seconds):
        if chain.best_seconds < inf:
            fused = np.array(chain.best_fuse, dtype=bool)
            found.setdefault(fused.tobytes(), Found(fused, chain.best_seconds))
    return list(found.values())


def _record(chains: Sequence[Chain], prices: KernelPrices, journal: Journal, rounds: int, failed: int) -> None:
    """Prices too: a model's may depend in the last digits on the batch in which a kernel was priced."""
    known = prices.of_fingerprint
    arrays = {
        "fuse": np.array([chain.grouping.fuse for chain in chains], dtype=bool),
        "best_fuse": np.array([chain.best_fuse for chain in chains], dtype=bool),
        "seconds": np.array([[chain.seconds, chain.best_seconds] for chain in chains]),
        "fingerprint": np.array([name.encode() for name in known], dtype="S32"),
        "price": np.array(list(known.values())),
    }
    journal.append({"rounds": rounds, "failed": failed}, arrays)


def _restored(chains: list[Chain], rules: GroupingRules, prices: KernelPrices, journal: Journal) -> tuple[int, int]:
    """Rounds done and moves failed, after the chains have been put where the journal left them."""
    arrays = journal.arrays()
    if not arrays:
        return 0, 0
    names = (name.decode() for name in arrays["fingerprint"].tolist())
    prices.of_fingerprint |= dict(zip(names, arrays["price"].tolist(), strict=True))
    for place in range(len(chains)):
        chain = chains[place] = Chain(Grouping(rules, arrays["fuse"][place]))
        chain.best_fuse = arrays["best_fuse"][place].tolist()
        chain.seconds, chain.best_seconds = arrays["seconds"][place].tolist()
    prices.of_state.clear()
    prices.learn(state for chain in chains for state in chain.grouping.kernels.values())
    return journal.records[-1]["rounds"], journal.records[-1]["failed"]
