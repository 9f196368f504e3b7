"""A program's kernels as the compiler would form them."""

from lib.fusion.space import default_fusion, group
from lib.program.extraction import ProgramKernels, extract
from lib.program.program import Program


def default_kernels(program: Program) -> ProgramKernels:
    """The kernels of the program under the default fusion.

    Raises ValueError for an instruction that no kernel represents.
    """
    return extract(program, group(program, default_fusion(program)))
