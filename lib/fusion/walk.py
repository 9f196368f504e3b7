"""Fusion configurations one move apart: random walks and simulated annealing. A move flips one fusible node."""

from collections.abc import Callable, Iterator

import numpy as np

from lib.fusion.space import FusionSpace

MOVES = 16
"""Moves from one configuration that is kept to the next: one move alone changes a few kernels of a program."""
FIRST_TEMPERATURE, LAST_TEMPERATURE = 0.02, 0.0005
"""Of annealing, as a share of the program's runtime: what a move may cost and still be taken 37 % of the times. One
move changes a program's runtime by about as much as the larger one at most."""


def random_walk(space: FusionSpace, configurations: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Configurations, bool[n] each, `MOVES` moves apart, of a walk that begins at the default fusion."""
    fuse, nodes = space.default(), np.flatnonzero(space.fusible)
    for _ in range(configurations if len(nodes) else 0):
        for node in rng.choice(nodes, size=MOVES):
            fuse[node] = not fuse[node]
        yield fuse.copy()


def annealed(
    space: FusionSpace, configurations: int, rng: np.random.Generator, seconds_of: Callable[[np.ndarray], float]
) -> Iterator[np.ndarray]:
    """Configurations, bool[n] each, that simulated annealing passes through, `MOVES` tried moves apart.

    It begins at a random configuration and minimises `seconds_of` a configuration (infinite: it can't run). A slower
    one is taken with the chance exp(-slow-down / temperature), the temperature falling geometrically.
    """
    nodes = np.flatnonzero(space.fusible)
    moves = MOVES * configurations if len(nodes) else 0
    temperature = np.geomspace(FIRST_TEMPERATURE, LAST_TEMPERATURE, max(moves, 1))
    fuse = space.random(rng)
    seconds = seconds_of(fuse)
    for move in range(moves):
        node, chance = rng.choice(nodes), rng.random()
        fuse[node] = not fuse[node]
        after = seconds_of(fuse)
        if after <= seconds or chance < np.exp(-(after / seconds - 1.0) / temperature[move]):
            seconds = after
        else:
            fuse[node] = not fuse[node]
        if (move + 1) % MOVES == 0:
            yield fuse.copy()
