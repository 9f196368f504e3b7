"""One schedule row of a descent: priced only if its lower bound says that it may be faster than what there is."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.pipeline import PART_NAMES, compute_mask, lay_out_row, move_row, set_step_tiles
from lib.cost.tile_step import StepModel, fits_beside_residents
from lib.program.kernels import INPUT, OUTPUT, WEIGHT
from lib.schedule.best import cut_loops
from lib.schedule.lower_bound import TileBounds, compute_bound, room_for_tile_bounds, set_tile_bounds, transfer_bound
from lib.schedule.node_table import TileLimits, tile_bytes, within
from lib.schedule.row_front import RowFront, keep_row, make_row_front


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
    counts: np.ndarray
    """int64[8] candidates of each loop."""
    nest: np.ndarray
    """int64[4, 8] loops that are cut, outermost first, by loop order; the last is that of the tile that is tried."""
    parts: np.ndarray
    """float64[16]"""
    tried: np.ndarray
    """int64[2] rows that were looked at and those that were priced."""
    bounds: TileBounds
    front: RowFront


def make_descent_room(operands: int) -> DescentRoom:
    """For kernels of up to `operands` operands."""
    return DescentRoom(
        np.empty(8, dtype=np.int64), np.empty(8, dtype=np.int64), np.empty(8, dtype=np.int64),
        np.empty((4, 8), dtype=np.int64), np.empty(len(PART_NAMES)), np.zeros(2, dtype=np.int64),
        room_for_tile_bounds(operands), make_row_front(),
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


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
def set_tile(kernels, k, digits, tile) -> None:
    """Set the first eight of int64[9] `tile` to the candidates int64[8] `digits`."""
    for slot in range(8):
        tile[slot] = kernels.candidate_extent[kernels.candidate_offset[8 * k + slot] + digits[slot]]


@njit(cache=True, error_model="numpy")
def seconds_if_faster(kernels, setting, dataflow, order, best, arrays, datapath, workspace, room) -> float:
    """Seconds of the tile of `room.digits`; infinite where it does not fit, or can't be faster than `best`."""
    model, k, tile, bounds = kernels.model, setting.k, workspace.tile, room.bounds
    room.tried[0] += 1
    set_tile(kernels, k, room.digits, tile)
    taken = room_of_tile(model.operands, k, tile, setting.resident, setting.limits)
    if taken > setting.budget:
        return np.inf
    first_load = set_tile_bounds(model, k, tile, setting.resident, datapath, bounds)
    nest = room.nest[3]
    depth = cut_loops(model.nested[k], order, model.loops[k], tile, nest)
    threshold = best - model.constants.kernel_launch_s
    steps = 1.0
    for level in range(depth):
        steps *= bounds.trips[nest[level]]
    if first_load + steps * setting.control_s + setting.products / setting.peak >= threshold:
        return np.inf
    if transfer_bound(model, k, nest, depth, bounds, datapath) >= threshold:
        return np.inf
    # What the steps away from all edges compute, then, where that may do, the others and what moves.
    laid_out = lay_out_row(model, k, order, workspace)
    set_step_tiles(laid_out, workspace)
    compute_mask(model, k, 0, dataflow, setting.splits, arrays[dataflow], datapath, workspace)
    computing = compute_bound(
        workspace.costs.compute[0], nest, depth, tile, setting.output_loops, bounds, setting.products,
        setting.control_s, setting.peak,
    )  # fmt: skip
    if first_load + computing >= threshold:
        return np.inf
    if not fits_beside_residents(model, k, tile, setting.resident, laid_out.partial_sums, setting.limits):
        return np.inf
    for mask in range(1, 1 << laid_out.edge_bits):
        compute_mask(model, k, mask, dataflow, setting.splits, arrays[dataflow], datapath, workspace)
    room.tried[1] += 1
    seconds = move_row(model, k, setting.resident, datapath, laid_out, workspace, room.parts)
    if setting.several and setting.resident == 0:
        keep_row(room.front, room.digits, dataflow, order, seconds, taken)
    return seconds
