"""A configured program as text: HLO in which each kernel has a name, and what differs from the default."""

import difflib

import numpy as np

from lib.autotune.configuration import Configuration, changed_kernels, kernel_name
from lib.autotune.listing_order import listing_order
from lib.program.instruction_text import instruction_text
from lib.program.kernels import KERNEL_CLASSES, Kernels
from lib.program.program import Program
from lib.schedule.loop_nest import loop_names

MICROSECONDS = 1e6
CONTEXT = 2
"""Unchanged lines around a change."""


def listing(program: Program, configuration: Configuration) -> str:
    """The program kernel by kernel, in an order in which every operand stands before what reads it.

    A comment behind each kernel's name tells its class, how often it runs there, its tile (only loops that it cuts) and
    the microseconds of one run. Instructions that no kernel computes (parameters, free reshapes) stand alone, or in the
    kernel from whose instructions they lead back to it.
    """
    names = [instruction.name for instruction in program.instructions]
    found = configuration.found
    occurrence = {int(root): place for place, root in enumerate(found.occurrence_root)}
    runtime_us = configuration.runtime_s * MICROSECONDS
    lines = [f"HloModule {program.name}  // batch {program.batch}, {len(occurrence)} kernels, {runtime_us:,.3f} us", ""]
    for root, members in listing_order(program, configuration.groups):
        if root in occurrence:
            comment = _comment(configuration, occurrence[root])
            lines += ["", f"%{kernel_name(names[root])} {{  {comment}"]
            lines += [f"  {instruction_text(program.instructions[member], names)}" for member in members]
            lines += ["}", ""]
        else:
            lines += [instruction_text(program.instructions[member], names) for member in members]
    return "\n".join([*lines, f"ROOT ({', '.join(f'%{names[output]}' for output in program.outputs)})"]) + "\n"


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
    """What is other in the listing of the chosen configuration than in that of the default: a line that counts it, then
    a unified diff."""
    before, after = (listing(program, configuration).splitlines() for configuration in (default, chosen))
    lines = list(difflib.unified_diff(before, after, "default", "chosen", n=CONTEXT, lineterm=""))
    if not lines:
        return "The default configuration is the one chosen.\n"
    other_tile, other_members = changed_kernels(default, chosen)
    faster_pct = (default.runtime_s / chosen.runtime_s - 1.0) * 100.0
    head = (
        f"{faster_pct:.2f} % faster than the default: {default.runtime_s * MICROSECONDS:,.3f} us before, "
        f"{chosen.runtime_s * MICROSECONDS:,.3f} us after. Of {len(chosen.found.occurrence_root)} kernels (before: "
        f"{len(default.found.occurrence_root)}) {other_members} hold other instructions and {other_tile} further ones "
        "have another tile."
    )
    return "\n".join([head, *lines]) + "\n"
