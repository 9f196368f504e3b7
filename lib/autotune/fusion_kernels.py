"""Distinct kernels of a program's fusion configurations, and what models say of them: each built and priced once."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from lib.cost.cost_model import CostModel, Reason
from lib.fusion.region_states import RegionStates
from lib.hardware.datapath import Datapath
from lib.program.kernel_builder import KernelsBuilder
from lib.program.kernel_row import region_row
from lib.program.kernels import Kernels, concatenate, take
from lib.schedule.default import default_tiles
from lib.schedule.schedules import schedules_for_tiles

Price = Callable[[Kernels], np.ndarray]
"""float64[k] seconds of one execution of each kernel; infinite for one that can't run."""


class DefaultTilePrice:
    """What a cost model says of kernels under their default tiles; a :data:`Price`."""

    def __init__(self, model: CostModel, datapath: Datapath):
        """Raises ValueError for a model that gives no seconds."""
        if model.scale != "seconds":
            raise ValueError(f"cost model '{model.name}' ranks tiles of a kernel and gives no seconds of a program")
        self.model, self.datapath = model, datapath

    def __call__(self, kernels: Kernels) -> np.ndarray:
        tile, _, fits = default_tiles(kernels, self.datapath)
        seconds = np.full(kernels.number, np.inf)
        rows = np.flatnonzero(fits)
        if len(rows):
            costs = self.model.cost(kernels, schedules_for_tiles(rows, tile[rows]), self.datapath)
            seconds[rows] = np.where(costs.reason == Reason.OK, costs.value, np.inf)
        return seconds


class DistinctKernels:
    """Kernels by number, from 0 in the order in which they were met; the same fingerprint is the same kernel."""

    def __init__(self, states: RegionStates):
        self.states = states
        self.fingerprint: list[str] = []
        self.root: list[str] = []
        """Name of the root instruction where each kernel was first met."""
        self.members: list[tuple[int, ...]] = []
        """Ascending indices of its instructions there."""
        self._number: dict[str, int] = {}
        self._of_state: dict[int, int] = {}
        self._parts: list[Kernels] = []

    def numbers(self, states: Sequence[int]) -> list[int]:
        """Number of the kernel of each state. Raises UnsupportedInstruction for what no kernel represents."""
        new = [state for state in dict.fromkeys(states) if state not in self._of_state]
        if new:
            builder = KernelsBuilder()
            for state in new:
                builder.add(region_row(self.states.region(state))[0])
            built = builder.build()
            first = []
            for place, (state, name) in enumerate(zip(new, built.fingerprint, strict=True)):
                if name not in self._number:
                    self._number[name] = len(self.fingerprint)
                    self.fingerprint.append(name)
                    region = self.states.region(state)
                    self.root.append(region.flow.instructions[region.root].name)
                    self.members.append(tuple(sorted(region.members)))
                    first.append(place)
                self._of_state[state] = self._number[name]
            self._parts.append(take(built, np.array(first, dtype=np.int64)))
        return [self._of_state[state] for state in states]

    def kernels(self, numbers: Iterable[int]) -> Kernels:
        """The kernels with these numbers, in their order."""
        if len(self._parts) > 1:
            self._parts = [concatenate(self._parts)]
        return take(self._parts[0], np.array(list(numbers), dtype=np.int64))


class KernelPrices:
    """Seconds of kernels by a :data:`Price`, which is asked once a kernel, for all new ones together."""

    def __init__(self, kernels: DistinctKernels, price: Price):
        self.kernels = kernels
        self.price = price
        self.of_fingerprint: dict[str, float] = {}
        self.of_state: dict[int, float] = {}

    def learn(self, states: Iterable[int]) -> None:
        """Price the kernels of all states that have no entry in `of_state` yet."""
        new = [state for state in dict.fromkeys(states) if state not in self.of_state]
        if new:
            numbers, names = self.kernels.numbers(new), self.kernels.fingerprint
            self.learn_numbers(numbers)
            for state, number in zip(new, numbers, strict=True):
                self.of_state[state] = self.of_fingerprint[names[number]]

    def learn_numbers(self, numbers: Iterable[int]) -> None:
        """Price the kernels with these numbers that have no entry in `of_fingerprint` yet."""
        names = self.kernels.fingerprint
        new = [number for number in dict.fromkeys(numbers) if names[number] not in self.of_fingerprint]
        if new:
            seconds = self.price(self.kernels.kernels(new)).tolist()
            self.of_fingerprint |= {names[number]: each for number, each in zip(new, seconds, strict=True)}

    def replace(self, seconds: Mapping[str, float]) -> None:
        """Other seconds for some kernels, by fingerprint."""
        self.of_fingerprint |= seconds
        self.of_state.clear()
