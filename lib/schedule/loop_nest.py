"""The loop nest of a schedule row as text: what runs inside what, and where operands move.

A loop whose tile is its whole extent does not appear. An operand is loaded anew in each trip of the innermost loop of
the nest that it extends along (lib/cost/pipeline.py prices it so); one that extends along none is loaded once.
"""

from typing import NamedTuple

import numpy as np

from lib.program.kernels import ABSENT, INPUT, LOOPS, OUTPUT, PARALLEL, WEIGHT, Kernels, take
from lib.schedule.footprint import tile_elements
from lib.schedule.loops import has_canonical_loops, loop_nest

INDENT = "  "
ROLE_NAMES = {INPUT: "input", WEIGHT: "weight", OUTPUT: "output"}


class Level(NamedTuple):
    """One loop of the nest."""

    name: str
    trips: int
    tile: int
    """Elements along the loop of every tile but the last."""
    last: int
    """Elements of the last tile; less than `tile` at an edge."""
    reduces: bool
    """The output does not extend along it."""


class Operand(NamedTuple):
    """What moves between memory and the tile's buffer."""

    name: str
    level: int
    """Position of the innermost loop of the nest that it extends along; -1: none."""
    tile_bytes: int
    """Of a tile that lies at no edge, without the padding of registers."""
    whole_bytes: int


class LoopNest(NamedTuple):
    """A kernel under a schedule row."""

    levels: list[Level]
    """Outermost first; only loops of more than one trip."""
    operands: list[Operand]
    """Inputs and weights in the kernel's order, the output last."""
    steps: int
    """Tile steps: the product of all trips."""


def loop_names(kernels: Kernels, k: int) -> list[str]:
    """A name for each canonical loop of kernel `k`: without a matrix or window op they are the output's dimensions from
    the major one on, then the reduced ones."""
    if has_canonical_loops(kernels)[k]:
        return list(LOOPS)
    kinds = kernels.loop_kind[k]
    parallel = int(np.count_nonzero(kinds == PARALLEL))
    names = [f"dimension_{slot}" for slot in range(8)]
    for slot in range(8):
        if kinds[slot] not in (ABSENT, PARALLEL):
            names[slot] = f"reduced_{slot - parallel}"
    return names


def operand_names(kernels: Kernels, k: int) -> list[str]:
    """`input 0`, `input 1`, `weight 0`, ..., `output`, in the order of kernel `k`'s operands."""
    seen = dict.fromkeys(ROLE_NAMES, 0)
    names = []
    for role in kernels.operand_role[kernels.operand_offset[k] : kernels.operand_offset[k + 1]].tolist():
        names.append("output" if role == OUTPUT else f"{ROLE_NAMES[role]} {seen[role]}")
        seen[role] += 1
    return names


def nest_of(kernels: Kernels, k: int, tile: np.ndarray, loop_order: int = 0) -> LoopNest:
    """The nest of kernel `k` with `tile` (int[8], within the kernel's loops) and a position in `LOOP_ORDERS`."""
    one = take(kernels, np.array([k]))
    loops, names = one.loops[0].tolist(), loop_names(one, 0)
    order = loop_nest(loop_order, has_canonical_loops(one)[0]).tolist()
    cut = [slot for slot in order if tile[slot] < loops[slot]]
    levels = []
    for slot in cut:
        extent, part = loops[slot], int(tile[slot])
        trips = -(-extent // part)
        reduces = one.operand_stride[-1, slot] == 0
        levels.append(Level(names[slot], trips, part, extent - (trips - 1) * part, bool(reduces)))
    operands = []
    for row, name in enumerate(operand_names(one, 0)):
        stride, size = one.operand_stride[row], int(one.operand_element_bytes[row])
        level = max((position for position, slot in enumerate(cut) if stride[slot] > 0), default=-1)
        elements = tile_elements(
            stride, one.loop_kind[0], one.base_dilation[0], np.asarray(tile, dtype=np.int64), one.operand_elements[row]
        )
        operands.append(Operand(name, level, int(elements) * size, int(one.operand_elements[row]) * size))
    return LoopNest(levels, operands, int(np.prod([level.trips for level in levels], dtype=np.int64)))


def loop_nest_text(nest: LoopNest) -> str:
    """The nest, outermost loop first, two spaces a level; loops whose last tile is smaller are marked as an edge.

    The output is stored where its tile is left. Where a reducing loop lies outside of that, it goes out and comes back
    as partial sums.
    """
    output = nest.operands[-1]
    carried = any(level.reduces for level in nest.levels[: output.level + 1])
    lines: list[str] = []
    for position in range(-1, len(nest.levels)):
        if position >= 0:
            lines.append(INDENT * position + _loop_line(nest.levels[position]))
        inside = INDENT * (position + 1)
        lines += [
            f"{inside}load {operand.name} ({bytes_text(operand.tile_bytes)})"
            for operand in nest.operands[:-1]
            if operand.level == position
        ]
        if carried and output.level == position:
            lines.append(f"{inside}load output's partial sums, but not in the first trips of the reducing loops")
    lines.append(INDENT * len(nest.levels) + "compute")
    partial = ", as float32 partial sums until complete" if carried else ""
    lines.append(f"{INDENT * (output.level + 1)}store output ({bytes_text(output.tile_bytes)}){partial}")
    return "\n".join(lines)


def _loop_line(level: Level) -> str:
    edge = f", edge: last of {level.last}" if level.last < level.tile else ""
    reduces = ", reduces" if level.reduces else ""
    return f"for {level.name}: {level.trips} trips of {level.tile}{edge}{reduces}"


def bytes_text(size: float) -> str:
    """A size with the largest binary unit that it reaches."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size:.0f} B"
