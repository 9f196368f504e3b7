"""Walks begin at the default fusion and go flip by flip; annealing ends at what is fast."""

import numpy as np

from lib.fusion import FusionSpace
from lib.fusion.walk import MOVES, annealed, random_walk
from tests.lib.dataset.test_tasks import two_blocks


def test_a_walk_flips_at_most_a_node_a_move():
    space = FusionSpace(two_blocks())
    walk = list(random_walk(space, 5, np.random.default_rng(1)))
    assert len(walk) == 5
    assert all(not (fuse & ~space.fusible).any() for fuse in walk)
    for before, after in zip([space.default(), *walk], walk, strict=False):
        changed = int((before != after).sum())
        assert changed <= MOVES
        assert changed % 2 == MOVES % 2  # each move flips one, and a node flipped twice is as before


def test_annealing_finds_the_least_of_a_sum():
    """Each fused node saves a tenth of a second: the fewest seconds are all nodes fused. A random start has fewer."""
    space = FusionSpace(two_blocks())
    nodes = int(space.fusible.sum())

    def seconds_of(fuse: np.ndarray) -> float:
        return 1.0 + 0.1 * (nodes - int(fuse.sum()))

    found = list(annealed(space, 20, np.random.default_rng(3), seconds_of))
    assert len(found) == 20
    assert seconds_of(found[-1]) == 1.0


def test_a_configuration_that_can_not_run_is_never_entered():
    space = FusionSpace(two_blocks())
    first = int(np.flatnonzero(space.fusible)[0])

    def seconds_of(fuse: np.ndarray) -> float:
        return float("inf") if fuse[first] != began[first] else 1.0

    began = space.random(np.random.default_rng(5))  # the start of the annealing with this seed
    found = list(annealed(space, 10, np.random.default_rng(5), seconds_of))
    assert all(fuse[first] == began[first] for fuse in found)
    assert any((fuse != began).any() for fuse in found)
