"""The compiler's cost model: max(compute, transfer) per tile step, double-buffered.

Written as a compiler team would write it (MLSys 2021, appendix: XLA's analytical model): it knows the peak rates
of the machine, the bytes of every tile and which tiles change from one step to the next, but not how the machine
loses time in between. docs/analytical.md lists what it leaves out.
"""

import numpy as np
from numba import njit

from lib.cost.cost_model import Costs, Reason
from lib.cost.vector_work import VectorWork, vector_work
from lib.hardware.datapath import Datapath, on_chip_bytes, processing_elements, vector_lanes_of_core
from lib.program.kernels import (
    BATCH,
    GROUP,
    IN_C,
    KERNEL_CLASSES,
    KERNEL_H,
    KERNEL_W,
    OUT_C,
    OUT_H,
    OUT_W,
    OUTPUT,
    Kernels,
)
from lib.schedule.candidates import compiled_view
from lib.schedule.footprint import iterations, tile_elements
from lib.schedule.loops import LOOP_ORDERS
from lib.schedule.schedules import Schedules
from lib.schedule.tile_fit import tile_fits, tile_limits

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

STEP_CYCLES = 128.0
"""Cycles of loop control and of starting transfers that a compiler counts for each tile step: a round number near
what a short loop body of scalar instructions takes."""

_CONVOLUTION = KERNEL_CLASSES.index("convolution")
_DEPTHWISE = KERNEL_CLASSES.index("depthwise-convolution")
_DOT = KERNEL_CLASSES.index("dot")
_WINDOW = KERNEL_CLASSES.index("window")
_SLOT_ORDER = np.arange(8, dtype=np.int64)
_NEST = LOOP_ORDERS[0]


@njit(cache=True)
def matrix_cycles(tile, kernel_class, rows, columns) -> float:
    """Cycles of one systolic array for the matrix op of a tile, weights already in place.

    One pixel (a vector of `rows` contracted elements) enters a cycle; input and output channels are rounded up to
    the array, each filter tap is a pass of its own. Groups of a convolution lie block-diagonally on the array, as
    many as fit, so a depthwise convolution takes ceil(channels / min(rows, columns)) passes a tap.
    """
    if kernel_class > _DOT:
        return 0.0
    packed = 1
    if kernel_class != _DOT and tile[GROUP] > 1:
        packed = max(1, min(rows // tile[IN_C], columns // tile[OUT_C]))
    passes = -(-tile[GROUP] // packed) * -(-tile[IN_C] // rows) * -(-tile[OUT_C] // columns)
    return float(passes * tile[KERNEL_H] * tile[KERNEL_W]) * (tile[BATCH] * tile[OUT_H] * tile[OUT_W])


@njit(cache=True)
def _innermost_level(stride, nest, trips) -> int:
    """Innermost level of the nest at which a node's tile changes; -1 if it never does."""
    for level in range(7, -1, -1):
        if trips[level] > 1 and stride[nest[level]] > 0:
            return level
    return -1


@njit(cache=True)
def analytical_row(kernels, work, k, tile, datapath, parts) -> float:
    """Seconds of kernel `k` with tile int64[8]; fills float64[9] `parts` (see PART_NAMES).

    `kernels`: :func:`compiled_view`; `work`: :class:`VectorWork` of the same kernels. A step at which level j of
    the loop nest is the outermost one to advance moves every tile that depends on level j or one inside it, and
    there are (trips[j] - 1) * product(trips[:j]) such steps. What the vector unit computes once its tile is
    complete or new is counted likewise. The first load and the last store are exposed.
    """
    kernel_class = kernels.kernel_class[k]
    nest = _NEST if kernel_class <= _DOT or kernel_class == _WINDOW else _SLOT_ORDER
    kind, dilation = kernels.loop_kind[k], kernels.base_dilation[k]
    trips = np.empty(8, dtype=np.int64)
    moved = np.zeros(9)  # bytes and vector cycles by the innermost level at which they change, shifted by one
    vector = np.zeros(9)
    before = np.ones(9)
    for level in range(8):
        trips[level] = -(-kernels.loops[k, nest[level]] // tile[nest[level]])
        before[level + 1] = before[level] * trips[level]
    steps = before[8]

    parts[:] = 0.0
    loaded = stored = 0.0
    for operand in range(kernels.operand_offset[k], kernels.operand_offset[k + 1]):
        stride = kernels.operand_stride[operand]
        size = float(
            tile_elements(stride, kind, dilation, tile, kernels.operand_elements[operand])
            * kernels.operand_element_bytes[operand]
        )
        level = _innermost_level(stride, nest, trips)
        moved[level + 1] += size
        role = kernels.operand_role[operand]
        parts[BYTES + role] += size * before[level + 1]
        if role == OUTPUT:
            stored += size
        else:
            loaded += size
    for group in range(work.offset[k], work.offset[k + 1]):
        stride = work.stride[group]
        if work.swept[group]:
            points = float(iterations(stride, tile))
        else:
            points = float(tile_elements(stride, kind, dilation, tile, work.elements[group]))
        vector[_innermost_level(stride, nest, trips) + 1] += points * work.lane_cycles[group]

    pes = processing_elements(datapath)
    matrix_s = matrix_cycles(tile, kernel_class, datapath.systolic_rows, datapath.systolic_columns)
    matrix_s /= pes * datapath.clock_hz
    vector_rate = vector_lanes_of_core(datapath) * datapath.clock_hz
    seconds = moving = computing = vectors = 0.0
    for level in range(7, -1, -1):
        moving += moved[level + 1] / datapath.dram_bytes_per_s
        computing += vector[level + 1] / vector_rate
        times = (trips[level] - 1) * before[level]
        seconds += times * max(matrix_s, computing, moving)
        parts[COMPUTE] += times * max(matrix_s, computing)
        vectors += times * computing
    computing += vector[0] / vector_rate
    parts[COMPUTE] += max(matrix_s, computing)
    parts[TRANSFER] = (parts[BYTES] + parts[BYTES + 1] + parts[BYTES + 2]) / datapath.dram_bytes_per_s
    parts[MATRIX] = matrix_s * steps
    parts[VECTOR] = vectors + computing
    parts[EXPOSED] = (loaded + stored) / datapath.dram_bytes_per_s
    parts[STEPS] = steps
    return seconds + max(matrix_s, computing) + parts[EXPOSED] + steps * STEP_CYCLES / datapath.clock_hz


@njit(cache=True)
def _price(kernels, work, kernel, tile, datapath, value, reason, parts) -> None:
    limits = tile_limits(datapath)
    no_buffer = on_chip_bytes(datapath)[0] <= 0
    extents = np.empty(8, dtype=np.int64)
    for row in range(len(kernel)):
        k = kernel[row]
        extents[:] = tile[row]
        if no_buffer:
            reason[row] = Reason.NO_BUFFER
        elif not tile_fits(kernels, k, extents, limits):
            reason[row] = Reason.TILE_TOO_LARGE
        else:
            value[row] = analytical_row(kernels, work, k, extents, datapath, parts[row])
            continue
        value[row] = np.nan
        parts[row] = np.nan


class Analytical:
    """The compiler's model as a :class:`lib.cost.cost_model.CostModel`. Only the tile of a schedule row counts:
    the rest is taken as in the default schedule."""

    name = "analytical"
    scale = "seconds"
    accepts = frozenset({"tile", "hardware"})
    part_names = PART_NAMES

    def cost(self, kernels: Kernels, schedules: Schedules, datapath: Datapath, *, parts: bool = False) -> Costs:
        """Price every row; the parts of a row without a cost are NaN.

        Raises ValueError naming an op kind that the model does not know.
        """
        rows = len(schedules.kernel)
        value = np.empty(rows)
        reason = np.zeros(rows, dtype=np.uint8)
        all_parts = np.empty((rows, len(PART_NAMES)))
        work = vector_work(kernels)
        _price(
            compiled_view(kernels), work, schedules.kernel, schedules.tile, datapath, value, reason, all_parts
        )  # fmt: skip
        dram_bytes = all_parts[:, BYTES : BYTES + 3].copy()
        return Costs(value, reason, dram_bytes, None, all_parts if parts else None)


__all__ = ["PART_NAMES", "STEP_CYCLES", "Analytical", "VectorWork", "analytical_row", "matrix_cycles"]
