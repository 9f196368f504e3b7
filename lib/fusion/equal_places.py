"""Instructions that stand in equal surroundings: networks repeat blocks, and what helps in one helps in all.

Colour refinement (Weisfeiler and Leman, 1968) over what an instruction reads and who reads it: after `RADIUS` rounds
two instructions have the same colour if nothing tells them apart within so many steps.
"""

from collections.abc import Sequence

from lib.program.dataflow import Dataflow
from lib.program.program import Instruction

RADIUS = 3
"""Steps. A move reaches as far, see `lib.autotune.fusion_chain`; with more, the first and last of equal blocks count as
different."""


def equal_places(flow: Dataflow) -> list[tuple[int, ...]]:
    """For each instruction all those, itself among them, that stand in equal surroundings; in the program's order."""
    colours = _numbered([(_own(one), output) for one, output in zip(flow.instructions, flow.output, strict=True)])
    for _ in range(RADIUS):
        colours = _numbered(
            [
                (
                    colour,
                    tuple((operand.position, colours[operand.source]) for operand in flow.operands[index]),
                    tuple(sorted((use.operand.position, colours[use.reader]) for use in flow.uses[index])),
                )
                for index, colour in enumerate(colours)
            ]
        )
    places: dict[int, list[int]] = {}
    for index, colour in enumerate(colours):
        places.setdefault(colour, []).append(index)
    together = {colour: tuple(indices) for colour, indices in places.items()}
    return [together[colour] for colour in colours]


def _own(instruction: Instruction) -> Instruction:
    """What it is, without its name and what it reads."""
    return instruction.replace(name="", operands=())


def _numbered(keys: Sequence[object]) -> list[int]:
    """A number for each distinct key."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]
