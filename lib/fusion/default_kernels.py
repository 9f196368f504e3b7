"""A program's kernels as the compiler would form them."""

from lib.fusion.space import default_fusion, group
from lib.program.extraction import ProgramKernels, extract
from lib.program.program import Program
from lib.program.softmax import Softmax, with_softmax


def default_kernels(program: Program, *, softmax: Softmax = "three-pass") -> ProgramKernels:
    """The kernels of the program under the default fusion, every softmax in the form asked for.

    With another form than the program's own, indices of instructions are those of
    :func:`lib.program.softmax.with_softmax`. Raises ValueError for an instruction that no kernel represents.
    """
    program = with_softmax(program, softmax)
    return extract(program, group(program, default_fusion(program)))
