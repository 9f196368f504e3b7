"""What padding is worth to a program: `python -m lib.fidelity.fast.padding PROGRAM_FOLDER`.

FAST pads problem dimensions before Timeloop maps them (section 5.3), but gives neither the rule nor an ablation. Here
the same kernels take the best schedules without padding and with it (:mod:`lib.schedule.padding`), with nothing
resident and with what a residency variant keeps on chip.
"""

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lib.command_line import run_command
from lib.cost.explain import add_program_arguments, asked_program
from lib.cost.simulator import Simulator
from lib.cost.simulator_constants import SimulatorConstants
from lib.fusion.default_kernels import default_kernels
from lib.hardware.datapath import Datapath
from lib.job import print_answer
from lib.program.program import Program
from lib.residency.program_residency import Variant, leaving
from lib.residency.solve import solve
from lib.schedule.padding import best_schedules_by_padding

TILES = 256
"""Of each kernel: the compiler's and a sample."""
ACCEPTED_GAP = 0.01


class PaddingAblation(NamedTuple):
    """Seconds of a program on one core; [0] without padding, [1] with it."""

    alone_s: tuple[float, float]
    """Nothing resident."""
    resident_s: tuple[float, float]
    """With the variant's residency, under the same schedules."""
    slower: list[str]
    """Kernels (their root's name) that lose a tenth or more without padding, the largest loss of time first."""


def padding_ablation(program: Program, datapath: Datapath, variant: Variant) -> PaddingAblation:
    """Price a program with padding off and on. Raises ValueError for a kernel of which no tile fits."""
    found = default_kernels(program)
    leaves = leaving(found, program)
    without, padded = best_schedules_by_padding(found.kernels, datapath, limit=TILES)
    alone, resident = [], []
    for best, pads_loops in ((without, 0), (padded, 1)):
        lost = np.flatnonzero(np.isnan(best.seconds))
        if len(lost):
            raise ValueError(f"no tile of kernel '{found.roots[lost[0]]}' fits on chip")
        model = Simulator(SimulatorConstants(pads_loops=pads_loops))
        kept = solve(
            found, leaves, best.schedules, datapath, model, variant, accepted_gap=ACCEPTED_GAP, exact_seconds=0
        )
        alone.append(float(best.seconds @ found.executions))
        resident.append(kept.seconds)
    loss = (without.seconds - padded.seconds) * found.executions
    slower = [found.roots[k] for k in np.argsort(-loss) if without.seconds[k] >= 1.1 * padded.seconds[k]]
    return PaddingAblation((alone[0], alone[1]), (resident[0], resident[1]), slower)


def ablation_text(ablation: PaddingAblation, variant: str) -> str:
    """A few lines for a terminal."""
    lines = [f"{'':24} {'off, ms':>9} {'on, ms':>9} {'worth':>8}"]
    for name, (off, on) in (("nothing resident", ablation.alone_s), (f"residency {variant}", ablation.resident_s)):
        lines.append(f"{name:24} {1e3 * off:9.3f} {1e3 * on:9.3f} {100 * (off / on - 1):+7.1f}%")
    if ablation.slower:
        lines.append("kernels that lose a tenth or more without: " + ", ".join(ablation.slower[:5]))
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the ablation of one program; 1 and what is wrong on standard error if something is."""
    parser = argparse.ArgumentParser(prog="python -m lib.fidelity.fast.padding", description=__doc__)
    add_program_arguments(parser, preset="fast-large")
    parser.add_argument("--residency", choices=("paper-printed", "paper", "lifetime"), default="paper")
    asked = parser.parse_args(arguments)
    return print_answer(lambda: _answer(asked))


def _answer(asked: argparse.Namespace) -> str:
    program, datapath = asked_program(asked)
    ablation = padding_ablation(program, datapath, asked.residency)
    text = ablation_text(ablation, asked.residency)
    return f"{program.name}, batch {program.batch}, one core of {asked.hardware}: padding\n{text}"


if __name__ == "__main__":
    run_command(main)
