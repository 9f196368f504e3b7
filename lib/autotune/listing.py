"""A configured program as text: HLO in which each kernel has a name, and what differs from the default."""

import difflib

import numpy as np

from lib.autotune.configuration import Configuration, kernel_name
from lib.program.kernels import KERNEL_CLASSES, Kernels
from lib.program.program import Instruction, Program
from lib.schedule.loop_nest import loop_names

MICROSECONDS = 1e6
CONTEXT = 2
"""Unchanged lines around a change."""


def listing(program: Program, configuration: Configuration) -> str:
    """The program in order, kernel by kernel; a kernel stands where its root does.

    A comment behind each kernel's name tells its class, how often it runs there, its tile (only loops that it cuts) and
    the microseconds of one run. Instructions that no kernel computes (parameters, free reshapes) stand alone.
    """
    names = [instruction.name for instruction in program.instructions]
    members: dict[int, list[int]] = {}
    for index, root in enumerate(configuration.groups.tolist()):
        members.setdefault(root, []).append(index)
    found = configuration.found
    occurrence = {int(root): place for place, root in enumerate(found.occurrence_root)}
    lines = [f"HloModule {program.name}, batch={program.batch}", ""]
    for index, root in enumerate(configuration.groups.tolist()):
        if root < 0:
            lines.append(_line(program.instructions[index], names))
        elif root == index:
            place = occurrence[index]
            lines += ["", f"%{kernel_name(names[index])} {{  {_comment(configuration, place)}"]
            lines += [f"  {_line(program.instructions[member], names)}" for member in members[index]]
            lines += ["}", ""]
    return "\n".join([*lines, f"ROOT ({', '.join(f'%{names[output]}' for output in program.outputs)})"]) + "\n"


def _line(instruction: Instruction, names: list[str]) -> str:
    shape = f"{instruction.dtype}[{','.join(map(str, instruction.dimensions))}]"
    layout = f"{{{','.join(map(str, instruction.layout))}}}" if instruction.layout else ""
    operands = ", ".join(f"%{names[operand]}" for operand in instruction.operands)
    return f"%{instruction.name} = {shape}{layout} {instruction.opcode}({operands})"


def _comment(configuration: Configuration, place: int) -> str:
    found = configuration.found
    k = int(found.occurrence_kernel[place])
    kernel_class = KERNEL_CLASSES[found.kernels.kernel_class[k]]
    runs = int(found.occurrence_executions[place])
    times = "" if runs == 1 else f", runs {runs} times"
    tile = tile_text(found.kernels, k, configuration.tile[k])
    return f"// {kernel_class}{times}, {tile}, {configuration.seconds[k] * MICROSECONDS:,.3f} us"


def tile_text(kernels: Kernels, k: int, tile: np.ndarray) -> str:
    """The loops of kernel `k` that the tile (int32[8]) cuts, e.g. `tile out_h 7 of 56, out_c 128 of 256`."""
    cut = [
        f"{name} {part} of {extent}"
        for name, part, extent in zip(loop_names(kernels, k), tile.tolist(), kernels.loops[k].tolist(), strict=True)
        if part < extent
    ]
    return f"tile {', '.join(cut)}" if cut else "one tile"


def difference(program: Program, default: Configuration, chosen: Configuration) -> str:
    """What is other in the listing of the chosen configuration than in that of the default, as a unified diff."""
    before, after = (listing(program, configuration).splitlines() for configuration in (default, chosen))
    lines = list(difflib.unified_diff(before, after, "default", "chosen", n=CONTEXT, lineterm=""))
    return "\n".join(lines) + "\n" if lines else "The default configuration is the one chosen.\n"
