"""The vector unit: arithmetic, loads, stores and cross-lane work of one tile.

A bundle issues `alu_slots` arithmetic instructions, one load, one store and one to the cross-lane unit, each over all
lanes; the four pipes work side by side, so the busiest one decides. A lane computes on 32 bits; buffers move 4 bytes
a lane and cycle.
"""

import numpy as np

from lib.cost.vector_plan import ARITHMETIC, CROSS_LANE, LOAD, STORE
from lib.hardware.datapath import vector_lanes_of_core
from lib.schedule.node_table import DILATION, LOOP, MULTIPLE, STRIDE, WINDOW_LOOP, WINDOW_STRIDE
from lib.schedule.uncounted import uncounted


@uncounted(forceinline=True)
def vector_pipes(offset, dimensions, weight, dimension, k, tile, pipes) -> None:
    """Fill float64[2, 5] `pipes` with the vector work of kernel `k` for a tile, in lane-words of the whole core: of a
    step that does not complete the output tile, and of one that does, so that the ops after the hero run and the tile
    is stored.

    The four arrays are :class:`lib.cost.vector_plan.VectorPlan`'s; `tile`: int64[9], the last 1.
    """
    pipes[:] = 0.0
    for item in range(offset[k], offset[k + 1]):
        elements = 1.0
        for d in range(dimensions[item, 0], dimensions[item, 1]):
            span = (tile[dimension[d, LOOP]] - 1) * dimension[d, STRIDE]
            span += (tile[dimension[d, WINDOW_LOOP]] - 1) * dimension[d, WINDOW_STRIDE]
            if dimension[d, DILATION] > 1:
                span //= dimension[d, DILATION]
            multiple = float(dimension[d, MULTIPLE])
            elements *= np.ceil((span + 1.0) / multiple) * multiple
        for pipe in range(5):
            pipes[0, pipe] += elements * weight[item, 0, pipe]
            pipes[1, pipe] += elements * (weight[item, 0, pipe] + weight[item, 1, pipe])


@uncounted(forceinline=True)
def vector_cycles(pipes, datapath, constants) -> float:
    """Cycles of the busiest pipe. The cross-lane unit takes one sublane row of the registers a cycle."""
    cycles = max(pipes[ARITHMETIC] / constants.alu_slots, max(pipes[LOAD], pipes[STORE]))
    cycles = max(cycles, pipes[CROSS_LANE] * datapath.register_sublanes)
    return cycles / vector_lanes_of_core(datapath)
