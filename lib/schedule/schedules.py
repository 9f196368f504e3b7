"""Schedule rows: how a kernel runs."""

from typing import NamedTuple

import numpy as np

WEIGHT_STATIONARY, OUTPUT_STATIONARY, INPUT_STATIONARY = range(3)
"""Dataflows: what stays in the systolic array while the rest streams."""

SPLIT_AXES = ("pixels", "out_c", "groups", "contraction")
"""What an axis of the PE grid can split of a matrix op; the contraction: filter taps first, then input channels."""


class Schedules(NamedTuple):
    """r rows. A row's arrays are indexed alike; several rows may belong to one kernel."""

    kernel: np.ndarray
    """int32[r] index into the Kernels."""
    tile: np.ndarray
    """int32[r, 8] extent of each canonical loop held in the outermost on-chip level there is."""
    dataflow: np.ndarray
    """uint8[r] WEIGHT_STATIONARY, OUTPUT_STATIONARY or INPUT_STATIONARY."""
    loop_order: np.ndarray
    """uint8[r] position in `lib.schedule.loops.LOOP_ORDERS`."""
    spatial: np.ndarray
    """int16[r, 4] unrolling over PE grid x, y and array rows, columns; 0: by the default rule. Of the grid's axes: 1 +
    the position in SPLIT_AXES."""
    inner_tile: np.ndarray
    """int32[r, 2, 8] tiles at L2 and L1 level; 0: by the default rule."""
    padded: np.ndarray
    """int32[r, 8] loop extents after padding; 0: not padded."""
    resident: np.ndarray
    """uint8[r] bits of the operand roles kept in the global buffer between kernels: 1 input, 2 weight, 4 output."""


def schedules_for_tiles(kernel: np.ndarray, tile: np.ndarray) -> Schedules:
    """Rows with the given tiles (int32[r, 8]) and everything else as in the default schedule."""
    rows = len(kernel)
    return Schedules(
        kernel=np.asarray(kernel, dtype=np.int32),
        tile=np.ascontiguousarray(tile, dtype=np.int32),
        dataflow=np.full(rows, WEIGHT_STATIONARY, dtype=np.uint8),
        loop_order=np.zeros(rows, dtype=np.uint8),
        spatial=np.zeros((rows, 4), dtype=np.int16),
        inner_tile=np.zeros((rows, 2, 8), dtype=np.int32),
        padded=np.zeros((rows, 8), dtype=np.int32),
        resident=np.zeros(rows, dtype=np.uint8),
    )
