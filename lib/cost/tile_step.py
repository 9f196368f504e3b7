"""What a single tile step costs: compute, what it loads, what it stores. The pipeline strings steps together."""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.cost.borrowed import borrowed
from lib.cost.dma import operand_transfer, whole_extents
from lib.cost.matrix_unit import accumulates_on_pe, matrix_work
from lib.cost.simulator_constants import SimulatorConstants
from lib.cost.vector_plan import ARITHMETIC, BUFFERED, LOAD, STORE, VectorPlan, vector_plan
from lib.cost.vector_unit import vector_cycles, vector_pipes
from lib.hardware.datapath import Datapath, processing_elements, vector_lanes_of_core
from lib.program.kernels import IN_C, INPUT, KERNEL_CLASSES, OUTPUT, Kernels
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

_DOT = KERNEL_CLASSES.index("dot")


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


def step_model(kernels: Kernels, datapath: Datapath, constants: SimulatorConstants) -> StepModel:
    """Prepare kernels. Raises ValueError naming an op kind that the simulator does not know."""
    sublanes, lanes = datapath.register_sublanes, datapath.register_lanes
    vector = vector_plan(kernels, sublanes, lanes)
    operands = operand_table(kernels, sublanes, lanes)
    return StepModel(
        loops=kernels.loops,
        base_dilation=kernels.base_dilation,
        matrix=op_class_numbers()[kernels.op_kind[kernels.hero]] == OP_CLASSES.index("matrix"),
        dot=kernels.kernel_class == _DOT,
        nested=has_canonical_loops(kernels),
        operands=operands,
        whole=whole_extents(operands, kernels.loops),
        vector=vector,
        constants=constants,
    )


@njit(cache=True)
def borrowed_model(model) -> StepModel:
    """The same model through views that do not own its arrays, see :func:`lib.cost.borrowed.borrowed`."""
    operands, vector = model.operands, model.vector
    return StepModel(
        borrowed(model.loops), borrowed(model.base_dilation), borrowed(model.matrix), borrowed(model.dot),
        borrowed(model.nested),
        NodeTable(
            borrowed(operands.offset), borrowed(operands.node), borrowed(operands.weight), borrowed(operands.dimension)
        ),
        borrowed(model.whole),
        VectorPlan(
            borrowed(vector.offset), borrowed(vector.dimensions), borrowed(vector.weight), borrowed(vector.dimension)
        ),
        model.constants,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def compute_step(model, k, tile, complete, dataflow, array, datapath, pipes, out) -> None:
    """Fill float64[4] `out` with seconds (compute, matrix, vector, buffered) of one step on a tile (int64[9]).

    Matrix and vector unit run side by side; control of the step comes on top. `complete`: the step completes the
    output tile. Buffered: load and store slots of values that went to the buffer in between.
    """
    pipes[:] = 0.0
    vector = model.vector
    vector_pipes(vector.offset, vector.dimensions, vector.weight, vector.dimension, k, tile, complete, pipes)
    matrix_s = 0.0
    if model.matrix[k]:
        work = matrix_work(
            tile, model.loops[k, IN_C], model.base_dilation[k], model.dot[k], dataflow, array, datapath,
            model.constants, True,
        )  # fmt: skip
        pes = processing_elements(datapath)
        matrix_s = work.cycles / datapath.clock_hz
        pipes[LOAD] += pes * work.elements_read * datapath.element_bytes / 4
        pipes[ARITHMETIC] += pes * work.elements_accumulated
        if not accumulates_on_pe(array, model.constants):
            words = pes * work.elements_accumulated * (model.constants.accumulator_bytes / 4)
            pipes[LOAD] += words
            pipes[STORE] += words
            pipes[BUFFERED] += 2 * words
    vector_s = vector_cycles(pipes, datapath, model.constants) / datapath.clock_hz
    out[0] = max(matrix_s, vector_s) + model.constants.step_cycles / datapath.clock_hz
    out[1] = matrix_s
    out[2] = vector_s
    out[3] = pipes[BUFFERED] / (vector_lanes_of_core(datapath) * datapath.clock_hz)


@njit(cache=True, error_model="numpy")
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
                element_bytes = max(element_bytes, model.constants.accumulator_bytes)
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


@njit(cache=True, error_model="numpy")
def load_step(model, k, changing, resident, tile, datapath, out) -> None:
    """Fill float64[3] `out` with the seconds to load the operands that extend along a loop in the bit set `changing`
    (negative: all of them) and whose role is not among the bits `resident`, and the bytes of inputs and weights. All
    are issued together and share one latency."""
    operands = model.operands
    out[:] = 0.0
    for row in range(operands.offset[k], operands.offset[k + 1] - 1):
        if resident >> operands.node[row, ROLE] & 1:
            continue
        if changing < 0 or operands.node[row, LOOPS_WALKED] & changing:
            seconds, moved = operand_transfer(model, row, tile, operands.weight[row], datapath)
            out[0] += seconds
            out[1 + operands.node[row, ROLE]] += moved
    if out[0] > 0:
        out[0] += model.constants.dma_latency_s


@njit(cache=True, error_model="numpy")
def output_step(model, k, tile, complete, resident, datapath, out) -> None:
    """Fill float64[3] `out` with the seconds to move the output tile, the same without latency, and its bytes; one that
    is not `complete` consists of float32 partial sums. All 0 where the output's role is among the bits `resident`."""
    out[:] = 0.0
    if resident >> OUTPUT & 1:
        return
    operands = model.operands
    row = operands.offset[k + 1] - 1
    size = operands.weight[row]
    if not complete:
        size = max(size, model.constants.accumulator_bytes)
    seconds, moved = operand_transfer(model, row, tile, size, datapath)
    out[0] = seconds + model.constants.dma_latency_s
    out[1] = seconds
    out[2] = moved
