"""The figures of the FAST paper (Zhang et al., ASPLOS 2022) that our models can be compared with.

A module a group of tables and figures; each has a function from programs to figures and leaves out what it has no
program for.
"""

from collections.abc import Iterator, Mapping

from lib.fidelity.fast.intensity import intensity_figures
from lib.fidelity.fast.sizes import size_figures
from lib.fidelity.figure import Figure
from lib.program.program import Program

PARTS = (size_figures, intensity_figures)


def fast_figures(programs: Mapping[str, Program]) -> Iterator[Figure]:
    """Every figure that the programs, by the paper's names, allow."""
    for part in PARTS:
        yield from part(programs)
