"""The best schedule of every kernel: tiles, dataflows and loop orders, priced by the simulator itself.

Which tiles are tried is fixed beforehand: the whole tile space (:mod:`lib.schedule.candidates`), a seeded sample of it,
or the caller's own. The result is the best row of that set, the same as if all were priced: rows are visited in the
order of a lower bound (:mod:`lib.schedule.lower_bound`), and the first bound above the best time ends the search.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.matrix_unit import pe_splits
from lib.cost.pe_memory import usable_arrays
from lib.cost.pipeline import PART_NAMES, make_workspace, price_row
from lib.cost.simulator_constants import SimulatorConstants
from lib.cost.tile_step import compute_step, step_model
from lib.hardware.datapath import Datapath, on_chip_bytes, processing_elements
from lib.program.kernels import GROUP, INPUT, OUTPUT, WEIGHT, Kernels
from lib.schedule.borrowed import borrowed
from lib.schedule.candidates import first_tile, next_tile, tile_candidates
from lib.schedule.loops import LOOP_ORDERS
from lib.schedule.lower_bound import (
    TileBounds,
    compute_bound,
    matrix_products,
    room_for_tile_bounds,
    set_tile_bounds,
    steady_steps,
    transfer_bound,
)
from lib.schedule.node_table import LOOPS_WALKED, set_extents, tile_bytes, tile_limits, within
from lib.schedule.schedules import Schedules, schedules_for_tiles
from lib.schedule.tiles import tile_space

DATAFLOWS = 3
ANY_DATAFLOW = (1 << DATAFLOWS) - 1
"""Bits of the dataflows that matrix ops may use."""
_SLOT_ORDER = np.arange(8, dtype=np.int64)
_ROUNDING = 1e-9
"""Bounds and times add up the same numbers in different orders."""


class BestSchedules(NamedTuple):
    """One entry a kernel."""

    schedules: Schedules
    """One row a kernel, in order. Where no tile fits: all extents 1."""
    seconds: np.ndarray
    """float64[k]; NaN where no tile fits."""
    considered: np.ndarray
    """int64[k] rows that the result is the best of: tiles that fit, times the loop orders and dataflows that make a
    difference."""
    priced: np.ndarray
    """int64[k] rows of those that the simulator priced; the bound ruled out the others."""


def best_schedules(
    kernels: Kernels, datapath: Datapath, *, limit: int | None = None, seed: int = 0, budget_bytes: int | None = None,
    resident: np.ndarray | None = None, constants: SimulatorConstants | None = None, dataflows: int = ANY_DATAFLOW,
) -> BestSchedules:  # fmt: skip
    """The best row of every kernel over its tile space, or over `limit` tiles of it: the default one and a sample drawn
    from `seed` (:func:`lib.schedule.tiles.tile_space`). Never slower than the default schedule within the budget.

    `budget_bytes`: what a kernel's tiles may take of the global buffer, both sets and padding to registers included, so
    that the rest may hold resident tensors; a kernel of which no tile is that small gets one of its smallest.
    `resident`: uint8[k] bits of the operand roles that stay in the global buffer; `dataflows`: bits of those that
    matrix ops may use. Raises ValueError where `limit` is
    below 1 or an op kind is not known.
    """
    if limit is not None:
        return best_of(
            kernels, tile_space(kernels, datapath, limit, seed), datapath, budget_bytes=budget_bytes, resident=resident,
            constants=constants, dataflows=dataflows,
        )  # fmt: skip
    candidates = tile_candidates(kernels, datapath)
    most = int(candidates.combinations().max(initial=0))
    found = _Found(kernels.number)
    _best_of_space(
        step_model(kernels, datapath, constants or SimulatorConstants()), candidates.offset, candidates.extent,
        _budget(budget_bytes), _residents(kernels, resident), np.int64(dataflows), datapath, make_workspace(),
        _room(kernels, most),
        *found.arrays(),
    )  # fmt: skip
    return found.result(resident)


def best_of(
    kernels: Kernels, tiles: Schedules, datapath: Datapath, *, budget_bytes: int | None = None,
    resident: np.ndarray | None = None, constants: SimulatorConstants | None = None, dataflows: int = ANY_DATAFLOW,
) -> BestSchedules:  # fmt: skip
    """The same over the tiles of the rows `tiles`, of which only `kernel` and `tile` are read."""
    order = np.argsort(tiles.kernel, kind="stable")
    counts = np.bincount(tiles.kernel, minlength=kernels.number)
    offset = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    found = _Found(kernels.number)
    _best_of_tiles(
        step_model(kernels, datapath, constants or SimulatorConstants()), offset, tiles.tile[order],
        _budget(budget_bytes), _residents(kernels, resident), np.int64(dataflows), datapath, make_workspace(),
        _room(kernels, int(counts.max(initial=0))), *found.arrays(),
    )  # fmt: skip
    return found.result(resident)


class _Found:
    """Arrays that the compiled search fills, one entry a kernel."""

    def __init__(self, count: int):
        self.tile = np.ones((count, 8), dtype=np.int32)
        self.dataflow = np.zeros(count, dtype=np.uint8)
        self.loop_order = np.zeros(count, dtype=np.uint8)
        self.seconds = np.full(count, np.nan)
        self.counted = np.zeros((count, 2), dtype=np.int64)

    def arrays(self):
        return self.tile, self.dataflow, self.loop_order, self.seconds, self.counted

    def result(self, resident: np.ndarray | None) -> BestSchedules:
        rows = schedules_for_tiles(np.arange(len(self.tile), dtype=np.int32), self.tile)
        rows = rows._replace(dataflow=self.dataflow, loop_order=self.loop_order)
        if resident is not None:
            rows = rows._replace(resident=resident.astype(np.uint8))
        return BestSchedules(rows, self.seconds, self.counted[:, 0].copy(), self.counted[:, 1].copy())


def _budget(budget_bytes: int | None) -> float:
    return np.inf if budget_bytes is None else float(budget_bytes)


def _residents(kernels: Kernels, resident: np.ndarray | None) -> np.ndarray:
    return np.zeros(kernels.number, dtype=np.int64) if resident is None else resident.astype(np.int64)


class _Room(NamedTuple):
    """Working space for the tiles of one kernel."""

    tiles: np.ndarray
    """int32[most, 8]"""
    bound: np.ndarray
    """float64[3 * most, 3] the row's bound, transfers in all and the first load, by tile and loop order."""
    row: np.ndarray
    """int64[3 * most] 3 * tile + loop order."""
    nest: np.ndarray
    """int64[3, 8] loops that are cut, outermost first, by loop order."""
    step: np.ndarray
    """float64[2, 8] compute of a step."""
    parts: np.ndarray
    """float64[16]"""
    bounds: TileBounds


def _room(kernels: Kernels, most: int) -> _Room:
    operands = int(np.diff(kernels.operand_offset).max(initial=0))
    return _Room(
        np.empty((most, 8), dtype=np.int32), np.empty((3 * most, 3)), np.empty(3 * most, dtype=np.int64),
        np.empty((3, 8), dtype=np.int64), np.empty((2, 8)), np.empty(len(PART_NAMES)), room_for_tile_bounds(operands),
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _best_of_space(model, offset, extent, budget, resident, dataflows, datapath, owned, owned_room, *found) -> None:
    """`owned`, `owned_room`: working space, which the caller keeps alive."""
    view, workspace, room, results = borrowed((model, owned, owned_room, found))
    limits = tile_limits(datapath)
    digits = np.empty(8, dtype=np.int64)
    for k in range(len(view.loops)):
        count = np.int64(0)
        first_tile(offset, extent, k, digits, workspace.tile)
        more = True
        while more:
            inputs, weights, output = tile_bytes(view.operands, k, workspace.tile)
            if resident[k] != 0 or within(inputs, weights, output, limits):
                for slot in range(8):
                    room.tiles[count, slot] = workspace.tile[slot]
                count += 1
            more = next_tile(offset, extent, k, digits, workspace.tile)
        _best_row(view, k, room.tiles[:count], budget, resident[k], dataflows, datapath, workspace, room, results)


@njit(cache=True, error_model="numpy")
def _best_of_tiles(model, offset, tiles, budget, resident, dataflows, datapath, owned, owned_room, *found) -> None:
    view, workspace, room, results = borrowed((model, owned, owned_room, found))
    every = borrowed(tiles)
    for k in range(len(view.loops)):
        own = every[offset[k] : offset[k + 1]]
        _best_row(view, k, own, budget, resident[k], dataflows, datapath, workspace, room, results)


@njit(cache=True, error_model="numpy", inline="always")
def _moving_bytes(model, k, tile, resident) -> float:
    """Padded bytes of both sets of tiles (int64[9]) of the roles that are not resident."""
    inputs, weights, output = tile_bytes(model.operands, k, tile)
    total = 0.0
    if not resident >> INPUT & 1:
        total += inputs
    if not resident >> WEIGHT & 1:
        total += weights
    if not resident >> OUTPUT & 1:
        total += output
    return 2.0 * total


@njit(cache=True, error_model="numpy", inline="always")
def cut_loops(nested, order, loops, tile, nest) -> int:
    """Fill int64[8] `nest` with the loops that `tile` cuts, outermost first; returns their number."""
    depth = 0
    for level in range(8):
        slot = LOOP_ORDERS[order, level] if nested else level
        if tile[slot] < loops[slot]:
            nest[depth] = slot
            depth += 1
    return depth


@njit(cache=True, error_model="numpy", inline="always")
def met_before(nest, order, depth) -> bool:
    """Whether an earlier loop order nests the loops that are cut as this one does."""
    for earlier in range(order):
        same = True
        for level in range(depth):
            same = same and nest[earlier, level] == nest[order, level]
        if same:
            return True
    return False


@njit(cache=True, error_model="numpy")
def _bound_rows(model, k, tiles, budget, resident, datapath, products_s, tile, room) -> int:
    """Fill `room.bound` and `room.row` for the tiles within the budget, launch left out; returns how many rows."""
    loops, bounds, nest = model.loops[k], room.bounds, room.nest
    control_s = model.constants.step_cycles / datapath.clock_hz
    most_bytes = np.inf
    if budget < np.inf:
        for number in range(len(tiles)):
            set_extents(tile, tiles[number])
            most_bytes = min(most_bytes, _moving_bytes(model, k, tile, resident))
        most_bytes = max(most_bytes, budget)
    rows = 0
    for number in range(len(tiles)):
        set_extents(tile, tiles[number])
        if budget < np.inf and _moving_bytes(model, k, tile, resident) > most_bytes:
            continue
        first_load = set_tile_bounds(model, k, tile, resident, datapath, bounds)
        steps = 1.0
        for slot in range(8):
            steps *= bounds.trips[slot]
        for order in range(len(LOOP_ORDERS) if model.nested[k] else 1):
            depth = cut_loops(model.nested[k], order, loops, tile, nest[order])
            if met_before(nest, order, depth):
                continue
            moving = transfer_bound(model, k, nest[order], depth, bounds, datapath)
            room.bound[rows, 0] = max(moving, first_load + steps * control_s + products_s)
            room.bound[rows, 1], room.bound[rows, 2] = moving, first_load
            room.row[rows] = len(LOOP_ORDERS) * number + order
            rows += 1
    return rows


@njit(cache=True, error_model="numpy")
def _best_row(model, k, tiles, budget, resident, may_use, datapath, workspace, room, results) -> None:
    """Fill entry `k` of the arrays of :class:`_Found` with the best row over int32[n, 8] `tiles`."""
    best_tile, best_dataflow, best_order, best_seconds, counted = results
    if on_chip_bytes(datapath)[0] <= 0:
        return
    limits, constants = tile_limits(datapath), model.constants
    arrays = usable_arrays(datapath)
    loops, tile, bounds, nest = model.loops[k], workspace.tile, room.bounds, room.nest[0]
    output_loops = model.operands.node[model.operands.offset[k + 1] - 1, LOOPS_WALKED]
    control_s = constants.step_cycles / datapath.clock_hz
    splits = pe_splits(datapath, np.int64(loops[GROUP]), np.int64(0), np.int64(0))
    products = matrix_products(model, k)
    peak = processing_elements(datapath) * datapath.systolic_rows * datapath.systolic_columns * datapath.clock_hz
    if loops[GROUP] == 1:
        peak *= datapath.array_efficiency
    rows = _bound_rows(model, k, tiles, budget, resident, datapath, products / peak, tile, room)
    dataflows = DATAFLOWS if model.matrix[k] else 1
    counted[k, 0] = rows * dataflows
    if rows == 0:
        return
    best = np.inf
    # The row of the least bound first: what it takes rules out most others before they are put in order.
    order_of_rows = np.array([np.argmin(room.bound[:rows, 0])])
    for turn in range(2):
        if turn == 1:
            left = np.flatnonzero((room.bound[:rows, 0] + constants.kernel_launch_s) * (1.0 - _ROUNDING) < best)
            order_of_rows = left[np.argsort(room.bound[left, 0])]
        for row in order_of_rows:
            threshold = best / (1.0 - _ROUNDING) - constants.kernel_launch_s
            if room.bound[row, 0] >= threshold:
                break
            number, order = room.row[row] // len(LOOP_ORDERS), room.row[row] % len(LOOP_ORDERS)
            set_extents(tile, tiles[number])
            set_tile_bounds(model, k, tile, resident, datapath, bounds)
            depth = cut_loops(model.nested[k], order, loops, tile, nest)
            steady, load_s, moving_s = steady_steps(model, k, nest, depth, bounds, output_loops)
            for dataflow in range(dataflows):
                if model.matrix[k] and not may_use >> dataflow & 1:
                    continue
                compute_step(
                    model, k, tile, dataflow, splits, arrays[dataflow], datapath, workspace.costs.room, room.step
                )  # fmt: skip
                computing = compute_bound(
                    room.step, nest, depth, tile, output_loops, bounds, products, control_s, peak
                )  # fmt: skip
                # Steady steps take the larger of both, whichever of compute and transfers decides on the whole.
                waiting_s = steady * max(0.0, load_s - max(room.step[0, 0], room.step[1, 0]))
                hidden_s = steady * max(0.0, min(room.step[0, 0], room.step[1, 0]) - moving_s)
                if max(room.bound[row, 1] + hidden_s, room.bound[row, 2] + computing + waiting_s) >= threshold:
                    continue
                seconds = price_row(
                    model, k, dataflow, order, splits, resident, arrays[dataflow], limits, datapath, workspace,
                    room.parts,
                )  # fmt: skip
                counted[k, 1] += 1
                if seconds < best:
                    best = seconds
                    threshold = best / (1.0 - _ROUNDING) - constants.kernel_launch_s
                    best_seconds[k] = seconds
                    best_tile[k] = tiles[number]
                    best_dataflow[k], best_order[k] = dataflow, order
