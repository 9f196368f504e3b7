"""Lower bounds of the simulator's time for a schedule row, much cheaper than the time itself.

    T >= launch + what all transfers take, as they follow each other
    T >= launch + first load + what all steps compute

They are made of the simulator's own pieces: transfers and compute of a step away from all edges, times how often the
row has such steps, and peak rates for the rest. Searches leave out rows whose bound is above what they have.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.dma import operand_transfer
from lib.cost.simulator_constants import ACCUMULATOR_BYTES
from lib.program.kernels import KERNEL_H, KERNEL_W, OUTPUT
from lib.schedule.node_table import (
    DILATION,
    END,
    FIRST,
    LOOP,
    LOOPS_WALKED,
    NO_EXTENT,
    ROLE,
    STRIDE,
    WHOLE,
    WINDOW_LOOP,
    WINDOW_STRIDE,
)

SECONDS, MOVED, EVERY = range(3)
"""Columns of `moves`, one row an operand: seconds and bytes of one tile away from the edges (seconds are negative where
the operand does not move); bytes of all its tiles once each, what overlaps as often as it is touched."""


class TileBounds(NamedTuple):
    """What the bounds of a tile's rows have in common, whatever their loop order; filled anew for each tile."""

    whole: np.ndarray
    """float64[9] extents of the kernel's loops; the last is 1."""
    trips: np.ndarray
    """float64[9] tiles along each loop."""
    full_trips: np.ndarray
    """float64[9] those of the whole extent."""
    moves: np.ndarray
    """float64[operands, 3]"""


def room_for_tile_bounds(operands: int) -> TileBounds:
    """Room for kernels of up to `operands` operands."""
    return TileBounds(np.ones(9), np.ones(9), np.ones(9), np.empty((operands, 3)))


@njit(cache=True, error_model="numpy", inline="always")
def set_tile_bounds(model, k, tile, resident, datapath, bounds) -> float:
    """Fill `bounds` for a tile (int64[9]) of kernel `k`; returns the seconds of the first load, which no compute hides.

    `model`: :class:`lib.cost.tile_step.StepModel`; `resident`: int64 bits of the operand roles that do not move.
    """
    operands = model.operands
    node, dimension = operands.node, operands.dimension
    whole, trips, full_trips, moves = bounds.whole, bounds.trips, bounds.full_trips, bounds.moves
    for slot in range(8):
        whole[slot] = model.loops[k, slot]
        trips[slot] = np.ceil(whole[slot] / tile[slot])
        full_trips[slot] = np.floor(whole[slot] / tile[slot])
    first = operands.offset[k]
    first_load = 0.0
    for row in range(first, operands.offset[k + 1]):
        if resident >> node[row, ROLE] & 1:
            moves[row - first, SECONDS] = -1.0
            continue
        size = operands.weight[row]
        seconds, moved = operand_transfer(model, row, tile, size, datapath)
        one = every = 1.0
        for d in range(node[row, FIRST], node[row, END]):
            loop, window = dimension[d, LOOP], dimension[d, WINDOW_LOOP]
            stride = float(dimension[d, STRIDE])
            if window == NO_EXTENT:
                one *= (tile[loop] - 1) * stride + 1.0
                every *= (whole[loop] - trips[loop]) * stride + trips[loop]
                continue
            window_stride, dilation = float(dimension[d, WINDOW_STRIDE]), float(dimension[d, DILATION])
            one *= ((tile[loop] - 1) * stride + (tile[window] - 1) * window_stride) / dilation + 1.0
            spans = trips[window] * stride * (whole[loop] - trips[loop])
            spans += trips[loop] * window_stride * (whole[window] - trips[window])
            visits = trips[loop] * trips[window]
            every *= spans + visits if dilation == 1.0 else max(visits, spans / dilation)
        # A tile is never counted larger than the whole, which holds no window padding.
        moves[row - first, SECONDS], moves[row - first, MOVED] = seconds, moved
        moves[row - first, EVERY] = every * min(1.0, node[row, WHOLE] / one) * size
        if node[row, ROLE] != OUTPUT:
            first_load += seconds
    return first_load + model.constants.dma_latency_s if first_load > 0 else 0.0


@njit(cache=True, error_model="numpy", inline="always")
def transfer_bound(model, k, nest, depth, bounds, datapath) -> float:
    """Seconds of all loads and stores with the loops int64[8] `nest` (the first `depth`), outermost first, cut."""
    operands, constants, moves = model.operands, model.constants, bounds.moves
    total = loads = 0.0
    first, output = operands.offset[k], operands.offset[k + 1] - 1
    for row in range(first, output + 1):
        if moves[row - first, SECONDS] < 0:
            continue
        walked = operands.node[row, LOOPS_WALKED]
        # The tile changes with every loop down to the innermost one that the operand extends along.
        visits = full_visits = repeats = 1.0
        all_visits = all_full = all_repeats = 1.0
        for level in range(depth):
            slot = nest[level]
            trips = bounds.trips[slot]
            all_visits *= trips
            if walked >> slot & 1:
                all_full *= bounds.full_trips[slot]
                visits, full_visits, repeats = all_visits, all_full, all_repeats
            else:
                all_full *= trips
                all_repeats *= trips
        every = moves[row - first, EVERY]
        rest = max(0.0, every * repeats - full_visits * moves[row - first, MOVED])
        moving = full_visits * moves[row - first, SECONDS] + rest / datapath.dram_bytes_per_s
        if row < output:
            total += moving
            loads = max(loads, visits)  # in as many steps something is loaded
            continue
        # Every visit but the last leaves partial sums, and every one but the first loads them again.
        total += moving / repeats + visits * constants.dma_latency_s
        if repeats > 1:
            size = operands.weight[row]
            partial = max(size, ACCUMULATOR_BYTES) / size
            total += 2.0 * (repeats - 1.0) * every * partial / datapath.dram_bytes_per_s
    return total + loads * constants.dma_latency_s


@njit(cache=True, error_model="numpy", inline="always")
def steady_steps(model, k, nest, depth, bounds, output_loops) -> tuple[float, float, float]:
    """Steps between two others in the innermost loop, all three with whole tiles: their number, seconds of the load
    that each of them hides, and of that with the store that it may hide as well (infinite where that may be of partial
    sums)."""
    if depth == 0:
        return 0.0, 0.0, 0.0
    operands, latency_s, inner = model.operands, model.constants.dma_latency_s, nest[depth - 1]
    steps = bounds.full_trips[inner] - 2.0
    reduces = False
    for level in range(depth - 1):
        steps *= bounds.full_trips[nest[level]]
        reduces = reduces or not output_loops >> nest[level] & 1
    first, output = operands.offset[k], operands.offset[k + 1] - 1
    load_s = store_s = 0.0
    for row in range(first, output + 1):
        if bounds.moves[row - first, SECONDS] > 0 and operands.node[row, LOOPS_WALKED] >> inner & 1:
            if row < output:
                load_s += bounds.moves[row - first, SECONDS]
            else:
                store_s = np.inf if reduces else bounds.moves[row - first, SECONDS] + latency_s
    if load_s > 0:
        load_s += latency_s
    return max(0.0, steps), load_s, load_s + store_s


@njit(cache=True, error_model="numpy", inline="always")
def matrix_products(model, k) -> float:
    """Multiplications of the matrix op of kernel `k` that are not with inserted zeros; 0 without one."""
    if not model.matrix[k]:
        return 0.0
    products = 1.0
    for slot in range(8):
        products *= model.loops[k, slot]
    for axis in range(2):
        taps = model.loops[k, KERNEL_H if axis == 0 else KERNEL_W]
        products *= np.ceil(taps / model.base_dilation[k, axis]) / taps
    return products


@njit(cache=True, error_model="numpy", inline="always")
def compute_bound(step, nest, depth, tile, output_loops, bounds, products, control_s, peak_products_per_s) -> float:
    """What all steps compute: those away from the edges as `step` says (float64[2, 8] of
    :func:`lib.cost.tile_step.compute_step`), the others at least their control and their share of `products` at the
    peak rate. `output_loops`: bits of the loops that the output extends along."""
    steps = full = complete = inside = 1.0
    exact = True
    for level in range(depth):
        slot = nest[level]
        full_trips = bounds.full_trips[slot]
        steps *= bounds.trips[slot]
        full *= full_trips
        inside *= full_trips * tile[slot] / bounds.whole[slot]
        if output_loops >> slot & 1:
            complete *= full_trips
        else:
            exact = exact and full_trips == bounds.trips[slot]
    rest = (steps - full) * control_s + (1.0 - inside) * products / peak_products_per_s
    if exact:
        return rest + (full - complete) * step[0, 0] + complete * step[1, 0]
    return rest + full * min(step[0, 0], step[1, 0])
