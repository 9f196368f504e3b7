"""The compiler's cost model: max(compute, transfer) per tile step, double-buffered.

Written as a compiler team would write it (MLSys 2021, appendix: XLA's analytical model): it knows the peak rates
of the machine, the bytes of every tile and which tiles change from one step to the next, but not how the machine
loses time in between. docs/analytical.md lists what it leaves out.
"""

from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from lib.cost.cost_model import Costs, Reason
from lib.cost.vector_work import vector_work
from lib.hardware.datapath import TAPS, Datapath, processing_elements, vector_lanes_of_core
from lib.program.kernels import (
    BATCH,
    GROUP,
    IN_C,
    INPUT,
    KERNEL_CLASSES,
    KERNEL_H,
    KERNEL_W,
    OUT_C,
    OUT_H,
    OUT_W,
    OUTPUT,
    Kernels,
)
from lib.schedule.loops import has_canonical_loops, loop_nest
from lib.schedule.node_table import (
    LOOPS_WALKED,
    ROLE,
    WHOLE,
    NodeTable,
    node_elements_and_padded,
    operand_table,
    set_extents,
    tile_limits,
    within,
)
from lib.schedule.schedules import Schedules

PART_NAMES = (
    "compute_s",
    "transfer_s",
    "matrix_s",
    "vector_s",
    "exposed_s",
    "steps",
    "bytes_in",
    "bytes_weight",
    "bytes_out",
)
"""Over all steps: compute (the larger of matrix and vector in each), transfer, matrix and vector unit; the first
load and the last store, which nothing hides; number of tile steps; bytes moved by role."""
COMPUTE, TRANSFER, MATRIX, VECTOR, EXPOSED, STEPS, BYTES = range(7)

STEP_CYCLES = 190.0
"""Cycles of loop control and of starting transfers that a compiler counts for each tile step: 0.2 us at TPU-v3's
clock, as public tile timings show (TpuGraphs: a step costs that much whatever it holds)."""

ARITHMETIC_SLOTS = 2.0
"""Vector arithmetic instructions a cycle (Norrie et al., IEEE Micro 2021)."""

FEW_CHANNELS = 16
"""The compiler lets the filter taps of a convolution with fewer input channels than this share the array's rows (as
image networks' first layers need), others take a pass a tap. Lowering, as the two numbers below."""

DEPTHWISE_PASSES, TAPS_OF_5X5 = 10, 25
"""Most passes that a diagonal of depthwise channels takes for each 25 taps begun: how TPU-v3's measured utilisation
on 5x5 windows (FAST figure 4) reads."""

ROUNDING = 1.0 - 1e-9
"""Leaves room for rounding where a lower bound of a time is compared with a time."""

_DOT = KERNEL_CLASSES.index("dot")
"""Classes up to this one have a matrix op."""


@njit(cache=True, error_model="numpy", inline="always")
def matrix_cycles(tile, kernel_class, in_c_whole, dilation_h, dilation_w, mapping, efficiency, rows, columns) -> float:
    """Cycles of one systolic array for the matrix op of a tile (int[8] or more).

    One pixel (a vector of `rows` contracted elements) enters a cycle, and a pass takes at least the `rows` cycles in
    which the weights of the next one come in. Input and output channels are rounded up to the array. Each filter tap
    is a pass of its own; where the kernel's whole `in_c_whole` is small, taps share the rows. Taps that only meet the
    zeros of a base dilation are skipped. Groups of a convolution lie block-diagonally on the array, as many as fit,
    those left over several times for as many pixels at once; a depthwise one takes at most DEPTHWISE_PASSES for each
    TAPS_OF_5X5, or, by the datapath's depthwise `mapping`, has taps on rows and channels on columns. Dense products run
    at the share `efficiency` of the peak rate.
    """
    if kernel_class > _DOT:
        return 0.0
    taps = np.ceil(tile[KERNEL_H] / dilation_h) * np.ceil(tile[KERNEL_W] / dilation_w)
    pixels = float(tile[BATCH] * tile[OUT_H] * tile[OUT_W])
    groups, packed = float(tile[GROUP]), 1.0
    if kernel_class != _DOT and groups > 1.0:
        if tile[IN_C] == 1 and mapping == TAPS:
            return np.ceil(taps / rows) * np.ceil(groups * tile[OUT_C] / columns) * max(pixels, float(rows))
        packed = max(1.0, min(np.floor(rows / tile[IN_C]), np.floor(columns / tile[OUT_C])))
        if tile[IN_C] == 1:
            taps = min(taps, DEPTHWISE_PASSES * np.ceil(taps / TAPS_OF_5X5))
    diagonals = np.floor(groups / packed)
    stream = diagonals * max(pixels, float(rows))
    left = groups - diagonals * packed
    if left > 0.0:
        stream += max(np.ceil(pixels / np.floor(packed / left)), float(rows))
    if packed == 1.0 and kernel_class != _DOT and in_c_whole < FEW_CHANNELS:
        row_passes = np.ceil(taps * tile[IN_C] / rows)
    else:
        row_passes = taps * np.ceil(tile[IN_C] / rows)
    cycles = stream * row_passes * np.ceil(tile[OUT_C] / columns)
    return cycles / efficiency if packed == 1.0 else cycles


class Problem(NamedTuple):
    """What the rows of some kernels on one datapath have in common."""

    loops: np.ndarray
    """int32[k, 8]"""
    nest: np.ndarray
    """int64[k, 8] loops from the outermost to the innermost."""
    kernel_class: np.ndarray
    """uint8[k]"""
    base_dilation: np.ndarray
    """uint8[k, 2]"""
    operands: NodeTable
    vector: NodeTable


class Rates(NamedTuple):
    """One core."""

    rows: int
    columns: int
    depthwise_mapping: int
    array_efficiency: float
    """On dense products, of the datapath."""
    array_cycles_per_s: float
    """Of all PEs together."""
    instructions_per_s: float
    """Of all vector lanes together."""
    bytes_per_s: float
    step_s: float


def analytical_problem(kernels: Kernels, datapath: Datapath) -> Problem:
    """Prepare kernels for :func:`analytical_row`. Raises ValueError naming an op kind that the model does not know."""
    nest = np.where(has_canonical_loops(kernels)[:, None], loop_nest(0, True), loop_nest(0, False))
    return Problem(
        loops=kernels.loops,
        nest=np.ascontiguousarray(nest),
        kernel_class=kernels.kernel_class,
        base_dilation=kernels.base_dilation,
        operands=operand_table(kernels, datapath.register_sublanes, datapath.register_lanes),
        vector=vector_work(kernels, datapath.register_sublanes, datapath.register_lanes),
    )


@njit(cache=True, error_model="numpy")
def analytical_rates(datapath) -> Rates:
    """Peak rates of one core."""
    clock = datapath.clock_hz
    return Rates(
        datapath.systolic_rows, datapath.systolic_columns, datapath.depthwise_mapping, datapath.array_efficiency,
        processing_elements(datapath) * clock, ARITHMETIC_SLOTS * vector_lanes_of_core(datapath) * clock,
        datapath.dram_bytes_per_s, STEP_CYCLES / clock,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def analytical_scratch():
    """Working space of :func:`analytical_row`."""
    return np.empty(8, dtype=np.int64), np.empty(8), np.empty(9), np.empty(9), np.empty(9)


@njit(cache=True, error_model="numpy", inline="always")
def _changes_at(walked, nest, active) -> int:
    """1 + the innermost active level at which a node that extends along `walked` changes; 0 if it never does."""
    for level in range(active - 1, -1, -1):
        if walked >> nest[level] & 1:
            return level + 1
    return 0


@njit(cache=True, error_model="numpy", inline="always")
def analytical_row(problem, k, tile, rates, limits, most, scratch, parts) -> float:
    """Seconds of kernel `k` with a tile (int64[9], the last 1), infinite where it does not fit in `limits`.

    A tile that cannot take less than `most` seconds may be given up early and count as infinite too. Fills float64[9]
    `parts` (see PART_NAMES). A step at which level j of the loop nest is the outermost one to
    advance moves every tile that depends on level j or one inside it, and there are
    (trips[j] - 1) * product(trips[:j]) such steps. What the vector unit computes when its tile is complete or new
    is counted likewise. The first load and the last store are exposed.
    """
    nest, trips, before, moved, vector = scratch  # by active level: those of more than one trip
    active = 0
    before[0] = 1.0
    moved[0] = vector[0] = 0.0
    for level in range(8):
        loop = problem.nest[k, level]
        extent, part = problem.loops[k, loop], tile[loop]
        if part < extent:
            nest[active] = loop
            trips[active] = np.ceil(extent / part)
            before[active + 1] = before[active] * trips[active]
            active += 1
            moved[active] = vector[active] = 0.0
    steps_s = before[active] * rates.step_s
    if steps_s >= most:
        return np.inf
    matrix_s = matrix_cycles(
        tile, problem.kernel_class[k], problem.loops[k, IN_C], problem.base_dilation[k, 0],
        problem.base_dilation[k, 1], rates.depthwise_mapping, rates.array_efficiency, rates.rows,
        rates.columns,
    ) / rates.array_cycles_per_s  # fmt: skip
    if (matrix_s * before[active] + steps_s) * ROUNDING >= most:
        return np.inf

    bytes_left = (most / ROUNDING - steps_s) * rates.bytes_per_s
    parts[:] = 0.0
    padded_in = padded_weight = padded_out = first_and_last = 0.0
    node, dimension, weight = problem.operands.node, problem.operands.dimension, problem.operands.weight
    for row in range(problem.operands.offset[k], problem.operands.offset[k + 1]):
        elements, padded = node_elements_and_padded(node, dimension, row, tile)
        size = elements * weight[row]
        change = _changes_at(node[row, LOOPS_WALKED], nest, active)
        moved[change] += size
        role = node[row, ROLE]
        moved_bytes = size * before[change]
        parts[BYTES + role] += moved_bytes
        bytes_left -= moved_bytes
        if bytes_left <= 0.0:
            return np.inf
        first_and_last += size
        if role == OUTPUT:
            padded_out += padded * weight[row]
        elif role == INPUT:
            padded_in += padded * weight[row]
        else:
            padded_weight += padded * weight[row]
    if not within(padded_in, padded_weight, padded_out, limits):
        return np.inf
    exposed_s = first_and_last / rates.bytes_per_s
    moved_s = (parts[BYTES] + parts[BYTES + 1] + parts[BYTES + 2]) / rates.bytes_per_s
    if (matrix_s * before[active] + exposed_s + steps_s) * ROUNDING >= most:
        return np.inf
    node, dimension, weight = problem.vector.node, problem.vector.dimension, problem.vector.weight
    for row in range(problem.vector.offset[k], problem.vector.offset[k + 1]):
        points = min(node_elements_and_padded(node, dimension, row, tile)[1], float(node[row, WHOLE]))
        vector[_changes_at(node[row, LOOPS_WALKED], nest, active)] += points * weight[row]

    seconds = moving = vectors = 0.0
    for level in range(active - 1, -1, -1):
        moving += moved[level + 1] / rates.bytes_per_s
        vectors += vector[level + 1] / rates.instructions_per_s
        times = (trips[level] - 1.0) * before[level]
        computing = max(matrix_s, vectors)
        seconds += times * max(computing, moving)
        parts[COMPUTE] += times * computing
        parts[VECTOR] += times * vectors
    vectors += vector[0] / rates.instructions_per_s
    computing = max(matrix_s, vectors)
    parts[COMPUTE] += computing
    parts[VECTOR] += vectors
    parts[MATRIX] = matrix_s * before[active]
    parts[TRANSFER] = moved_s
    parts[EXPOSED] = exposed_s
    parts[STEPS] = before[active]
    return seconds + computing + exposed_s + steps_s


@njit(cache=True, error_model="numpy")
def _price(problem, rates, limits, kernel, tile, value, parts) -> None:
    extents = np.ones(9, dtype=np.int64)
    scratch = analytical_scratch()
    for row in range(len(kernel)):
        set_extents(extents, tile[row])
        value[row] = analytical_row(problem, kernel[row], extents, rates, limits, np.inf, scratch, parts[row])


class Analytical:
    """The compiler's model as a :class:`lib.cost.cost_model.CostModel`. Only the tile of a schedule row counts:
    the rest is taken as in the default schedule."""

    name = "analytical"
    scale: Literal["seconds", "rank"] = "seconds"
    accepts = frozenset({"tile", "hardware"})
    part_names = PART_NAMES

    def cost(self, kernels: Kernels, schedules: Schedules, datapath: Datapath, *, parts: bool = False) -> Costs:
        """Price every row; the parts of a row without a cost are NaN.

        Raises ValueError naming an op kind that the model does not know.
        """
        rows = len(schedules.kernel)
        value = np.empty(rows)
        every_part = np.empty((rows, len(PART_NAMES)))
        limits = tile_limits(datapath)
        problem = analytical_problem(kernels, datapath)
        _price(problem, analytical_rates(datapath), limits, schedules.kernel, schedules.tile, value, every_part)
        failed = np.isinf(value)
        value[failed] = np.nan
        every_part[failed] = np.nan
        reason = np.where(failed, Reason.TILE_TOO_LARGE if limits.whole > 0 else Reason.NO_BUFFER, Reason.OK)
        dram_bytes = every_part[:, BYTES : BYTES + 3].copy()
        return Costs(value, reason.astype(np.uint8), dram_bytes, None, every_part if parts else None)
