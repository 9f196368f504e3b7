"""The instructions that become one kernel, grown from its root, with the index map of each."""

from copy import copy
from math import prod

from lib.program.dataflow import IN_PLACE, Dataflow, Operand, Use
from lib.program.hero_maps import HeroMaps, hero_maps
from lib.program.index_map import IndexMap, NotRepresentable, Term, through_free, through_op, whole
from lib.program.indexed_maps import INDICES, TABLE, UPDATES, indices_map, numbers_a_position, table_map
from lib.program.kernels import PARALLEL, REDUCTION
from lib.program.program import Instruction
from lib.program.work import written_dimensions

LARGEST_KERNEL = 64
"""Instructions a kernel may have; keeps tiles' live values and graphs of kernels small."""

CUTS = ("concatenate", "pad", "inserted-copy")
"""What these read is not computed in their kernel: it would be computed at fewer positions than the result has, or
must be in memory."""
PART_READERS = ("slice", "dynamic-slice")
"""What has another reader beside one of these is not computed in its kernel: each reads another part."""
OWN_KERNEL = (*IN_PLACE, "inserted-copy")
"""Ops whose result must be in memory: they are the root of a kernel."""


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
        self.written = written_dimensions(instruction, [flow.instructions[o] for o in instruction.operands])
        """Extents of what the kernel writes: the root's result, or the part that it updates in place."""
        self.root_loops = [self.new_loop(n, PARALLEL) if n > 1 else -1 for n in self.written]
        self.maps[root] = self._root_map(instruction)
        if flow.is_hero(root):
            self._make_hero(root)

    def copy(self) -> "Region":
        """A region of its own that has grown as far as this one."""
        other = copy(self)
        other.members, other.extent, other.kind = self.members.copy(), self.extent.copy(), self.kind.copy()
        other.maps = self.maps.copy()
        return other

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
            index_map = self._read_map(instructions[reader], instructions[current], operand.position, reader)
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
        if len(self.members) >= LARGEST_KERNEL or self.flow.runs[index] != self.flow.runs[self.root]:
            return False
        uses = self.flow.uses[index]
        readers = {self.flow.instructions[use.reader].opcode for use in uses}
        if readers.intersection(PART_READERS) and len(uses) > 1:
            return False
        if self.flow.instructions[index].opcode in OWN_KERNEL or any(self._cut(use) for use in uses):
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
            elif self.flow.instructions[index].opcode in ("concatenate", "gather") and self._reduces(index_map):
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
        return self.flow.instructions[index].elements == prod(self.written)

    def _root_map(self, root: Instruction) -> IndexMap:
        """The map of the root's result; a scatter's is that of the rows that it writes."""
        own = tuple(whole([loop]) if loop >= 0 else () for loop in self.root_loops)
        if root.opcode != "scatter":
            return own
        assert root.indexing is not None
        return table_map(root.indexing, root, self.flow.instructions[root.operands[UPDATES]], own)

    def _read_map(self, reader: Instruction, operand: Instruction, position: int, index: int) -> IndexMap:
        """Map of what a member that is no hero reads."""
        numbers = reader.indexing
        if numbers is None:
            return through_op(reader, operand, self.maps[index])
        if reader.opcode == "gather":
            sliced, sliced_map = reader, self.maps[index]
        else:
            sliced = self.flow.instructions[reader.operands[UPDATES]]
            sliced_map = tuple(whole([loop]) if loop >= 0 else () for loop in self.root_loops)
        if position == TABLE:
            return table_map(numbers, operand, sliced, sliced_map)
        return indices_map(numbers, operand, sliced, sliced_map) if position == INDICES else sliced_map

    def _cut(self, use: Use) -> bool:
        """Whether what is read there must be in memory, or is computed at other positions than those that are read."""
        reader = self.flow.instructions[use.reader]
        position = use.operand.position
        if reader.indexing is not None and position == INDICES:
            return numbers_a_position(reader.indexing, self.flow.instructions[reader.operands[INDICES]]) > 1
        in_memory = reader.indexing is not None or reader.opcode in IN_PLACE
        return reader.opcode in CUTS or (in_memory and position == TABLE)

    def _reduces(self, index_map: IndexMap) -> bool:
        return any(term.window >= 0 or self.kind[term.loop] >= REDUCTION for entry in index_map for term in entry)
