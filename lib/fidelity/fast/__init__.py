"""The figures of the FAST paper (Zhang et al., ASPLOS 2022) that our models can be compared with.

A module a group of tables and figures; each has a function from programs, or from their runs on datapaths, to figures,
and leaves out what it has no program for.
"""

from collections.abc import Iterator, Mapping

from lib.fidelity.fast.ablation import ablation_figures
from lib.fidelity.fast.blocks import block_figures
from lib.fidelity.fast.build_up import build_up_figures
from lib.fidelity.fast.designs import design_figures
from lib.fidelity.fast.fused_intensity import fused_intensity_figures
from lib.fidelity.fast.intensity import intensity_figures
from lib.fidelity.fast.runs import Runs
from lib.fidelity.fast.shares import share_figures
from lib.fidelity.fast.sizes import size_figures
from lib.fidelity.fast.throughput import scheduling_figures, throughput_figures
from lib.fidelity.figure import Figure
from lib.program.program import Program

OF_PROGRAMS = (size_figures, intensity_figures, fused_intensity_figures)
"""Sizes and bytes: nothing is priced."""
OF_RUNS = (
    share_figures, design_figures, ablation_figures, throughput_figures, block_figures, scheduling_figures,
    build_up_figures,
)  # fmt: skip
"""Priced by the simulator."""


def fast_figures(programs: Mapping[str, Program]) -> Iterator[Figure]:
    """Every figure that the programs, by the paper's names, allow."""
    for of_programs in OF_PROGRAMS:
        yield from of_programs(programs)
    runs = Runs(programs)
    for of_runs in OF_RUNS:
        yield from of_runs(runs)
