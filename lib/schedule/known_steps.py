"""Results that the rows of a descent share: what a step computes, and what a row was found to take.

Rows with other loop orders, neighbours that differ in a loop that both cut, and a second descent ask for the same again
and again. Both tables are direct-mapped: a newer result takes the place of an older one, which is worked out anew if it
is asked for once more. So they change no result, only the time.
"""

from typing import NamedTuple

import numpy as np

from lib.cost.pipeline import compute_mask
from lib.cost.tile_step import PLACEMENTS
from lib.schedule.best import DATAFLOWS
from lib.schedule.candidates import MOST_COMBINATIONS
from lib.schedule.loops import LOOP_ORDERS
from lib.schedule.uncounted import uncounted

STEPS, ROWS = 1 << 10, 1 << 12
"""Places of the tables, powers of two."""
_MIX = 0x1E3779B97F4A7C15
"""An odd number whose products spread over all bits."""
DATAFLOW, KERNEL = 8, 9
"""Columns of `step` after the extents of the step's tile."""
TAKEN, BOUND, SECONDS = range(3)
"""Columns of `found`: bytes of both sets of tiles, infinite where they do not fit; the largest lower bound that is
known, launch left out; seconds, NaN where the row was not priced."""


class KnownSteps(NamedTuple):
    """Working space that outlives a kernel; a kernel finds only what is its own."""

    step: np.ndarray
    """int64[STEPS, 10] extents of a step's tile, dataflow, kernel + 1; 0 where there is none."""
    compute: np.ndarray
    """float64[STEPS, 2, 8] of :func:`lib.cost.tile_step.compute_step`."""
    row: np.ndarray
    """int64[ROWS] number of a row as :func:`row_number` gives it; 0 where there is none."""
    found: np.ndarray
    """float64[ROWS, 3]"""


def make_known_steps() -> KnownSteps:
    """Empty tables."""
    return KnownSteps(
        np.zeros((STEPS, 10), dtype=np.int64), np.empty((STEPS, 2, 8)), np.zeros(ROWS, dtype=np.int64),
        np.empty((ROWS, 3)),
    )  # fmt: skip


@uncounted()
def compute_known_mask(model, k, mask, dataflow, splits, array, datapath, workspace, known) -> None:
    """:func:`lib.cost.pipeline.compute_mask`, unless the kernel had a step on such a tile before."""
    tile, compute = workspace.costs.tile[mask], workspace.costs.compute[mask]
    place = np.int64(dataflow)
    for slot in range(8):
        place = (place ^ tile[slot]) * _MIX
    place = place >> 40 & STEPS - 1
    step, kept = known.step[place], known.compute[place]
    same = step[DATAFLOW] == dataflow and step[KERNEL] == k + 1
    for slot in range(8):
        same = same and step[slot] == tile[slot]
    if same:
        for complete in range(2):
            for part in range(8):
                compute[complete, part] = kept[complete, part]
        return
    compute_mask(model, k, mask, dataflow, splits, array, datapath, workspace)
    for slot in range(8):
        step[slot] = tile[slot]
    step[DATAFLOW], step[KERNEL] = dataflow, k + 1
    for complete in range(2):
        for part in range(8):
            kept[complete, part] = compute[complete, part]


@uncounted()
def row_number(k, digits, counts, dataflow, order, resident) -> int:
    """Tells the row of a kernel with the candidates int64[8] `digits` of int64[8] `counts` from every other."""
    tile = np.int64(0)
    for slot in range(8):
        tile = tile * counts[slot] + digits[slot]
    number = np.int64(k + 1) * MOST_COMBINATIONS + tile
    return ((number * len(LOOP_ORDERS) + order) * DATAFLOWS + dataflow) * PLACEMENTS + resident


@uncounted()
def row_place(number) -> int:
    """Where a row lies in the table."""
    return number * _MIX >> 40 & ROWS - 1
