"""Kernels under construction, each known by a number: which instruction may join which is found out only once.

Growing a region is the costly part of grouping. All configurations of a program share what was found: a region is a
node of a tree whose path from the root of the tree names its members in the order in which they joined.
"""

from lib.program.dataflow import Dataflow
from lib.program.region import Region

REFUSED = -1
"""In place of a state: the instruction can't join."""
REGIONS_KEPT = 50_000
"""Regions in memory at the same time, a few KiB each; one that is needed again is grown anew."""


class RegionStates:
    """Every region that any configuration of a program has grown through, from 0."""

    def __init__(self, flow: Dataflow):
        self.flow = flow
        self.parent: list[int] = []
        """The state before the last member joined; REFUSED for a root alone."""
        self.member: list[int] = []
        """The instruction that joined last: the smallest index of the region."""
        self._roots: dict[int, int] = {}
        self._next: dict[int, int] = {}
        self._regions: dict[int, Region] = {}

    def root(self, index: int) -> int:
        """The state of a region that holds its root alone. Raises UnsupportedInstruction."""
        if index not in self._roots:
            self._roots[index] = self._new(REFUSED, index, Region(self.flow, index))
        return self._roots[index]

    def add(self, state: int, index: int) -> int:
        """The state after the instruction has joined, or REFUSED. Raises UnsupportedInstruction."""
        key = state * len(self.flow.instructions) + index
        after = self._next.get(key)
        if after is None:
            region = self.region(state).copy()
            after = self._next[key] = self._new(state, index, region) if region.add(index) else REFUSED
        return after

    def region(self, state: int) -> Region:
        """The region itself; it must not be changed."""
        region = self._regions.get(state)
        if region is None:
            index, before = self.member[state], self.parent[state]
            if before == REFUSED:
                region = Region(self.flow, index)
            else:
                region = self.region(before).copy()
                region.add(index)
            self._keep(state, region)
        return region

    def _new(self, before: int, index: int, region: Region) -> int:
        self.parent.append(before)
        self.member.append(index)
        self._keep(len(self.parent) - 1, region)
        return len(self.parent) - 1

    def _keep(self, state: int, region: Region) -> None:
        if len(self._regions) >= REGIONS_KEPT:
            self._regions.clear()
        self._regions[state] = region
