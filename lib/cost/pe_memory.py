"""What L1, L2 and registers of a PE hold beside its systolic array, and how much of the array L1 can serve."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.simulator_constants import ACCUMULATOR_BYTES, VECTOR_REGISTERS
from lib.hardware.datapath import L2_DISABLED, L2_PRIVATE, L2_SHARED
from lib.schedule.schedules import INPUT_STATIONARY, OUTPUT_STATIONARY, WEIGHT_STATIONARY
from lib.schedule.uncounted import uncounted


class UsableArray(NamedTuple):
    """The part of an array that its L1 can serve under a dataflow, and the bytes left to keep data for reuse."""

    rows: int
    columns: int
    moving_bytes: int
    """Private to the operand that streams: inputs, or weights of an input-stationary array."""
    stationary_bytes: int
    """Private to the operand that stays in the array (of an output-stationary one, where both stream: to weights)."""
    sum_bytes: int
    """Private to partial sums."""
    shared_bytes: int
    """For whatever needs more than its private memory."""
    unused_edges: int
    """Rows and columns given up, which data still pass on their way."""
    cell_bytes: int
    """Freed for reuse by each cell of the usable array that a mapping leaves empty (not among sums, which have no use
    for it)."""
    cells_are_shared: bool
    """Freed in shared memory, else in the stationary operand's."""
    efficiency: float
    """Share of the peak rate that code reaches on dense products."""


@njit(cache=True)
def usable_array(datapath, dataflow) -> UsableArray:
    """Rows and columns whose stationary data fit in L1, and what memory is left.

    The next fold waits in L1 while the present one works: inputs or weights double-buffered, `2 rows columns
    element_bytes`; of an output-stationary array one fold of sums, `4 rows columns`, drains through L1. With a shared
    L1 the whole buffer may take them, else the one of their role. Columns are given up first, then rows. Agrees with
    the printed sizes of FAST's designs: 64 KiB for 128 x 128, 8 KiB for 64 x 32.

    What the fold leaves of L1, L2 and the vector unit's registers (which hold partial sums only) is left for reuse.
    The level that holds the tiles where there is no global buffer is not.
    """
    inputs, weights, sums = datapath.l1_input_bytes, datapath.l1_weight_bytes, datapath.l1_output_bytes
    shared = 0
    if datapath.l1_shared:
        inputs, weights, sums, shared = 0, 0, 0, inputs + weights + sums
    cell_bytes = ACCUMULATOR_BYTES if dataflow == OUTPUT_STATIONARY else 2 * datapath.element_bytes
    capacity = shared
    if not datapath.l1_shared:
        capacity = weights
        if dataflow == OUTPUT_STATIONARY:
            capacity = sums
        elif dataflow == INPUT_STATIONARY:
            capacity = inputs
    cells = capacity // cell_bytes
    rows = max(1, min(datapath.systolic_rows, cells))
    columns = max(1, min(datapath.systolic_columns, cells // rows))
    left = 0
    if rows == datapath.systolic_rows and columns == datapath.systolic_columns:
        left = max(0, capacity - rows * columns * cell_bytes)
    if datapath.l1_shared:
        shared = left
    elif dataflow == OUTPUT_STATIONARY:
        sums, cell_bytes = left, 0
    elif dataflow == INPUT_STATIONARY:
        inputs = left
    else:
        weights = left
    if datapath.global_buffer_bytes == 0 and datapath.l2_kind == L2_DISABLED:
        inputs = weights = sums = shared = cell_bytes = 0
    elif datapath.global_buffer_bytes > 0:
        second_inputs = datapath.l1_input_bytes * datapath.l2_input_multiplier
        second_weights = datapath.l1_weight_bytes * datapath.l2_weight_multiplier
        second_sums = datapath.l1_output_bytes * datapath.l2_output_multiplier
        if datapath.l2_kind == L2_PRIVATE:
            inputs, weights, sums = inputs + second_inputs, weights + second_weights, sums + second_sums
        elif datapath.l2_kind == L2_SHARED:
            shared += second_inputs + second_weights + second_sums
    sums += VECTOR_REGISTERS * datapath.vector_lanes * ACCUMULATOR_BYTES
    if dataflow == INPUT_STATIONARY:
        inputs, weights = weights, inputs
    unused = datapath.systolic_rows - rows + datapath.systolic_columns - columns
    return UsableArray(
        rows, columns, inputs, weights, sums, shared, unused, cell_bytes, datapath.l1_shared, datapath.array_efficiency
    )


@njit(cache=True)
def usable_arrays(datapath) -> tuple[UsableArray, UsableArray, UsableArray]:
    """:func:`usable_array` by dataflow."""
    weights, outputs, inputs = np.int64(WEIGHT_STATIONARY), np.int64(OUTPUT_STATIONARY), np.int64(INPUT_STATIONARY)
    return usable_array(datapath, weights), usable_array(datapath, outputs), usable_array(datapath, inputs)


@uncounted(forceinline=True)
def with_empty_cells(array, used) -> UsableArray:
    """The memory left where the stationary data of a fold are only `used` elements."""
    free = max(0, array.rows * array.columns - used) * array.cell_bytes
    stationary = array.stationary_bytes + (0 if array.cells_are_shared else free)
    shared = array.shared_bytes + (free if array.cells_are_shared else 0)
    return UsableArray(
        array.rows, array.columns, array.moving_bytes, stationary, array.sum_bytes, shared, array.unused_edges,
        array.cell_bytes, array.cells_are_shared, array.efficiency,
    )  # fmt: skip


@uncounted(forceinline=True)
def fits_on_pe(array, moving, stationary, sums) -> bool:
    """Whether so many bytes can be kept at once."""
    beyond = max(0.0, moving - array.moving_bytes) + max(0.0, stationary - array.stationary_bytes)
    return beyond + max(0.0, sums - array.sum_bytes) <= array.shared_bytes


@uncounted(forceinline=True)
def longest_chunk(array, moving, stationary, sums) -> float:
    """Most vectors of a stream of which `moving` bytes and `sums` bytes each can be kept beside `stationary` bytes in
    all; 0 if not even those fit, infinite where a vector takes nothing."""
    room = array.shared_bytes - max(0.0, stationary - array.stationary_bytes)
    if room < 0:
        return 0.0
    chunk = np.inf
    if moving > 0:
        chunk = min(chunk, (array.moving_bytes + room) / moving)
    if sums > 0:
        chunk = min(chunk, (array.sum_bytes + room) / sums)
    if moving > 0 and sums > 0:
        chunk = min(chunk, (array.moving_bytes + array.sum_bytes + room) / (moving + sums))
    return chunk
