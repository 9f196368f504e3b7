"""How a tile is spread over PEs and arrays: of the mappings that the hardware admits the one with the shortest step.

Matrix unit, vector unit and mesh work side by side; the slowest one decides. So the choice weighs them against each
other: a split of the pixels may keep all arrays busy and yet be slower than one of the output channels, because each PE
wants other inputs over the mesh.
"""

import numpy as np

from lib.cost.matrix_unit import SPLITS, array_accesses, fastest_mapping, split_evenly, split_over_pes
from lib.cost.mesh import PLANS, matrix_tile, matrix_traffic, vector_bytes
from lib.cost.simulator_constants import ACCUMULATOR_BYTES
from lib.cost.vector_plan import ARITHMETIC, BUFFERED, LOAD, STORE
from lib.cost.vector_unit import vector_cycles, vector_pipes
from lib.hardware.datapath import MESH, mesh_bytes_per_cycle, processing_elements, vector_lanes_of_core
from lib.program.kernels import IN_C
from lib.schedule.schedules import SPLIT_AXES
from lib.schedule.uncounted import uncounted

MATRIX_BUSY, VECTOR_BUSY, MESH_BUSY, BUFFERED_BUSY, INPUTS, WEIGHTS, SUMS = range(7)
"""What a step keeps busy: seconds of matrix unit, vector unit and mesh; load and store slots of values that went to the
buffer in between, in seconds; inputs, weights and partial sums that all arrays take from and give to L1."""


@uncounted()
def busy_of_step(model, k, tile, dataflow, splits, array, datapath, room, busy) -> None:
    """Fill float64[2, 7] `busy` for one step of kernel `k` on a tile (int64[9]): where the step does not complete the
    output tile, and where it does.

    `model`: :class:`lib.cost.tile_step.StepModel`; `splits`: ways to split over the PE grid that may be chosen, see
    :func:`lib.cost.matrix_unit.pe_splits`; `array`: :class:`lib.cost.pe_memory.UsableArray` of the `dataflow`;
    `room`: float64[4, 5].
    """
    vector, pipes, crossing, trial = model.vector, room[:2], room[2, :2], room[3]
    vector_pipes(vector.offset, vector.dimensions, vector.weight, vector.dimension, k, tile, pipes)
    crossing[:] = 0.0
    if datapath.vector_path == MESH:
        vector_bytes(model.operands, vector.crossing, k, tile, crossing)
    rate = mesh_bytes_per_cycle(datapath) * model.constants.mesh_width
    if not model.matrix[k]:
        for complete in range(2):
            cycles = vector_cycles(pipes[complete], datapath, model.constants)
            _set_busy(busy[complete], 0.0, cycles, crossing[complete] / rate, pipes[complete, BUFFERED], datapath)
            busy[complete, INPUTS:] = 0.0
        return
    constants, pes = model.constants, processing_elements(datapath)
    few_channels = not model.dot[k] and model.loops[k, IN_C] < constants.packed_in_channels
    elements = matrix_tile(model.operands, vector.matrix_input[k], tile, model.base_dilation[k])
    # No mapping is faster than the vector unit without partial sums, or than each operand crossing the mesh once.
    once = (elements.inputs + elements.weights) * datapath.element_bytes
    least_partial = max(vector_cycles(pipes[0], datapath, constants), (crossing[0] + once) / rate)
    least_complete = max(vector_cycles(pipes[1], datapath, constants), (crossing[1] + once) / rate)
    best_partial = best_complete = np.inf
    for split in range(SPLITS):
        axis_x, axis_y = split // len(SPLIT_AXES), split % len(SPLIT_AXES)
        if not splits >> split & 1:
            continue
        if best_partial <= least_partial and best_complete <= least_complete:
            break
        share = split_over_pes(tile, model.base_dilation[k], axis_x, axis_y, datapath.pes_x, datapath.pes_y)
        if not constants.pads_loops:
            share = split_evenly(tile, model.base_dilation[k], axis_x, axis_y, datapath.pes_x, datapath.pes_y)
        # An array does a product a cell and cycle at best.
        products = float(share[0] * share[1]) * float(share[2] * share[3]) * share[4]
        at_peak = products / (array.rows * array.columns)
        if max(at_peak, least_partial) >= best_partial and max(at_peak, least_complete) >= best_complete:
            continue
        mapping = fastest_mapping(
            dataflow, share, few_channels, model.dot[k], datapath.depthwise_mapping, array, constants
        )  # fmt: skip
        for plan in range(PLANS):
            if (
                max(float(mapping.cycles), least_partial) >= best_partial
                and max(float(mapping.cycles), least_complete) >= best_complete
            ):
                break
            traffic = matrix_traffic(
                plan, dataflow, mapping, elements, array, datapath.element_bytes, datapath.vector_path == MESH
            )  # fmt: skip
            if traffic.mesh_bytes == np.inf:
                continue
            sums = float(mapping.pixels * mapping.out_c * mapping.groups)
            added = pes * sums * (mapping.row_folds - 1 + (mapping.split_contraction > 1))
            words = pes * traffic.spilled * (ACCUMULATOR_BYTES / 4)
            for complete in range(2):
                for pipe in range(len(trial)):
                    trial[pipe] = pipes[complete, pipe]
                trial[ARITHMETIC] += added
                trial[LOAD] += words
                trial[STORE] += words
                trial[BUFFERED] += 2 * words
                vector_busy = vector_cycles(trial, datapath, constants)
                mesh_busy = (crossing[complete] + traffic.mesh_bytes) / rate
                longest = max(float(mapping.cycles), max(vector_busy, mesh_busy))
                if longest < (best_complete if complete else best_partial):
                    if complete:
                        best_complete = longest
                    else:
                        best_partial = longest
                    _set_busy(busy[complete], mapping.cycles, vector_busy, mesh_busy, trial[BUFFERED], datapath)
                    inputs, weights, accumulated = array_accesses(
                        dataflow, mapping, traffic.passes, datapath.systolic_rows, datapath.systolic_columns
                    )  # fmt: skip
                    busy[complete, INPUTS], busy[complete, WEIGHTS] = pes * inputs, pes * weights
                    busy[complete, SUMS] = pes * accumulated


@uncounted(forceinline=True)
def _set_busy(busy, matrix_cycles, vector_busy, mesh_busy, buffered, datapath) -> None:
    """Cycles and lane-words as seconds."""
    busy[MATRIX_BUSY] = matrix_cycles / datapath.clock_hz
    busy[VECTOR_BUSY] = vector_busy / datapath.clock_hz
    busy[MESH_BUSY] = mesh_busy / datapath.clock_hz
    busy[BUFFERED_BUSY] = buffered / (vector_lanes_of_core(datapath) * datapath.clock_hz)
