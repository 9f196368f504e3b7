"""Explains what the simulator says of a program's kernels: `python -m lib.cost.explain PROGRAM_FOLDER`.

Without `--kernel` it lists the kernels that take the most time, with it one kernel: loops, tile, loop nest, operands,
ops and where the time goes, beside the analytical model's view. Kernels are those of the default fusion under their
default tiles, on one core.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from lib.command_line import run_command
from lib.cost.analytical import Analytical
from lib.cost.cost_model import Costs
from lib.cost.energy import Energy, energy_of_rows
from lib.cost.simulator import Simulator
from lib.cost.time_parts import analytical_parts, simulator_parts
from lib.fusion.default_kernels import default_kernels
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.job import print_answer
from lib.program.extraction import ProgramKernels
from lib.program.kernels import ABSENT, KERNEL_CLASSES
from lib.program.op_kinds import op_kind_table
from lib.program.program import Program
from lib.program.program_table import program_from_arrays
from lib.schedule.default import default_schedule
from lib.schedule.loop_nest import bytes_text, loop_names, loop_nest_text, nest_of
from lib.schedule.node_table import operand_table, tile_bytes, tile_limits
from lib.schedule.schedules import Schedules
from schemas.artifact import ArtifactError
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from schemas.power_area import PowerAreaModel
from schemas.problem import allowed_names
from schemas.program_artifact import ProgramArtifact

MOST_KERNELS = 10
"""Kernels that the list shows."""
MICROSECONDS = MICROJOULES = 1e6
POWER_MODELS = get_args(PowerAreaModel)


class Priced(NamedTuple):
    """A program's kernels with what both models say of them."""

    found: ProgramKernels
    kernel_of_root: dict[str, int]
    """Kernel by the name of the root instruction, of every occurrence."""
    schedules: Schedules
    """One row a kernel: its default tile."""
    simulated: Costs
    analytical: Costs
    datapath: Datapath


def priced(program: Program, datapath: Datapath) -> Priced:
    """The kernels of the default fusion under their default tiles.

    Raises ValueError for an instruction that no kernel represents, an op kind that the models do not know and a kernel
    of which no tile fits.
    """
    found = default_kernels(program)
    schedules = default_schedule(found.kernels, datapath, found.roots)
    simulated = Simulator().cost(found.kernels, schedules, datapath, parts=True)
    analytical = Analytical().cost(found.kernels, schedules, datapath, parts=True)
    kernel_of_root = {
        program.instructions[root].name: kernel
        for root, kernel in zip(found.occurrence_root.tolist(), found.occurrence_kernel.tolist(), strict=True)
    }
    return Priced(found, kernel_of_root, schedules, simulated, analytical, datapath)


def kernel_number(view: Priced, wanted: str) -> int:
    """The kernel with a root of that name, or of that number. Raises ValueError with the nearest names if none is."""
    if wanted in view.kernel_of_root:
        return view.kernel_of_root[wanted]
    last = view.found.kernels.number - 1
    if wanted.isdecimal() and int(wanted) <= last:
        return int(wanted)
    raise ValueError(
        f"no kernel is called '{wanted}' (they are numbered 0 to {last}); {allowed_names(wanted, view.kernel_of_root)}"
    )


def longest_text(view: Priced, most: int = MOST_KERNELS) -> str:
    """The `most` kernels that take the most time over all their executions, as a table; share is of the program."""
    found = view.found
    simulated_us = MICROSECONDS * view.simulated.value * found.executions
    analytical_us = MICROSECONDS * view.analytical.value * found.executions
    total = float(simulated_us.sum())
    width = max(len(name) for name in ["kernel", *found.roots])
    lines = [
        f"{found.kernels.number} kernels run {int(found.executions.sum())} times and take {total:.4g} us by the "
        f"simulator, {float(analytical_us.sum()):.4g} us by the analytical model",
        f"{'number':>6}  {'kernel':{width}}  {'class':21}  {'executions':>10}  {'us, all':>10}  {'share':>6}  "
        f"{'analytical':>10}",
    ]
    for k in np.argsort(-simulated_us, kind="stable")[:most].tolist():
        lines.append(
            f"{k:6}  {found.roots[k]:{width}}  {KERNEL_CLASSES[found.kernels.kernel_class[k]]:21}  "
            f"{found.executions[k]:10}  {simulated_us[k]:10.1f}  {100 * simulated_us[k] / total:5.1f}%  "
            f"{analytical_us[k]:10.1f}"
        )
    return "\n".join(lines)


def kernel_text(view: Priced, k: int) -> str:
    """The explanation of kernel `k` in sections."""
    found = view.found
    kernels, tile = found.kernels, view.schedules.tile[k]
    nest = nest_of(kernels, k, tile, int(view.schedules.loop_order[k]))
    times = "once" if found.executions[k] == 1 else f"{found.executions[k]} times"
    lines = [
        f"kernel {k}: {found.roots[k]} ({KERNEL_CLASSES[kernels.kernel_class[k]]}), runs {times}", "",
        f"{'loop':12} {'extent':>8} {'tile':>8}",
    ]  # fmt: skip
    for slot, name in enumerate(loop_names(kernels, k)):
        if kernels.loop_kind[k, slot] != ABSENT:
            lines.append(f"{name:12} {kernels.loops[k, slot]:8} {tile[slot]:8}")
    steps = f"{nest.steps} tile step" + ("s" if nest.steps > 1 else "")
    lines += ["", f"loop nest ({steps}; loads run one step ahead, stores one behind)"]
    lines += [f"  {line}" for line in loop_nest_text(nest).splitlines()]
    lines += ["", f"{'operand':12} {'tile':>10} {'whole':>10}"]
    for operand in nest.operands:
        lines.append(f"{operand.name:12} {bytes_text(operand.tile_bytes):>10} {bytes_text(operand.whole_bytes):>10}")
    lines += [_on_chip(view, k), "", f"ops: {', '.join(_ops(view, k))}", "", *_times(view, k), "", *_energy(view, k)]
    return "\n".join(lines)


def _on_chip(view: Priced, k: int) -> str:
    operands = operand_table(view.found.kernels, view.datapath.register_sublanes, view.datapath.register_lanes)
    size = sum(tile_bytes(operands, k, np.append(view.schedules.tile[k], 1).astype(np.int64)))
    limit = tile_limits(view.datapath).whole
    return (
        f"one set of tiles, padded to registers, takes {bytes_text(size)} of {bytes_text(limit)} (half of the buffer)"
    )


def _ops(view: Priced, k: int) -> list[str]:
    kernels, table = view.found.kernels, op_kind_table()
    start, end = kernels.op_offset[k], kernels.op_offset[k + 1]
    return [
        table[kernels.op_kind[op]][0] + (" (hero)" if op == kernels.hero[k] else "")
        for op in range(int(start), int(end))
    ]


ROWS = {
    "compute_s": "compute: the longest unit in each step", "control_s": "control of the steps",
    "exposed_s": "exposed: transfers that no compute hides", "launch_s": "launch of the kernel", "total_s": "total",
    "matrix_s": "matrix unit", "vector_s": "vector unit", "mesh_s": "mesh", "load_s": "load", "store_s": "store",
}  # fmt: skip
"""What the table calls the parts."""


def _energy(view: Priced, k: int) -> list[str]:
    """Of one run on one core by component, under both power models."""
    assert view.simulated.parts is not None
    row = slice(k, k + 1)
    found = [
        energy_of_rows(
            view.found.kernels, view.schedules.kernel[row], view.simulated.value[row], view.simulated.parts[row],
            view.datapath, model,
        )
        for model in POWER_MODELS
    ]  # fmt: skip
    lines = [f"{'microjoules, one run on one core':42} " + " ".join(f"{model:>12}" for model in POWER_MODELS)]
    for component in Energy._fields:
        cells = (MICROJOULES * getattr(energy, component)[0] for energy in found)
        lines.append(f"  {component.replace('_', ' '):40} " + " ".join(f"{cell:12.3f}" for cell in cells))
    lines.append(f"  {'total':40} " + " ".join(f"{MICROJOULES * energy.total[0]:12.3f}" for energy in found))
    return lines


def _times(view: Priced, k: int) -> list[str]:
    simulated, analytical = simulator_parts(view.simulated), analytical_parts(view.analytical, view.datapath)
    lines = [f"{'microseconds, one run':42} {'simulator':>12} {'analytical':>12}"]
    for part, words in ROWS.items():
        if part == "matrix_s":
            lines.append("of which busy, side by side:")
        cells = (MICROSECONDS * getattr(parts, part)[k] for parts in (simulated, analytical))
        lines.append(f"  {words:40} " + " ".join(f"{cell:12.3f}" for cell in cells))
    return lines


def read_program(folder: Path) -> Program:
    """The program of an artifact's folder, at the workload's batch.

    Raises ValueError for a folder that is no program's, ArtifactError for a damaged artifact.
    """
    try:
        return program_from_arrays(ProgramArtifact.read(folder)["program.npz"])
    except ArtifactError as error:
        if not error.is_another_folder:
            raise
        raise ValueError(
            f"{folder} is not a program's folder ({error.path.name}: {error.field}: {error.problem}); give one that the"
            " workflow has made, RESULTS/program/WORKLOAD"
        ) from error


def main(arguments: Sequence[str]) -> int:
    """Print the longest kernels or one kernel; 1 and what is wrong on standard error if something is."""
    parser = argparse.ArgumentParser(prog="python -m lib.cost.explain", description=__doc__)
    add_program_arguments(parser, preset="tpu-v3")
    parser.add_argument("--kernel", metavar="NAME_OR_NUMBER", help="a root's name or a number of the list")
    asked = parser.parse_args(arguments)
    return print_answer(lambda: _answer(asked))


def add_program_arguments(parser: argparse.ArgumentParser, preset: str) -> None:
    """What :func:`asked_program` reads: a program's folder, its batch, a hardware preset (by default `preset`)."""
    parser.add_argument("program", type=Path, metavar="PROGRAM_FOLDER", help="RESULTS/program/WORKLOAD")
    parser.add_argument("--hardware", metavar="PRESET", default=preset, help=", ".join(HARDWARE_PRESETS))
    parser.add_argument("--batch", type=int, metavar="N", help="instead of the program's own")


def asked_program(asked: argparse.Namespace) -> tuple[Program, Datapath]:
    """The program at the batch asked for, and one core of the preset. Raises ValueError for an unknown preset or a
    folder that is no program's."""
    if asked.hardware not in HARDWARE_PRESETS:
        raise ValueError(f"no preset is called '{asked.hardware}'; {allowed_names(asked.hardware, HARDWARE_PRESETS)}")
    program = read_program(asked.program)
    if asked.batch is not None:
        program = program.with_batch(asked.batch)
    return program, datapath_from_spec(merged_datapath([HARDWARE_PRESETS[asked.hardware]]))


def _answer(asked: argparse.Namespace) -> str:
    program, datapath = asked_program(asked)
    view = priced(program, datapath)
    text = longest_text(view) if asked.kernel is None else kernel_text(view, kernel_number(view, asked.kernel))
    return f"{program.name}, batch {program.batch}, one core of {asked.hardware}\n{text}"


if __name__ == "__main__":
    run_command(main)
