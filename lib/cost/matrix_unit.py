"""Systolic arrays: how the matrix op of a tile maps on them and how many cycles it takes.

An op is `repeats` products of [m, k] by [k, n]. One array of `rows` x `columns` holds a fold of one operand while
the other streams through, a vector a cycle. Which mapping and which split over PEs is taken is decided in
lib/cost/step_mapping.py, where the mesh and the vector unit have a say.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.simulator_constants import FOLDS_OVERLAP, STREAMS_ALONE
from lib.hardware.datapath import TAPS
from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, OUT_H, OUT_W
from lib.schedule.schedules import INPUT_STATIONARY, OUTPUT_STATIONARY, SPLIT_AXES, WEIGHT_STATIONARY
from lib.schedule.uncounted import uncounted

GROUP_SPLIT = SPLIT_AXES.index("groups")
SPLITS = len(SPLIT_AXES) ** 2
"""What both axes of the PE grid split."""

TAPS_OF_5X5 = 25
"""The window that `SimulatorConstants.depthwise_passes` is known for."""


class Mapping(NamedTuple):
    """The busiest PE's share of a tile's matrix op, and how it lies on the array."""

    cycles: int
    pixels: int
    out_c: int
    in_c: int
    taps: int
    groups: int
    row_folds: int
    """Folds of the contraction; each beyond the first adds its partial sums to those of the ones before."""
    column_folds: int
    """Folds of output channels that need the same inputs: 1 where groups lie side by side."""
    side_by_side: int
    """Groups that lie on the array at once."""
    cells: int
    """Elements of the stationary operand in a fold; the rest of the array is empty or holds zeros."""
    split_taps: int
    """PEs with other filter taps of the same inputs."""
    split_contraction: int
    """PEs whose sums are added up."""


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
def _may_split(axis, wanted, pes, groups) -> bool:
    """Whether an axis of `pes` PEs may split SPLIT_AXES[axis]."""
    if wanted > 0:
        return axis == wanted - 1
    if pes == 1:
        return axis == 0
    return groups > 1 or axis != GROUP_SPLIT


@njit(cache=True, error_model="numpy")
def pe_splits(datapath, groups, spatial_x, spatial_y) -> np.int64:
    """Ways to split a matrix op over the PE grid that a mapping may choose from: bit `len(SPLIT_AXES) * x + y` for axis
    x splitting SPLIT_AXES[x] and axis y SPLIT_AXES[y].

    `spatial_x`, `spatial_y`: 0, or 1 + what an axis must split. `groups`: of the whole kernel; a single one is
    only split by choice. Mirror images on a square grid are left out. Whole numbers go to compiled functions as
    np.int64: of each constant Numba would make one more version.
    """
    free = spatial_x == 0 and spatial_y == 0
    bits = np.int64(0)
    for x in range(len(SPLIT_AXES)):
        for y in range(len(SPLIT_AXES)):
            mirrored = free and x > y and datapath.pes_x == datapath.pes_y
            if (
                not mirrored
                and _may_split(x, spatial_x, datapath.pes_x, groups)
                and _may_split(y, spatial_y, datapath.pes_y, groups)
            ):
                bits |= 1 << (len(SPLIT_AXES) * x + y)
    return bits


@uncounted(forceinline=True)
def split_over_pes(tile, base_dilation, axis_x, axis_y, pes_x, pes_y) -> tuple[int, int, int, int, int, int, int]:
    """Shares of the busiest PE: (pixels, out_c, in_c, taps, groups, split_taps, split_contraction).

    `tile`: int64[9]; `base_dilation`: uint8[2], zeros between inputs, which are skipped (each output phase sees
    `ceil(taps / dilation)` of them). An axis of the PE grid splits 0 the pixels, 1 the output channels, 2 the groups or
    3 the contraction (first its taps).
    """
    pixels = tile[BATCH] * tile[OUT_H] * tile[OUT_W]
    taps = (-(-tile[KERNEL_H] // base_dilation[0])) * (-(-tile[KERNEL_W] // base_dilation[1]))
    split_m = (pes_x if axis_x == 0 else 1) * (pes_y if axis_y == 0 else 1)
    split_n = (pes_x if axis_x == 1 else 1) * (pes_y if axis_y == 1 else 1)
    split_g = (pes_x if axis_x == 2 else 1) * (pes_y if axis_y == 2 else 1)
    split_k = (pes_x if axis_x == 3 else 1) * (pes_y if axis_y == 3 else 1)
    split_taps = min(split_k, taps)
    in_c = -(-tile[IN_C] // (split_k // split_taps))
    return (
        -(-pixels // split_m), -(-tile[OUT_C] // split_n), in_c, -(-taps // split_taps), -(-tile[GROUP] // split_g),
        split_taps, split_k,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def largest_divisor(extent, most) -> int:
    """The largest divisor of a positive `extent` that is at most `most`."""
    divisor = min(extent, most)
    while extent % divisor:
        divisor -= 1
    return divisor


@njit(cache=True, error_model="numpy")
def without_padding(extent, size) -> int:
    """What an extent counts like, in folds of `size`, where each fold takes a divisor of it."""
    return extent // largest_divisor(extent, size) * size if extent > size else extent


@njit(cache=True, error_model="numpy")
def split_evenly(tile, base_dilation, axis_x, axis_y, pes_x, pes_y) -> tuple[int, int, int, int, int, int, int]:
    """:func:`split_over_pes` where an axis of the grid splits a loop only by a divisor; the other PEs stay idle, though
    sums and inputs cross the mesh as if they worked."""
    pixels = _even_share(tile[BATCH] * tile[OUT_H] * tile[OUT_W], 0, axis_x, axis_y, pes_x, pes_y)
    out_c = _even_share(tile[OUT_C], 1, axis_x, axis_y, pes_x, pes_y)
    groups = _even_share(tile[GROUP], 2, axis_x, axis_y, pes_x, pes_y)
    taps = (-(-tile[KERNEL_H] // base_dilation[0])) * (-(-tile[KERNEL_W] // base_dilation[1]))
    # The last axis is the contraction: its taps, and with PEs that are more than those its channels.
    split = (pes_x if axis_x == 3 else 1) * (pes_y if axis_y == 3 else 1)
    split_taps = min(split, taps)
    channels = tile[IN_C] // largest_divisor(tile[IN_C], split // split_taps)
    taps = _even_share(taps, 3, axis_x, axis_y, pes_x, pes_y)
    return pixels, out_c, channels, taps, groups, split_taps, split


@uncounted()
def _even_share(whole, axis, axis_x, axis_y, pes_x, pes_y) -> int:
    """Of the extent along one of SPLIT_AXES."""
    split = (pes_x if axis_x == axis else 1) * (pes_y if axis_y == axis else 1)
    return whole // largest_divisor(whole, split)


@uncounted(forceinline=True)
def fastest_mapping(dataflow, share, few_channels, is_dot, depthwise_mapping, array, constants) -> Mapping:
    """The mapping of one PE's share (:func:`split_over_pes`) with the fewest cycles among those that the hardware
    admits: a pass a filter tap; taps packed on rows for few input channels; groups of a convolution block-diagonally,
    several pixels at once where there are few groups, or for depthwise, where the datapath maps it so, taps on rows and
    channels on columns."""
    pixels, out_c, in_c, taps, groups, split_taps, split_k = share
    rows, columns, timing = array.rows, array.columns, constants.array_timing
    k = taps * in_c
    # Extents that are cut into folds, which the dataflow does not stream; k is cut where contractions are.
    m, n, channels, contraction, side_by_side_columns = pixels, out_c, in_c, k, groups * out_c
    if not constants.pads_loops:
        channels, contraction = without_padding(in_c, rows), without_padding(k, rows)
        side_by_side_columns = without_padding(groups * out_c, columns)
        if dataflow == INPUT_STATIONARY:
            m = without_padding(pixels, columns)
        else:
            n = without_padding(out_c, columns)
            if dataflow == OUTPUT_STATIONARY:
                m = without_padding(pixels, rows)
    row_folds = taps * (-(-channels // rows))
    if few_channels or dataflow == OUTPUT_STATIONARY:
        row_folds = min(row_folds, -(-contraction // rows))
    best = array_cycles(dataflow, groups, row_folds, m, n, k, rows, columns, timing)
    fill_and_drain = rows + columns - 3 if timing == FOLDS_OVERLAP else 0
    best = int(np.ceil((best - fill_and_drain) / array.efficiency)) + fill_and_drain
    folds, column_folds, side_by_side = row_folds, -(-n // columns), 1
    wide, deep = out_c, k if few_channels else in_c
    if dataflow == INPUT_STATIONARY:
        wide = pixels
    elif dataflow == OUTPUT_STATIONARY:
        deep = pixels
    cells = min(columns, wide) * min(rows, deep)
    if not (is_dot or groups == 1 or dataflow == OUTPUT_STATIONARY):
        taps_on_rows = in_c == 1 and depthwise_mapping == TAPS
        packed = min(rows // in_c, columns // out_c)
        if not constants.pads_loops and packed > 1:
            packed = largest_divisor(groups, packed)
        if packed > 1 and not taps_on_rows:
            passes = taps
            if in_c == 1:  # a pass is at best one tap of every group on every diagonal of the array
                passes = min(taps, max(constants.depthwise_passes * -(-taps // TAPS_OF_5X5), -(-taps // packed)))
            cycles = _diagonal_cycles(dataflow, pixels, passes, in_c, out_c, groups, packed, rows, columns, timing)
            if cycles < best:
                best, folds, column_folds, side_by_side = cycles, passes, 1, min(packed, groups)
                cells = rows * columns if dataflow == INPUT_STATIONARY else side_by_side * in_c * out_c
        if taps_on_rows:
            taps_folds = -(-taps // rows) if constants.pads_loops else without_padding(taps, rows) // rows
            cycles = array_cycles(
                dataflow, np.int64(1), taps_folds, m, side_by_side_columns, taps, rows, columns, timing
            )  # fmt: skip
            if cycles < best:
                best, folds, column_folds, side_by_side = cycles, taps_folds, 1, min(groups, max(1, columns // out_c))
                cells = rows * columns if dataflow == INPUT_STATIONARY else side_by_side * out_c * min(taps, rows)
    if timing == FOLDS_OVERLAP:
        best += array.unused_edges
    return Mapping(
        best, pixels, out_c, in_c, taps, groups, folds, column_folds, side_by_side, cells, split_taps, split_k
    )  # fmt: skip


@uncounted(forceinline=True)
def array_accesses(dataflow, mapping, passes, rows, columns) -> tuple[float, float, float]:
    """Inputs, weights and partial sums that one PE's array takes from and gives to L1, at most a row, a column and a
    column a cycle. `passes`: how often each fold is latched."""
    pixels, groups = float(mapping.pixels), float(mapping.groups)
    weights = groups * mapping.taps * mapping.in_c * mapping.out_c
    inputs = pixels * groups * mapping.in_c * (mapping.row_folds if mapping.side_by_side > 1 else mapping.taps)
    sums = pixels * groups * mapping.out_c
    if dataflow == OUTPUT_STATIONARY:
        inputs *= mapping.column_folds
        weights *= -(-mapping.pixels // rows)
    elif dataflow == INPUT_STATIONARY:
        inputs *= passes
        weights *= -(-mapping.pixels // columns)
        sums *= mapping.row_folds
    else:
        inputs *= mapping.column_folds
        weights *= passes
        sums *= mapping.row_folds
    cycles = float(mapping.cycles)
    return min(inputs, cycles * rows), min(weights, cycles * columns), min(sums, cycles * columns)
