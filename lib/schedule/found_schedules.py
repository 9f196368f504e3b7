"""The rows of every kernel that a descent ends with, with their seconds under every placement."""

from typing import Any, NamedTuple

import numpy as np

from lib.cost.matrix_unit import pe_splits
from lib.cost.pipeline import PART_NAMES, lay_out_row, move_row, move_row_everywhere, set_step_tiles
from lib.cost.tile_step import PLACEMENTS
from lib.program.kernels import GROUP
from lib.schedule.descent_row import set_tile
from lib.schedule.known_steps import compute_known_mask
from lib.schedule.row_front import MOST_ROWS
from lib.schedule.schedules import Schedules, schedules_for_tiles
from lib.schedule.uncounted import uncounted

NO_WAIT = 1e-3
"""Share of its time below which a row waits for DRAM so little that it counts as not waiting in any placement."""


class FoundSchedules(NamedTuple):
    """Up to MOST_ROWS rows of each of k kernels; the first is the fastest alone."""

    rows: np.ndarray
    """int64[k] how many there are; 0 where no tile fits."""
    tile: np.ndarray
    """int32[k, 8, 8]"""
    dataflow: np.ndarray
    """uint8[k, 8]"""
    loop_order: np.ndarray
    """uint8[k, 8]"""
    seconds: np.ndarray
    """float64[k, 8, 8] by row and by the bits of the operand roles that stay on chip, as if there were room for
    them."""
    parts: np.ndarray
    """float64[k, 8, len(PART_NAMES)] with everything in DRAM."""
    tried: np.ndarray
    """int64[2] rows that were looked at, and those of them that were priced."""
    least_s: np.ndarray
    """float64[1] what all kernels take at least, where that is more than enough; else 0."""

    @property
    def alone_s(self) -> np.ndarray:
        """float64[k] seconds of the fastest row with everything in DRAM; NaN where there is none."""
        return np.where(self.rows > 0, self.seconds[:, 0, 0], np.nan)

    def choices(self) -> tuple[Schedules, np.ndarray, np.ndarray]:
        """Equally many rows a kernel, kernel after kernel, the first in place of those that a kernel has not; their
        seconds (float64[k, r, 8]) and parts (float64[k, r, 16])."""
        most = int(self.rows.max(initial=1))
        kernel = np.arange(len(self.rows))
        place = np.arange(most) * (np.arange(most) < self.rows[:, None])
        chosen = kernel[:, None], place
        rows = schedules_for_tiles(np.repeat(kernel, most), self.tile[chosen].reshape(-1, 8))
        rows = rows._replace(dataflow=self.dataflow[chosen].ravel(), loop_order=self.loop_order[chosen].ravel())
        return rows, self.seconds[chosen], self.parts[chosen]


def nothing_found(count: int, tried: np.ndarray) -> FoundSchedules:
    """For `count` kernels, to be filled; `tried`: int64[2] that the descent counts in."""
    return FoundSchedules(
        np.zeros(count, dtype=np.int64), np.ones((count, MOST_ROWS, 8), dtype=np.int32),
        np.zeros((count, MOST_ROWS), dtype=np.uint8), np.zeros((count, MOST_ROWS), dtype=np.uint8),
        np.full((count, MOST_ROWS, PLACEMENTS), np.nan), np.zeros((count, MOST_ROWS, len(PART_NAMES))), tried,
        np.zeros(1),
    )  # fmt: skip


@uncounted()
def price_rows(kernels, k, rows, several, arrays, datapath, workspace, room, found) -> None:
    """Fill the entries of kernel `k` from the front of `room`."""
    model, front = kernels.model, room.front
    splits: Any = pe_splits(datapath, np.int64(model.loops[k, GROUP]), np.int64(0), np.int64(0))
    for row in range(rows):
        set_tile(kernels, k, front.tile[row], workspace.tile)
        for slot in range(8):
            found.tile[k, row, slot] = workspace.tile[slot]
        dataflow, order = front.choice[row, 0], front.choice[row, 1]
        found.dataflow[k, row], found.loop_order[k, row] = dataflow, order
        laid_out = lay_out_row(model, k, order, workspace)
        set_step_tiles(laid_out, workspace)
        for mask in range(1 << laid_out.edge_bits):
            compute_known_mask(
                model, k, mask, dataflow, splits, arrays[dataflow], datapath, workspace, room.known
            )  # fmt: skip
        seconds, parts = found.seconds[k, row], found.parts[k, row]
        if not several:
            seconds[0] = move_row(model, k, np.int64(0), datapath, laid_out, workspace, parts)
            continue
        move_row_everywhere(model, k, datapath, laid_out, workspace, parts)
        every = PLACEMENTS - 1
        waits = workspace.seconds[every] < workspace.seconds[0] * (1.0 - NO_WAIT)
        for bits in range(PLACEMENTS):  # where it waits for DRAM in no placement, the time is that without any
            seconds[bits] = workspace.seconds[bits if waits or bits == every else 0]
    found.rows[k] = rows
