"""Which dimensions of operands are walked by indices: the rows that a gather reads, or a scatter reads and writes,
lie apart in memory, each a contiguous run of its own at most."""

import numpy as np

from lib.cost.dma import INDEXED
from lib.program.kernels import Kernels
from lib.program.op_kinds import op_kind_numbers
from lib.schedule.node_table import END, FIRST, LOOP, NO_EXTENT, NodeTable


def mark_indexed(whole: np.ndarray, kernels: Kernels, operands: NodeTable) -> None:
    """Mark in float64[d] `whole` (see :func:`lib.cost.dma.whole_extents`) the dimensions that indices walk, and the
    most minor one of the tables that have them; `operands`: of the same kernels.

    The table is the first source of a gather or scatter, the indices are the second; the dimensions of the table that
    the loops of the indices walk are indexed ones, and so are those of a scatter's output.
    """
    scatter = op_kind_numbers()["scatter"]
    for op in np.flatnonzero(np.isin(kernels.op_kind, (op_kind_numbers()["gather"], scatter))):
        k = int(np.searchsorted(kernels.op_offset, op, side="right")) - 1
        first, output = kernels.operand_offset[k], kernels.operand_offset[k + 1] - 1
        inputs = output - first
        edges = kernels.edge[kernels.edge_offset[k] : kernels.edge_offset[k + 1]]
        sources = edges[edges[:, 1] == op - kernels.op_offset[k] + inputs, 0]
        if len(sources) < 2 or sources[0] >= inputs:
            continue
        if sources[1] < inputs:
            indices = kernels.operand_stride[first + sources[1]]
        else:
            indices = kernels.op_stride[kernels.op_offset[k] + sources[1] - inputs]
        for table in [first + sources[0]] + ([output] if kernels.op_kind[op] == scatter else []):
            dimensions = np.arange(operands.node[table, FIRST], operands.node[table, END])
            loops = operands.dimension[dimensions, LOOP]
            indexed = dimensions[[loop < NO_EXTENT and indices[loop] > 0 for loop in loops]]
            if len(indexed):
                whole[dimensions[0]] = -abs(whole[dimensions[0]])
                whole[indexed] = INDEXED
