"""What a single tile step costs: compute, what it loads, what it stores. The pipeline strings steps together."""

from typing import NamedTuple

import numpy as np

from lib.cost.dma import operand_transfer, whole_extents
from lib.cost.irregular_access import mark_indexed
from lib.cost.simulator_constants import ACCUMULATOR_BYTES, SimulatorConstants
from lib.cost.step_mapping import busy_of_step
from lib.cost.tile_nest import EDGE_BIT, MOST_MASKS, SLOT
from lib.cost.vector_plan import VectorPlan, vector_plan
from lib.hardware.datapath import Datapath
from lib.program.kernels import INPUT, KERNEL_CLASSES, OUTPUT, Kernels
from lib.program.op_kinds import OP_CLASSES, op_class_numbers
from lib.schedule.loops import has_canonical_loops
from lib.schedule.node_table import (
    LOOPS_WALKED,
    ROLE,
    WHOLE,
    NodeTable,
    node_elements_and_padded,
    operand_table,
    within,
)
from lib.schedule.uncounted import uncounted

_DOT = KERNEL_CLASSES.index("dot")
PLACEMENTS = 8
"""Sets of the operand roles that may stay on chip."""


class StepModel(NamedTuple):
    """Everything that compiled code reads about k kernels on one register tile."""

    loops: np.ndarray
    """int32[k, 8]"""
    base_dilation: np.ndarray
    """uint8[k, 2]"""
    matrix: np.ndarray
    """bool[k] the hero is a matrix op."""
    dot: np.ndarray
    """bool[k] it is a dot, whose groups lie apart."""
    nested: np.ndarray
    """bool[k] loops are nested as a matrix or window op's."""
    operands: NodeTable
    whole: np.ndarray
    """float64[d] full extents of the operands' dimensions."""
    vector: VectorPlan
    constants: SimulatorConstants


def has_matrix_op(kernels: Kernels) -> np.ndarray:
    """bool[k]: whether the kernel's hero is a matrix op."""
    return op_class_numbers()[kernels.op_kind[kernels.hero]] == OP_CLASSES.index("matrix")


def step_model(kernels: Kernels, datapath: Datapath, constants: SimulatorConstants) -> StepModel:
    """Prepare kernels. Raises ValueError naming an op kind that the simulator does not know."""
    sublanes, lanes = datapath.register_sublanes, datapath.register_lanes
    vector = vector_plan(kernels, sublanes, lanes)
    operands = operand_table(kernels, sublanes, lanes)
    whole = whole_extents(operands, kernels.loops)
    mark_indexed(whole, kernels, operands)
    return StepModel(
        loops=kernels.loops,
        base_dilation=kernels.base_dilation,
        matrix=has_matrix_op(kernels),
        dot=kernels.kernel_class == _DOT,
        nested=has_canonical_loops(kernels),
        operands=operands,
        whole=whole,
        vector=vector,
        constants=constants,
    )


class StepCosts(NamedTuple):
    """What the tile steps of one row cost, by edge mask (see :mod:`lib.cost.tile_nest`)."""

    tile: np.ndarray
    """int64[256, 9] extents that the step computes on, padding included; the last is 1."""
    moved_tile: np.ndarray
    """int64[256, 9] the same without padding, which never moves."""
    compute: np.ndarray
    """float64[256, 2, 8] of a step that does not complete the output tile, and of one that does: see
    :func:`compute_step`."""
    resident: np.ndarray
    """int64[8] bits of the operand roles that stay on chip, by placement."""
    load: np.ndarray
    """float64[8, 9, 256, 3] by placement: seconds without latency, bytes of inputs and of weights of the operands that
    a step loads when the loop at that level of the nest has advanced. The very first load has the place after the last
    level's."""
    output: np.ndarray
    """float64[8, 256, 2, 2] by placement: seconds without latency and bytes to move the output tile, as float32 partial
    sums and complete."""
    room: np.ndarray
    """float64[4, 5] room for one step's vector work."""
    transfer: np.ndarray
    """float64[256, 2] room for one operand's seconds and bytes."""


def room_for_step_costs() -> StepCosts:
    """Arrays that one row after another fills anew."""
    return StepCosts(
        np.ones((MOST_MASKS, 9), dtype=np.int64), np.ones((MOST_MASKS, 9), dtype=np.int64),
        np.empty((MOST_MASKS, 2, 8)), np.arange(PLACEMENTS), np.empty((PLACEMENTS, 9, MOST_MASKS, 3)),
        np.empty((PLACEMENTS, MOST_MASKS, 2, 2)), np.empty((4, 5)), np.empty((MOST_MASKS, 2)),
    )  # fmt: skip


@uncounted(forceinline=True)
def fits_beside_residents(model, k, tile, resident, partial_sums, limits) -> bool:
    """Whether one set of tiles (int64[9]) lies within `limits` (:class:`lib.schedule.node_table.TileLimits`) beside the
    whole operands that stay in the global buffer.

    Those lie there once, as in DRAM, and need no tile; the others' tiles come twice, padded to registers. With
    `partial_sums` a resident output consists of float32 sums until it is complete.
    """
    operands = model.operands
    inputs = weights = output = stay = 0.0
    for row in range(operands.offset[k], operands.offset[k + 1]):
        role = operands.node[row, ROLE]
        if resident >> role & 1:
            element_bytes = operands.weight[row]
            if partial_sums and role == OUTPUT:
                element_bytes = max(element_bytes, ACCUMULATOR_BYTES)
            stay += operands.node[row, WHOLE] * element_bytes
            continue
        size = node_elements_and_padded(operands.node, operands.dimension, row, tile)[1] * operands.weight[row]
        if role == OUTPUT:
            output += size
        elif role == INPUT:
            inputs += size
        else:
            weights += size
    return within(inputs, weights, output, limits) and inputs + weights + output + stay / 2 <= limits.whole


@uncounted(forceinline=True)
def compute_step(model, k, tile, dataflow, splits, array, datapath, room, out) -> None:
    """Fill float64[2, 8] `out` with the seconds of one step and what it keeps busy (:mod:`lib.cost.step_mapping`), on a
    tile (int64[9]): where the step does not complete the output tile, and where it does.

    The units run side by side; control of the step comes on top. `splits`: :func:`lib.cost.matrix_unit.pe_splits`;
    `room`: float64[4, 5].
    """
    busy_of_step(model, k, tile, dataflow, splits, array, datapath, room, out[:, 1:])
    for complete in range(2):
        longest = max(out[complete, 1], max(out[complete, 2], out[complete, 3]))
        out[complete, 0] = longest + model.constants.step_cycles / datapath.clock_hz


@uncounted()
def set_load_costs(model, k, nest, depth, edge_bits, placements, tiles, datapath, costs) -> None:
    """Fill `costs.load` for `tiles` (int64[256, 9] by edge mask) and the first `placements` of `costs.resident`."""
    operands, resident, load, transfer = model.operands, costs.resident, costs.load, costs.transfer
    for place in range(placements):
        for level in range(depth + 1):
            load[place, level, : 1 << edge_bits] = 0.0
    for row in range(operands.offset[k], operands.offset[k + 1] - 1):
        role = operands.node[row, ROLE]
        moves = False
        for place in range(placements):
            moves = moves or not resident[place] >> role & 1
        if not moves:
            continue
        # The operand changes with every loop down to the innermost one that it extends along. In a step after that
        # loop has advanced, loops further inside are at their first tile, which is no edge.
        own_mask = outer_mask = masks = changing = 0
        for level in range(depth):
            outer_mask |= nest[level, EDGE_BIT]
            if operands.node[row, LOOPS_WALKED] >> nest[level, SLOT] & 1:
                own_mask |= nest[level, EDGE_BIT]
                masks, changing = outer_mask, level + 1
        for mask in range(masks + 1):
            if mask & own_mask == mask:
                seconds, moved = operand_transfer(model, row, tiles[mask], operands.weight[row], datapath)
                transfer[mask, 0], transfer[mask, 1] = seconds, moved
            else:
                seconds, moved = transfer[mask & own_mask, 0], transfer[mask & own_mask, 1]
            for place in range(placements):
                if resident[place] >> role & 1:
                    continue
                for level in range(changing):
                    load[place, level, mask, 0] += seconds
                    load[place, level, mask, 1 + role] += moved
        for place in range(placements):
            if not resident[place] >> role & 1:
                load[place, depth, 0, 0] += transfer[0, 0]
                load[place, depth, 0, 1 + role] += transfer[0, 1]


@uncounted()
def set_output_costs(model, k, edge_bits, placements, tiles, datapath, costs) -> None:
    """Fill `costs.output` for `tiles` (int64[256, 9] by edge mask) and the first `placements` of `costs.resident`; all
    0 where the output stays."""
    operands, resident = model.operands, costs.resident
    row = operands.offset[k + 1] - 1
    moves = False
    for place in range(placements):
        moves = moves or not resident[place] >> OUTPUT & 1
    for mask in range(1 << edge_bits):
        for complete in range(2):
            seconds = moved = 0.0
            if moves:
                size = operands.weight[row]
                if not complete:
                    size = max(size, ACCUMULATOR_BYTES)
                seconds, moved = operand_transfer(model, row, tiles[mask], size, datapath)
            for place in range(placements):
                stays = resident[place] >> OUTPUT & 1
                costs.output[place, mask, complete, 0] = 0.0 if stays else seconds
                costs.output[place, mask, complete, 1] = 0.0 if stays else moved
