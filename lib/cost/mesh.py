"""What crosses the mesh between the global buffer and the PEs while a tile is worked on.

The buffer feeds the mesh over its edges (:func:`lib.hardware.datapath.mesh_bytes_per_cycle`). What several PEs share
crosses once, by multicast along the mesh; what differs from PE to PE crosses separately; what L1, L2 and registers
cannot keep crosses again with every pass.
"""

from typing import NamedTuple

import numpy as np

from lib.cost.fused_ops import EVERY_STEP, STREAMED
from lib.cost.pe_memory import fits_on_pe, longest_chunk, with_empty_cells
from lib.cost.simulator_constants import ACCUMULATOR_BYTES
from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, OUT_H, OUT_W
from lib.schedule.node_table import node_elements
from lib.schedule.schedules import INPUT_STATIONARY, OUTPUT_STATIONARY
from lib.schedule.uncounted import uncounted

PLANS = 12
"""Ways to use a PE's memory that are tried, see :func:`matrix_traffic`."""


class TileElements(NamedTuple):
    """Elements that the matrix op of a tile works on, over all PEs."""

    streamed: float
    """Inputs as the array reads them once: an element for each filter tap that covers it."""
    inputs: float
    """Distinct inputs."""
    weights: float
    sums: float
    """Results."""


class Traffic(NamedTuple):
    """What a mapping moves while it works on a tile."""

    mesh_bytes: float
    """Between buffer and PEs; infinite where the plan does not fit."""
    spilled: float
    """Partial sums of the busiest PE that leave for the buffer and come back."""
    passes: float
    """Chunks of the stream: how often each fold is latched."""


@uncounted(forceinline=True)
def matrix_tile(operands, input_row, tile, base_dilation) -> TileElements:
    """Elements of the matrix op on a tile (int64[9]); `input_row`: row of the operand that streams, negative where an
    op of the kernel makes it."""
    pixels = float(tile[BATCH] * tile[OUT_H] * tile[OUT_W])
    taps = float((-(-tile[KERNEL_H] // base_dilation[0])) * (-(-tile[KERNEL_W] // base_dilation[1])))
    channels = float(tile[IN_C] * tile[GROUP])
    streamed = pixels * channels * taps
    inputs = pixels * channels
    if input_row >= 0:
        inputs = node_elements(operands.node, operands.dimension, input_row, tile)
    sums = pixels * tile[OUT_C] * tile[GROUP]
    return TileElements(streamed, min(inputs, streamed), channels * taps * tile[OUT_C], sums)


@uncounted(forceinline=True)
def vector_bytes(operands, crossing, k, tile, out) -> None:
    """Fill float64[2] `out` with the bytes that the vector unit takes from and gives to the buffer in a step that does
    not complete the output tile (its partial sums go and come back), and in one that does."""
    out[0] = out[1] = 0.0
    for row in range(operands.offset[k], operands.offset[k + 1] - 1):
        if crossing[row] != STREAMED:
            size = node_elements(operands.node, operands.dimension, row, tile) * operands.weight[row]
            out[1] += size
            if crossing[row] == EVERY_STEP:
                out[0] += size
    row = operands.offset[k + 1] - 1
    elements = node_elements(operands.node, operands.dimension, row, tile)
    out[0] += 2 * ACCUMULATOR_BYTES * elements
    out[1] += elements * operands.weight[row]


@uncounted(forceinline=True)
def matrix_traffic(plan, dataflow, mapping, elements, array, element_bytes, sums_cross) -> Traffic:
    """Traffic of a matrix op under plan 0 to PLANS - 1, results left out (they pass through the vector unit).

    `mapping`: :class:`lib.cost.matrix_unit.Mapping`; `elements`: :class:`TileElements`; `array`:
    :class:`lib.cost.pe_memory.UsableArray`; `element_bytes`: of the number format. Sums of PEs that split the
    contraction are sent to the one that adds them. `sums_cross`: partial sums take the mesh, too, else the vector
    units' own ports to the buffer.
    """
    array = with_empty_cells(array, mapping.cells)
    exchanged = 2.0 * ACCUMULATOR_BYTES * elements.sums if sums_cross else 0.0
    sent = exchanged * (mapping.split_contraction - 1)
    if dataflow == OUTPUT_STATIONARY:
        return Traffic(sent + _output_stationary(plan, mapping, elements, array, element_bytes), 0.0, 1.0)
    operand_bytes, spills, passes = _one_stationary(plan, dataflow, mapping, elements, array, element_bytes)
    if spills:
        folds = mapping.row_folds - 1
        sent += exchanged * folds * mapping.split_contraction
        return Traffic(sent + operand_bytes, float(mapping.groups * mapping.pixels * mapping.out_c * folds), passes)
    return Traffic(sent + operand_bytes, 0.0, passes)


@uncounted(forceinline=True)
def _one_stationary(plan, dataflow, mapping, elements, array, element_bytes) -> tuple[float, bool, float]:
    """(bytes of inputs and weights, whether partial sums leave the PE, chunks) of a weight- or input-stationary array.

    The stream passes in chunks. While all folds work on a chunk, three things may be kept on the PE: of the streaming
    operand all channels (plans 0 to 3) or those of one fold, for the next filter tap (4 to 7); the partial sums of the
    chunk (0, 1, 4, 5, 8, 9), which leave for the buffer after each fold otherwise; the stationary operand, for the next
    chunk (even plans). A chunk is at least as long as the latch of a fold takes, or the whole stream.
    """
    channels_kept, sums_kept, stationary_kept = plan < 4, plan // 2 % 2 == 0, plan % 2 == 0
    taps_kept = 4 <= plan < 8
    abreast = mapping.side_by_side
    per_pixel = elements.inputs / elements.streamed * mapping.taps * element_bytes  # of one channel
    whole_window = float(abreast * mapping.in_c * mapping.taps * element_bytes)  # weights of one output channel
    if dataflow == INPUT_STATIONARY:
        stream, folds, columns = abreast * mapping.out_c, -(-mapping.pixels // array.columns), mapping.pixels
        moving, moving_once = elements.weights * folds, elements.weights
        stationary, stationary_once = elements.streamed, elements.inputs * mapping.split_taps
        vector_bytes, column_bytes = whole_window, abreast * mapping.in_c * per_pixel
        if taps_kept:
            return np.inf, False, 1.0
    else:
        stream, folds, columns = mapping.pixels, mapping.column_folds, abreast * mapping.out_c
        moving, moving_once = elements.streamed * folds, elements.inputs * mapping.split_taps
        stationary = stationary_once = elements.weights
        vector_bytes, column_bytes = abreast * mapping.in_c * per_pixel, whole_window / abreast
        if taps_kept:
            moving_once *= folds
            vector_bytes = min(mapping.in_c, array.rows) * abreast * per_pixel
    spills = not sums_kept and mapping.row_folds > 1
    if (sums_kept and mapping.row_folds == 1) or ((channels_kept or taps_kept) and moving_once == moving):
        return np.inf, False, 1.0  # nothing to keep
    at_once = columns if channels_kept else min(array.columns, columns)
    chunk = longest_chunk(
        array, vector_bytes if channels_kept or taps_kept else 0.0, at_once * column_bytes if stationary_kept else 0.0,
        ACCUMULATOR_BYTES * min(array.columns, columns) if sums_kept else 0.0,
    )  # fmt: skip
    chunk = np.floor(min(chunk, float(stream)))
    if chunk < min(stream, array.rows):
        return np.inf, False, 1.0
    passes = np.ceil(stream / chunk)
    moved = moving_once if channels_kept or taps_kept else moving
    moved += stationary_once if stationary_kept else stationary * passes
    return moved * element_bytes, spills, passes


@uncounted(forceinline=True)
def _output_stationary(plan, mapping, elements, array, element_bytes) -> float:
    """Bytes of inputs and weights of an output-stationary array, where both stream by for every fold of rows pixels and
    columns output channels: inputs of a row of folds and all weights kept (plan 0), all inputs and the weights of a
    column of folds (1), inputs of a row (2), weights of a column (3), nothing (4)."""
    row_folds, column_folds = -(-mapping.pixels // array.rows), mapping.column_folds
    pixel_bytes = elements.inputs / elements.streamed * mapping.taps * mapping.in_c * element_bytes
    channel_bytes = mapping.in_c * mapping.taps * element_bytes
    inputs = min(mapping.pixels, array.rows) * pixel_bytes
    weights = min(mapping.out_c, array.columns) * float(channel_bytes)
    inputs_once, weights_once = elements.inputs * mapping.split_taps, elements.weights
    if plan == 0:
        fits = fits_on_pe(array, inputs, mapping.out_c * float(channel_bytes), 0.0)
    elif plan == 1:
        fits = fits_on_pe(array, mapping.pixels * pixel_bytes, weights, 0.0)
    elif plan == 2:
        fits = fits_on_pe(array, inputs, 0.0, 0.0)
        weights_once = elements.weights * row_folds
    elif plan == 3:
        fits = fits_on_pe(array, 0.0, weights, 0.0)
        inputs_once = elements.streamed * column_folds
    else:
        fits = plan == 4
        inputs_once, weights_once = elements.streamed * column_folds, elements.weights * row_folds
    return (inputs_once + weights_once) * element_bytes if fits else np.inf
