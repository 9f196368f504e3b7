"""Systolic arrays: how the matrix op of a tile maps on them and how many cycles it takes.

An op is `repeats` products of [m, k] by [k, n]. One array of `rows` x `columns` holds a fold of one operand while
the other streams through, a vector a cycle. The mapping and the split over PEs are the ones with the fewest cycles
among those that the hardware admits.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.simulator_constants import FOLDS_OVERLAP, STREAMS_ALONE
from lib.hardware.datapath import L2_DISABLED, L2_PRIVATE, TAPS
from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, OUT_H, OUT_W
from lib.schedule.schedules import INPUT_STATIONARY, OUTPUT_STATIONARY, WEIGHT_STATIONARY

TAPS_OF_5X5 = 25
"""The window that `SimulatorConstants.depthwise_passes` is known for."""


class UsableArray(NamedTuple):
    """The part of an array that its L1 can serve."""

    rows: int
    columns: int
    accumulator_bytes: int
    """On-PE bytes left for partial sums."""
    input_bytes: int
    """On-PE bytes left to keep inputs for the next fold of output channels."""


class MatrixWork(NamedTuple):
    """What one tile asks of the busiest PE."""

    cycles: int
    elements_read: int
    """Operand elements that pass from the tile's buffer into the array."""
    elements_accumulated: int
    """Partial sums that are added to those of an earlier fold, outside the array."""


@njit(cache=True)
def usable_array(datapath) -> UsableArray:
    """Rows and columns whose weights, double-buffered, fit in L1: `2 rows columns element_bytes <= capacity`.

    With a shared L1 the capacity is the whole buffer, else the weights' one. Columns are given up first, then rows.
    What is left (L2 added where there is one) holds partial sums and inputs. Agrees with the printed sizes of FAST's
    designs: 64 KiB for 128 x 128, 8 KiB for 64 x 32.
    """
    inputs, weights, outputs = datapath.l1_input_bytes, datapath.l1_weight_bytes, datapath.l1_output_bytes
    whole = inputs + weights + outputs
    cells = (whole if datapath.l1_shared else weights) // (2 * datapath.element_bytes)
    rows = max(1, min(datapath.systolic_rows, cells))
    columns = max(1, min(datapath.systolic_columns, cells // rows))
    if datapath.l1_shared:
        spare = max(0, whole - 2 * rows * columns * datapath.element_bytes)
        inputs = outputs = spare
    if datapath.l2_kind == L2_PRIVATE:
        inputs += datapath.l1_input_bytes * datapath.l2_input_multiplier
        outputs += datapath.l1_output_bytes * datapath.l2_output_multiplier
    elif datapath.l2_kind != L2_DISABLED:
        second = (
            datapath.l1_input_bytes * datapath.l2_input_multiplier
            + datapath.l1_weight_bytes * datapath.l2_weight_multiplier
            + datapath.l1_output_bytes * datapath.l2_output_multiplier
        )
        inputs, outputs = inputs + second, outputs + second
    return UsableArray(rows, columns, outputs, inputs)


@njit(cache=True, error_model="numpy")
def array_cycles(dataflow, repeats, row_folds, m, n, k, rows, columns, timing) -> int:
    """Cycles of one array for `repeats` products [m, k] x [k, n], the contraction cut into `row_folds` folds.

    Folds and the vectors that stream through each: weight-stationary `row_folds ceil(n / columns)` and m,
    input-stationary `row_folds ceil(m / columns)` and n, output-stationary `ceil(m / rows) ceil(n / columns)` and k.
    `timing` FOLDS_OVERLAP: the next fold is latched in `rows` cycles behind the current one (results leave likewise in
    the output-stationary case), and fill and drain are paid once. FOLDS_APART: every fold pays latch, fill and drain,
    SCALE-Sim's closed form, `folds (2 rows + columns + m - 2) - 1` and `folds (k + rows + columns - 2) - 1`.
    STREAMS_ALONE: neither latch, fill nor drain takes time.
    """
    if dataflow == OUTPUT_STATIONARY:
        folds = repeats * (-(-m // rows)) * (-(-n // columns))
        stream, latch = k, 0
    elif dataflow == INPUT_STATIONARY:
        folds = repeats * row_folds * (-(-m // columns))
        stream, latch = n, rows
    else:
        folds = repeats * row_folds * (-(-n // columns))
        stream, latch = m, rows
    if timing == STREAMS_ALONE:
        return folds * stream
    if timing == FOLDS_OVERLAP:
        return folds * max(stream, rows) + rows + columns - 3
    return folds * (latch + rows + columns + stream - 2) - 1


@njit(cache=True, error_model="numpy")
def _diagonal_cycles(dataflow, pixels, passes, in_c, out_c, groups, packed, rows, columns, timing) -> int:
    """Cycles with `packed` groups on the diagonal of the array, `passes` a diagonal. The groups left over lie on it
    several times, for as many pixels at once (weight-stationary; the other dataflows stream something else)."""
    whole, left = groups // packed, groups % packed
    cycles = 0
    if whole > 0:
        n, k = packed * out_c, packed * passes * in_c
        cycles += array_cycles(dataflow, whole, passes, pixels, n, k, rows, columns, timing)
    if left > 0:
        copies = packed // left if dataflow == WEIGHT_STATIONARY else 1
        m, n, k = -(-pixels // copies), copies * left * out_c, copies * left * passes * in_c
        cycles += array_cycles(dataflow, np.int64(1), passes, m, n, k, rows, columns, timing)
        if whole > 0 and timing == FOLDS_OVERLAP:
            cycles -= rows + columns - 3
    return cycles


@njit(cache=True, error_model="numpy")
def _one_pe(dataflow, pixels, taps, in_c, out_c, groups, few_channels, is_dot, mapping, array, constants):
    """Best mapping of one PE's share: (cycles, repeats, row_folds, n, k)."""
    rows, columns, timing = array.rows, array.columns, constants.array_timing
    k = taps * in_c
    row_folds = taps * (-(-in_c // rows))
    if few_channels or dataflow == OUTPUT_STATIONARY:
        row_folds = min(row_folds, -(-k // rows))
    best = array_cycles(dataflow, groups, row_folds, pixels, out_c, k, rows, columns, timing)
    chosen = (best, groups, row_folds, out_c, k)
    if is_dot or groups == 1 or dataflow == OUTPUT_STATIONARY:
        return chosen
    taps_on_rows = in_c == 1 and mapping == TAPS
    packed = min(rows // in_c, columns // out_c)
    if packed > 1 and not taps_on_rows:
        passes = taps
        if in_c == 1:  # a pass is at best one tap of every group on every diagonal of the array
            passes = min(taps, max(constants.depthwise_passes * -(-taps // TAPS_OF_5X5), -(-taps // packed)))
        cycles = _diagonal_cycles(dataflow, pixels, passes, in_c, out_c, groups, packed, rows, columns, timing)
        if cycles < best:
            best, diagonal = cycles, min(packed, groups)
            chosen = (cycles, -(-groups // diagonal), passes, diagonal * out_c, diagonal * k)
    if taps_on_rows:
        row_folds = -(-taps // rows)
        cycles = array_cycles(dataflow, np.int64(1), row_folds, pixels, groups * out_c, taps, rows, columns, timing)
        if cycles < best:
            chosen = (cycles, 1, row_folds, groups * out_c, taps)
    return chosen


@njit(cache=True, error_model="numpy")
def matrix_work(tile, in_c_whole, base_dilation, is_dot, dataflow, array, datapath, constants) -> MatrixWork:
    """Cycles and traffic of the matrix op of a tile on the busiest PE.

    `tile`: int[8] extents of the canonical loops; `in_c_whole`: contracted channels of the whole kernel, which
    decide whether taps are packed; `base_dilation`: int[2], zeros between inputs, which are skipped (each output
    phase sees `ceil(taps / dilation)` of them). Mappings: a pass a filter tap; taps packed on rows for few input
    channels; groups of a convolution block-diagonally, several pixels at once where there are few groups; taps on
    rows and channels on columns for depthwise where the datapath maps it so. Each axis of the PE grid splits the
    pixels, the output channels, the groups or the contraction (first its taps; the PEs' sums are added up), whichever
    takes the fewest cycles.
    """
    pixels = tile[BATCH] * tile[OUT_H] * tile[OUT_W]
    taps = (-(-tile[KERNEL_H] // base_dilation[0])) * (-(-tile[KERNEL_W] // base_dilation[1]))
    few_channels = not is_dot and in_c_whole < constants.packed_in_channels
    pes_x, pes_y = datapath.pes_x, datapath.pes_y
    best = MatrixWork(-1, 0, 0)
    for axis_x in range(4 if pes_x > 1 else 1):
        for axis_y in range(4 if pes_y > 1 else 1):
            split_m = (pes_x if axis_x == 0 else 1) * (pes_y if axis_y == 0 else 1)
            split_n = (pes_x if axis_x == 1 else 1) * (pes_y if axis_y == 1 else 1)
            split_g = (pes_x if axis_x == 2 else 1) * (pes_y if axis_y == 2 else 1)
            split_k = (pes_x if axis_x == 3 else 1) * (pes_y if axis_y == 3 else 1)
            out_c = -(-tile[OUT_C] // split_n)
            groups = -(-tile[GROUP] // split_g)
            split_taps = min(split_k, taps)
            in_c = -(-tile[IN_C] // (split_k // split_taps))
            m, share = -(-pixels // split_m), -(-taps // split_taps)
            cycles, repeats, row_folds, n, k = _one_pe(
                dataflow, m, share, in_c, out_c, groups, few_channels, is_dot,
                datapath.depthwise_mapping, array, constants,
            )  # fmt: skip
            if best.cycles < 0 or cycles < best.cycles:
                best = _traffic(
                    dataflow, cycles, repeats, row_folds, m, n, k, split_k > 1, array, datapath.element_bytes
                )  # fmt: skip
    return best


@njit(cache=True, error_model="numpy")
def _traffic(dataflow, cycles, repeats, row_folds, m, n, k, contraction_split, array, element_bytes) -> MatrixWork:
    rows, columns = array.rows, array.columns
    input_passes, weight_passes, accumulated = 1, 1, 0
    kept = rows * k * element_bytes <= array.input_bytes
    if dataflow == OUTPUT_STATIONARY:
        input_passes, weight_passes = -(-n // columns), -(-m // rows)
    elif dataflow == INPUT_STATIONARY:
        weight_passes = -(-m // columns)
        accumulated = repeats * m * n * (row_folds - 1)
    else:
        input_passes = -(-n // columns)
        accumulated = repeats * m * n * (row_folds - 1)
    if kept:
        input_passes = 1
    if contraction_split:
        accumulated += repeats * m * n
    read = repeats * k * (m * input_passes + n * weight_passes)
    return MatrixWork(cycles, read, accumulated)


@njit(cache=True)
def accumulates_on_pe(array, constants) -> bool:
    """Whether a chunk of `rows` pixels keeps its partial sums beside the array: long enough a stream to hide the latch
    of the next fold. Otherwise they go to the tile's buffer and back through the vector unit's load and store."""
    return array.accumulator_bytes >= array.rows * array.columns * constants.accumulator_bytes
