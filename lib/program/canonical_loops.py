"""From the loops of a region to the eight canonical loops, and from index maps to stride and order rows."""

from math import prod

from lib.program.index_map import IndexMap, Term
from lib.program.kernels import ABSENT, KERNEL_H, OUT_H, PARALLEL, REDUCTION, WINDOW
from lib.program.program import Instruction
from lib.program.region import Region

SLOTS = 8
LARGEST_RANK = 6
"""Output dimensions of a kernel without a matrix or window op; of more, adjacent ones are merged."""

KINDS = (PARALLEL, PARALLEL, PARALLEL, PARALLEL, REDUCTION, WINDOW, WINDOW, PARALLEL)
"""Kind of each canonical loop where the hero is a matrix or window op."""


class CanonicalLoops:
    """The canonical loops of a region.

    `loops`, `loop_kind`: tuple of 8; `base_dilation`: tuple of 2. A canonical loop may merge several loops of the
    region, the major one first.
    """

    def __init__(self, region: Region):
        maps = region.hero_maps
        slots = maps.slots if maps is not None else None
        self.base_dilation = maps.base_dilation if maps is not None else (1, 1)
        kind = [ABSENT] * SLOTS
        if slots is None:
            slots = _numbered_slots(region)
            for slot, members in slots.items():
                kind[slot] = region.kind[members[0]]
        else:
            for slot, members in slots.items():
                if members:
                    kind[slot] = KINDS[slot]
        self.loops = tuple(prod(region.extent[loop] for loop in slots.get(slot, [])) for slot in range(SLOTS))
        self.loop_kind = tuple(kind)
        self.slot_of = {loop: slot for slot, members in slots.items() for loop in members}
        self.minor_of = {loop: place == len(m) - 1 for m in slots.values() for place, loop in enumerate(m)}

    def rows(self, instruction: Instruction, index_map: IndexMap) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(stride, order) of an array, as in `Kernels.operand_stride` and `operand_order` without filler."""
        stride = [0] * SLOTS
        order: list[int] = []
        for dimension in instruction.layout:
            for term in reversed(index_map[dimension]):
                slot = self._place(term, stride)
                if slot not in order:
                    order.append(slot)
        return tuple(stride), tuple(order)

    def iteration_stride(self) -> tuple[int, ...]:
        """1 for every loop that there is: the stride row of a hero."""
        return tuple(int(kind != ABSENT) for kind in self.loop_kind)

    def _place(self, term: Term, stride: list[int]) -> int:
        if term.window >= 0:
            taps = self.slot_of[term.window]
            slot = taps - KERNEL_H + OUT_H
            stride[taps] = term.window_stride
            stride[slot] = term.stride
            return slot
        slot = self.slot_of[term.loop]
        if stride[slot] == 0 or self.minor_of[term.loop]:
            stride[slot] = term.stride
        return slot


def _numbered_slots(region: Region) -> dict[int, list[int]]:
    """The root's loops from slot 0, major first, then the reduced ones; adjacent major ones merged where too many."""
    parallel = [[loop] for loop in region.root_loops if loop >= 0]
    reduced = [[loop] for loop in range(len(region.extent)) if region.kind[loop] == REDUCTION]
    while len(parallel) > LARGEST_RANK or (len(parallel) > 1 and len(parallel) + len(reduced) > SLOTS):
        parallel[:2] = [parallel[0] + parallel[1]]
    while len(parallel) + len(reduced) > SLOTS:
        reduced[:2] = [reduced[0] + reduced[1]]
    return dict(enumerate(parallel + reduced))
