"""One schedule row of a descent: priced only if its lower bound says that it may be faster than what there is."""

from typing import NamedTuple

import numpy as np

from lib.cost.pipeline import lay_out_row, move_row, set_step_tiles
from lib.cost.tile_step import StepModel, fits_beside_residents
from lib.program.kernels import INPUT, OUTPUT, WEIGHT
from lib.schedule.best import cut_loops
from lib.schedule.known_steps import (
    BOUND,
    SECONDS,
    TAKEN,
    KnownSteps,
    compute_known_mask,
    make_known_steps,
    row_number,
    row_place,
)
from lib.schedule.lower_bound import TileBounds, compute_bound, room_for_tile_bounds, set_tile_bounds, transfer_bound
from lib.schedule.node_table import TileLimits, tile_bytes, within
from lib.schedule.row_front import RowFront, keep_row, make_row_front
from lib.schedule.uncounted import uncounted


class PreparedKernels(NamedTuple):
    """What the descent needs of kernels on one register tile, whatever the rest of the datapath is."""

    model: StepModel
    candidate_offset: np.ndarray
    """int64[8 k + 1], as :class:`lib.schedule.candidates.TileCandidates`."""
    candidate_extent: np.ndarray
    """int32[c]"""


class DescentRoom(NamedTuple):
    """Working space for one kernel at a time."""

    digits: np.ndarray
    """int64[8] the tile that is tried, as candidates of each loop."""
    best: np.ndarray
    """int64[8] the best one of this descent."""
    start: np.ndarray
    """int64[8] the one that a search begins with."""
    alone: np.ndarray
    """int64[8] the fastest with everything in DRAM."""
    counts: np.ndarray
    """int64[8] candidates of each loop."""
    nest: np.ndarray
    """int64[4, 8] loops that are cut, outermost first, by loop order; the last is that of the tile that is tried."""
    tried: np.ndarray
    """int64[2] rows that were looked at and those that were priced."""
    bounds: TileBounds
    front: RowFront
    known: KnownSteps


def make_descent_room(operands: int) -> DescentRoom:
    """For kernels of up to `operands` operands."""
    return DescentRoom(
        np.empty(8, dtype=np.int64), np.empty(8, dtype=np.int64), np.empty(8, dtype=np.int64),
        np.empty(8, dtype=np.int64), np.empty(8, dtype=np.int64),
        np.empty((4, 8), dtype=np.int64), np.zeros(2, dtype=np.int64), room_for_tile_bounds(operands),
        make_row_front(), make_known_steps(),
    )  # fmt: skip


class Setting(NamedTuple):
    """What the rows of one descent have in common."""

    k: int
    limits: TileLimits
    budget: float
    """Bytes that both sets of tiles of what moves may take."""
    resident: int
    """Bits of the operand roles that stay on chip."""
    splits: int
    products: float
    """Multiplications of the matrix op."""
    peak: float
    """Of them a second."""
    control_s: float
    """Of a step."""
    output_loops: int
    several: bool
    """Keep the rows that are met."""


@uncounted()
def room_of_tile(operands, k, tile, resident, limits) -> float:
    """Padded bytes of both sets of tiles of what is not resident; infinite where they do not fit."""
    inputs, weights, output = tile_bytes(operands, k, tile)
    if resident >> INPUT & 1:
        inputs = 0.0
    if resident >> WEIGHT & 1:
        weights = 0.0
    if resident >> OUTPUT & 1:
        output = 0.0
    return 2.0 * (inputs + weights + output) if within(inputs, weights, output, limits) else np.inf


@uncounted()
def set_tile(kernels, k, digits, tile) -> None:
    """Set the first eight of int64[9] `tile` to the candidates int64[8] `digits`."""
    for slot in range(8):
        tile[slot] = kernels.candidate_extent[kernels.candidate_offset[8 * k + slot] + digits[slot]]


@uncounted()
def seconds_if_faster(kernels, setting, dataflow, order, best, arrays, datapath, workspace, room) -> float:
    """Seconds of the tile of `room.digits`; infinite where it does not fit, or can't be faster than `best`."""
    model, k, tile, known = kernels.model, setting.k, workspace.tile, room.known
    room.tried[0] += 1
    number = row_number(k, room.digits, room.counts, dataflow, order, setting.resident)
    place = row_place(number)
    row = known.found[place]
    set_tile(kernels, k, room.digits, tile)
    if known.row[place] != number:
        known.row[place] = number
        row[TAKEN] = room_of_tile(model.operands, k, tile, setting.resident, setting.limits)
        row[BOUND], row[SECONDS] = -np.inf, np.nan
    threshold = best - model.constants.kernel_launch_s
    if row[TAKEN] > setting.budget or row[BOUND] >= threshold:
        return np.inf
    if np.isnan(row[SECONDS]):
        row[BOUND], row[SECONDS] = _bound_and_seconds(
            kernels, setting, dataflow, order, threshold, arrays, datapath, workspace, room
        )
        if np.isnan(row[SECONDS]):
            return np.inf
    if setting.several and setting.resident == 0:
        keep_row(room.front, room.digits, dataflow, order, row[SECONDS], row[TAKEN])
    return row[SECONDS]


@uncounted()
def _bound_and_seconds(
    kernels, setting, dataflow, order, threshold, arrays, datapath, workspace, room
) -> tuple[float, float]:  # fmt: skip
    """A lower bound of the row on the tile of `workspace`, launch left out, and its seconds: NaN where the bound is not
    below `threshold`, as it is of rows that do not fit."""
    model, k, tile, bounds, known = kernels.model, setting.k, workspace.tile, room.bounds, room.known
    first_load = set_tile_bounds(model, k, tile, setting.resident, datapath, bounds)
    nest = room.nest[3]
    depth = cut_loops(model.nested[k], order, model.loops[k], tile, nest)
    steps = 1.0
    for level in range(depth):
        steps *= bounds.trips[nest[level]]
    bound = first_load + steps * setting.control_s + setting.products / setting.peak
    if bound >= threshold:
        return bound, np.nan
    bound = max(bound, transfer_bound(model, k, nest, depth, bounds, datapath))
    if bound >= threshold:
        return bound, np.nan
    # What the steps away from all edges compute, then, where that may do, the others and what moves.
    laid_out = lay_out_row(model, k, order, workspace)
    set_step_tiles(laid_out, workspace)
    zero = np.int64(0)
    compute_known_mask(model, k, zero, dataflow, setting.splits, arrays[dataflow], datapath, workspace, known)
    computing = compute_bound(
        workspace.costs.compute[0], nest, depth, tile, setting.output_loops, bounds, setting.products,
        setting.control_s, setting.peak,
    )  # fmt: skip
    bound = max(bound, first_load + computing)
    if bound >= threshold:
        return bound, np.nan
    if not fits_beside_residents(model, k, tile, setting.resident, laid_out.partial_sums, setting.limits):
        return np.inf, np.nan
    for mask in range(1, 1 << laid_out.edge_bits):
        compute_known_mask(model, k, mask, dataflow, setting.splits, arrays[dataflow], datapath, workspace, known)
    room.tried[1] += 1
    return bound, move_row(model, k, setting.resident, datapath, laid_out, workspace, None)
