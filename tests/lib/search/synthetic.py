"""A function over a space of lists whose best point is known, with a limit that most points exceed."""

import math
from collections.abc import Callable

import numpy as np

from lib.search.outcome import Outcome
from lib.search.space import Point, Space
from tests.lib.search.table_3 import table_3

SIZES = ("pes_x", "pes_y", "systolic_rows", "systolic_columns", "l1_input_bytes", "global_buffer_bytes")
"""Parameters that the limit adds up."""


def problem(seed: int) -> tuple[Space, Callable[..., Outcome]]:
    """Table 3 and an objective: 1 at a point drawn from `seed`, less by the distance to it along every parameter, names
    by whether they are equal; at most half of the largest sum of SIZES is allowed, which the best point uses up."""
    space = table_3()
    rng = np.random.default_rng(seed)
    target = rng.integers(space.counts)
    sized = np.array([name in SIZES for name in space.values])
    most = int((space.counts - 1)[sized].sum() * 0.35)
    while target[sized].sum() != most:
        at = rng.choice(np.flatnonzero(sized))
        step = int(np.sign(most - target[sized].sum()))
        target[at] = np.clip(target[at] + step, 0, space.counts[at] - 1)
    weight = rng.uniform(0.5, 1.5, len(target))

    def evaluate(point: Point, best: float | None = None) -> Outcome:
        positions = space.positions(point)
        away = np.where(space.named, positions != target, np.abs(positions - target) / np.maximum(space.counts - 1, 1))
        over = (positions[sized].sum() - most) / most
        return Outcome(math.exp(-float(weight @ away)), {"size": float(over)})

    return space, evaluate
