"""The kernels of a program as FAST's simulator sees them: byte convention `table-5`.

Our compiler makes kernels of their own of what the paper keeps in the region of a matrix op, and every kernel pays for
all it reads. Here, so that figures can be compared with the paper's,

- a reduction reads nothing: it is part of what makes the array that it reduces, and costs what the vector unit adds up;
- squeeze-excite's convolutions on one pixel stand at the end of the chain, where their weights cost what they cost and
  nothing passes between them and the rest;
- of several inputs only the one from the kernel just before, or else the largest one, costs anything (variant
  `paper-printed` of :mod:`lib.residency`).
"""

from typing import NamedTuple

import numpy as np

from lib.program.dataflow import REDUCTION
from lib.program.extraction import ProgramKernels
from lib.program.kernels import KERNEL_CLASSES
from lib.program.op_kinds import OP_CLASSES, op_class_numbers
from lib.program.program import Program


class Chain(NamedTuple):
    """What :func:`lib.residency.program_residency.residency_problem` needs, without the reductions."""

    found: ProgramKernels
    """The occurrences in the chain's order."""
    order: np.ndarray
    """int[c] their numbers in the program."""
    leaves: np.ndarray
    """bool[c]"""
    reductions: np.ndarray
    """int[r] numbers of the occurrences that read nothing."""


def fast_chain(program: Program, found: ProgramKernels, leaves: np.ndarray, matrix_ops: list[str]) -> Chain:
    """The chain of a program's occurrences; `matrix_ops`: m names as in `lib.fidelity.fast.runs.Occurrences`."""
    count = len(found.occurrence_kernel)
    reduces = np.array([_only_reduces(found, kernel) for kernel in range(found.kernels.number)])
    reductions = reduces[found.occurrence_kernel]
    one_pixel = {
        instruction.name
        for instruction in program.instructions
        if instruction.convolution is not None
        and all(instruction.dimensions[axis] == 1 for axis in instruction.convolution.output_spatial)
    }
    aside = np.array([name in one_pixel for name in matrix_ops], dtype=bool)
    numbers = np.arange(count)
    order = np.concatenate([numbers[~reductions & ~aside], numbers[~reductions & aside]])
    place = np.full(count, -1)
    place[order] = np.arange(len(order))
    # What goes to or from a kernel set aside, or comes from a reduction, is no tensor of the chain.
    edges = found.occurrence_edge
    kept = ~(reductions | aside)[edges[:, 0]] & ~(reductions | aside)[edges[:, 1]]
    moved = edges[kept].copy()
    moved[:, :2] = place[moved[:, :2]]
    in_order = found._replace(
        occurrence_kernel=found.occurrence_kernel[order],
        occurrence_root=found.occurrence_root[order],
        occurrence_edge=moved.astype(np.int32),
        occurrence_executions=found.occurrence_executions[order],
        occurrence_leaves=leaves[order],
    )
    return Chain(in_order, order, leaves[order], numbers[reductions])


def _only_reduces(found: ProgramKernels, kernel: int) -> bool:
    """Whether a kernel begins with a reduction: nothing of what it reads passes through another op first."""
    kernels = found.kernels
    if KERNEL_CLASSES[kernels.kernel_class[kernel]] != REDUCTION:
        return False
    first = kernels.op_offset[kernel]
    operands = kernels.operand_offset[kernel + 1] - kernels.operand_offset[kernel] - 1
    classes = op_class_numbers()[kernels.op_kind]
    hero = int(kernels.hero[kernel])
    assert OP_CLASSES[classes[hero]] == REDUCTION
    edges = kernels.edge[kernels.edge_offset[kernel] : kernels.edge_offset[kernel + 1]]
    readers = edges[(edges[:, 0] == 0), 1]
    return bool(operands >= 1 and hero - first + operands in readers)
