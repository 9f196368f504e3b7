"""The rows of a kernel among which residency may choose: a small Pareto front of seconds and bytes of their tiles."""

from typing import NamedTuple

import numpy as np

from lib.schedule.uncounted import uncounted

MOST_ROWS = 8
"""Rows that are kept of a kernel, one of them for operands that stay on chip."""


class RowFront(NamedTuple):
    """Rows of one kernel, filled anew for each."""

    tile: np.ndarray
    """int64[8, 8] candidates of each loop."""
    choice: np.ndarray
    """int64[8, 2] dataflow and loop order."""
    cost: np.ndarray
    """float64[8, 2] seconds with everything in DRAM, and bytes of both sets of tiles."""
    rows: np.ndarray
    """int64[1] how many there are."""


def make_row_front() -> RowFront:
    """Without any row."""
    return RowFront(
        np.empty((MOST_ROWS, 8), dtype=np.int64), np.empty((MOST_ROWS, 2), dtype=np.int64), np.empty((MOST_ROWS, 2)),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@uncounted()
def set_row(front, row, digits, dataflow, order, seconds, taken) -> None:
    """Write a row."""
    for slot in range(8):
        front.tile[row, slot] = digits[slot]
    front.choice[row, 0], front.choice[row, 1] = dataflow, order
    front.cost[row, 0], front.cost[row, 1] = seconds, taken


@uncounted()
def copy_row(front, source, target) -> None:
    """Write row `target` over by row `source`."""
    set_row(
        front, target, front.tile[source], front.choice[source, 0], front.choice[source, 1], front.cost[source, 0],
        front.cost[source, 1],
    )  # fmt: skip


@uncounted()
def keep_row(front, digits, dataflow, order, seconds, taken) -> None:
    """Add a row, unless one of the front takes neither more time nor more room; drop those that it is better than."""
    cost, count = front.cost, front.rows[0]
    for row in range(count):
        if cost[row, 0] <= seconds and cost[row, 1] <= taken:
            return
    kept = 0
    for row in range(count):
        if seconds <= cost[row, 0] and taken <= cost[row, 1]:
            continue
        if kept < row:
            copy_row(front, row, kept)
        kept += 1
    if kept == MOST_ROWS - 1:
        kept = _drop_row(cost, kept, front)
    set_row(front, kept, digits, dataflow, order, seconds, taken)
    front.rows[0] = kept + 1


@uncounted()
def _drop_row(cost, count, front) -> int:
    """Drop the row that one with less room replaces at the least loss of time, never the fastest."""
    fastest = np.inf
    for row in range(count):
        fastest = min(fastest, cost[row, 0])
    least, dropped = np.inf, 0
    for row in range(count):
        loss = np.inf
        for other in range(count):
            if cost[other, 1] < cost[row, 1]:
                loss = min(loss, cost[other, 0] / cost[row, 0])
        if loss < least and cost[row, 0] > fastest:
            least, dropped = loss, row
    if dropped < count - 1:
        copy_row(front, count - 1, dropped)
    return count - 1


@uncounted()
def fastest_first(front) -> None:
    """Exchange the first row and the fastest."""
    fastest = 0
    for row in range(front.rows[0]):
        if front.cost[row, 0] < front.cost[fastest, 0]:
            fastest = row
    if fastest > 0:
        copy_row(front, 0, MOST_ROWS - 1)
        copy_row(front, fastest, 0)
        copy_row(front, MOST_ROWS - 1, fastest)
