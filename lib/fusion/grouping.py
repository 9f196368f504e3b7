"""The kernels of a fusion configuration, kept up to date move by move.

A flipped instruction changes the kernel that it leaves or joins, and through that perhaps what its producers may join,
and theirs. Only these are looked at again, from the last to the first as :meth:`FusionSpace.group` does.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from lib.fusion.equal_places import equal_places
from lib.fusion.region_states import REFUSED, RegionStates
from lib.fusion.space import FusionSpace


class Change(NamedTuple):
    """What a move does to a grouping; instructions and kernels that stay as they are have no entry."""

    nodes: tuple[int, ...]
    """The flipped instructions."""
    root: dict[int, int]
    """New root of an instruction's kernel."""
    state: dict[int, int]
    """New state of the kernel once the instruction has joined it."""
    removed: dict[int, int]
    """State of each kernel, by root, that there is no more."""
    added: dict[int, int]
    """State of each new kernel by root. A kernel that has changed is in both."""


class GroupingRules:
    """What all groupings of a program share."""

    def __init__(self, space: FusionSpace):
        self.space = space
        flow = space.flow
        self.states = RegionStates(flow)
        self.fusible: list[bool] = space.fusible.tolist()
        self.grouped = [i for i in range(len(flow.instructions)) if flow.live[i] and not flow.free[i]]
        self.readers = [tuple({use.reader for use in uses}) for uses in flow.uses]
        self.producers = [
            tuple({operand.source for operand in operands if self.fusible[operand.source]})
            for operands in flow.operands
        ]
        self.nodes: list[int] = np.flatnonzero(space.fusible).tolist()
        """The fusible instructions: what a move may flip."""
        self.neighbours = [
            tuple(sorted({*self.producers[i], *(reader for reader in self.readers[i] if self.fusible[reader])}))
            for i in range(len(flow.instructions))
        ]
        self.equal = equal_places(flow)
        """For each instruction the places where a move may be made as well, see :func:`equal_places`."""


class Grouping:
    """One configuration. `fuse`: its n flags, one an instruction."""

    def __init__(self, rules: GroupingRules, fuse: np.ndarray):
        """`fuse`: bool[n]. Raises UnsupportedInstruction."""
        count = len(rules.fusible)
        if len(fuse) != count:
            raise ValueError(f"{len(fuse)} fusion flags for {count} instructions; one an instruction is needed")
        self.rules = rules
        self.fuse: list[bool] = np.asarray(fuse, dtype=bool).tolist()
        self._root, self._state = [REFUSED] * count, [REFUSED] * count
        self.kernels: dict[int, int] = {}
        """State of each kernel by root."""
        nothing: dict[int, int] = {}
        for index in reversed(rules.grouped):
            root, state = self._place(index, self.fuse[index], nothing, self.kernels)
            self._root[index], self._state[index] = root, state
            self.kernels[root] = state

    def copy(self) -> "Grouping":
        """Another one, whose changes don't reach this one."""
        twin = copy(self)
        twin.fuse, twin._root, twin._state = list(self.fuse), list(self._root), list(self._state)
        twin.kernels = dict(self.kernels)
        return twin

    def groups(self) -> np.ndarray:
        """int32[n]: as of :meth:`FusionSpace.group`."""
        return np.array(self._root, dtype=np.int32)

    def fused(self) -> np.ndarray:
        """bool[n]: the flags that have an effect, all others False."""
        roots = self.groups()
        return (roots >= 0) & (roots != np.arange(len(roots)))

    def after(self, nodes: Iterable[int]) -> Change:
        """What flipping some fusible instructions would change; the grouping stays as it is."""
        flipped = tuple(sorted(set(nodes)))
        root: dict[int, int] = {}
        state: dict[int, int] = {}
        now: dict[int, int] = {}  # by root: how far each kernel that changes has grown
        waiting = [-index for index in flipped]
        heapify(waiting)
        known = set(flipped)
        vanished: list[int] = []

        def wake(index: int, reader: int) -> None:
            for producer in self.rules.producers[reader]:
                if producer < index and producer not in known:
                    known.add(producer)
                    heappush(waiting, -producer)

        while waiting:
            index = -heappop(waiting)
            old = self._root[index], self._state[index]
            new = self._place(index, self.fuse[index] ^ (index in flipped), root, now)
            if new == old:
                continue
            root[index], state[index] = new
            wake(index, index)
            for kernel in (old[0], new[0]):
                if kernel != index and kernel not in now and root.get(kernel, kernel) == kernel:
                    member = now[kernel] = self._before(kernel, index)
                    while member != REFUSED:  # what it refused so far may fit now
                        wake(index, self.rules.states.member[member])
                        member = self.rules.states.parent[member]
            now[new[0]] = new[1]
            if old[0] == index:
                vanished.append(index)
        added = {kernel: grown for kernel, grown in now.items() if self.kernels.get(kernel) != grown}
        removed = {kernel: self.kernels[kernel] for kernel in (*vanished, *added) if kernel in self.kernels}
        return Change(flipped, root, state, removed, added)

    def apply(self, change: Change) -> None:
        """Make a change that :meth:`after` has just found."""
        for node in change.nodes:
            self.fuse[node] = not self.fuse[node]
        for index, root in change.root.items():
            self._root[index] = root
        for index, state in change.state.items():
            self._state[index] = state
        for kernel in change.removed:
            del self.kernels[kernel]
        self.kernels.update(change.added)

    def _place(self, index: int, fuse: bool, root: Mapping[int, int], now: Mapping[int, int]) -> tuple[int, int]:
        """Root and state of the kernel that the instruction joins, or of its own."""
        rules = self.rules
        if fuse and rules.fusible[index]:
            readers = rules.readers[index]
            kernel = root.get(readers[0], self._root[readers[0]])
            if all(root.get(reader, self._root[reader]) == kernel for reader in readers[1:]):
                before = now[kernel] if kernel in now else self._before(kernel, index)
                state = rules.states.add(before, index)
                if state != REFUSED:
                    return kernel, state
        return index, rules.states.root(index)

    def _before(self, kernel: int, index: int) -> int:
        """State of an unchanged kernel when its members above `index` have joined."""
        states, state = self.rules.states, self.kernels[kernel]
        while states.member[state] <= index:
            state = states.parent[state]
        return state
