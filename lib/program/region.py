"""The instructions that become one kernel, grown from its root, with the index map of each."""

from lib.program.dataflow import Dataflow, Operand
from lib.program.hero_maps import HeroMaps, hero_maps
from lib.program.index_map import IndexMap, NotRepresentable, Term, through_free, through_op, trimmed, whole
from lib.program.kernels import PARALLEL, REDUCTION

LARGEST_KERNEL = 64
"""Instructions a kernel may have; keeps tiles' live values and graphs of kernels small."""

CUTS = ("concatenate", "pad")
"""What these read is not computed in their kernel: it would be computed at fewer positions than the result has."""


class Region:
    """One kernel under construction. Members are added from the root backwards: readers before what they read.

    Loops are numbered as they appear: `extent` and `kind` hold one entry each. `maps` holds the index map of each
    member; `hero` is the index of the matrix, reduction or window instruction, or -1.
    """

    def __init__(self, flow: Dataflow, root: int):
        self.flow = flow
        self.root = root
        self.members = [root]
        self.extent: list[int] = []
        self.kind: list[int] = []
        self.maps: dict[int, IndexMap] = {}
        self.hero = -1
        self.hero_maps: HeroMaps | None = None
        instruction = flow.instructions[root]
        self.root_loops = [self.new_loop(n, PARALLEL) if n > 1 else -1 for n in instruction.dimensions]
        self.maps[root] = trimmed(instruction, [whole([loop]) for loop in self.root_loops])
        if flow.is_hero(root):
            self._make_hero(root)

    def new_loop(self, extent: int, kind: int) -> int:
        """Number of a further loop."""
        self.extent.append(extent)
        self.kind.append(kind)
        return len(self.extent) - 1

    def split_loop(self, loop: int, major: int) -> tuple[int, int]:
        """Replace a loop by (major, minor) loops in every map. Raises NotRepresentable if it is walked in strides."""
        if any(
            term.loop == loop and term != Term(loop) for map_ in self.maps.values() for entry in map_ for term in entry
        ):
            raise NotRepresentable("a strided access to grouped features")
        parts = (self.new_loop(major, PARALLEL), self.new_loop(self.extent[loop] // major, PARALLEL))
        for index, index_map in self.maps.items():
            self.maps[index] = tuple(whole(list(parts)) if entry == (Term(loop),) else entry for entry in index_map)
        return parts

    def operand_map(self, reader: int, operand: Operand) -> IndexMap:
        """Index map of the array that a member reads. Raises NotRepresentable."""
        view, index_map = self.operand_view(reader, operand)
        if view != operand.source:
            raise NotRepresentable("a reshape that cuts a loop")
        return index_map

    def operand_view(self, reader: int, operand: Operand) -> tuple[int, IndexMap]:
        """What a member reads, followed through free instructions as far as there is an index map.

        (instruction, its map): `operand.source`, or the first result on the way from the reader to it that is
        reshaped in a way that the kernel's loops can't express. May raise NotRepresentable.
        """
        instructions = self.flow.instructions
        current = instructions[reader].operands[operand.position]
        if reader == self.hero and self.hero_maps is not None:
            index_map = self.hero_maps.operands[operand.position]
        else:
            index_map = through_op(instructions[reader], instructions[current], self.maps[reader])
        for index in operand.path:
            below = instructions[index].operands[0]
            try:
                index_map = through_free(instructions[index], instructions[below], index_map, self.extent)
            except NotRepresentable:
                return current, index_map
            current = below
        return current, index_map

    def add(self, index: int) -> bool:
        """Let an instruction join that only members read; False, and nothing changed, if that is no legal kernel."""
        if len(self.members) >= LARGEST_KERNEL:
            return False
        uses = self.flow.uses[index]
        readers = {self.flow.instructions[use.reader].opcode for use in uses}
        if readers.intersection(CUTS) or ("slice" in readers and len(uses) > 1):
            return False
        loops, maps = len(self.extent), self.maps.copy()
        try:
            found = {self.operand_map(use.reader, use.operand) for use in uses}
            if len(found) != 1:
                return False
            index_map = found.pop()
            if self.flow.is_hero(index):
                if self.hero >= 0 or not self._covers_root(index, index_map):
                    return False
                self.maps[index] = index_map
                self._make_hero(index)
            elif self.flow.instructions[index].opcode == "concatenate" and self._reduces(index_map):
                return False
        except NotRepresentable:
            # The hero may have added loops, and split one, before it met what it can't represent.
            del self.extent[loops:], self.kind[loops:]
            self.maps = maps
            return False
        self.maps.setdefault(index, index_map)
        self.members.append(index)
        return True

    def _make_hero(self, index: int) -> None:
        self.hero_maps = hero_maps(self, index)
        self.hero = index

    def _covers_root(self, index: int, index_map: IndexMap) -> bool:
        """Whether the instruction's result is the root's, element by element, up to the order of dimensions."""
        terms = [term for entry in index_map for term in entry]
        wanted = {Term(loop) for loop in self.root_loops if loop >= 0}
        if len(terms) != len(wanted) or set(terms) != wanted:
            return False
        return self.flow.instructions[index].elements == self.flow.instructions[self.root].elements

    def _reduces(self, index_map: IndexMap) -> bool:
        return any(term.window >= 0 or self.kind[term.loop] >= REDUCTION for entry in index_map for term in entry)
