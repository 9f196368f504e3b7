"""Devices as targets of the autotuners: every configuration is compiled and run.

What was measured before, by a dataset or another job, comes from the cache of measurements with the seconds that it
took then, so every strategy is charged what compiling and running truly takes, whoever ran it first.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np

from lib.autotune.target import DatapathTarget, Measured
from lib.autotune.tile_order import SAMPLE_SEED, TileSpace
from lib.cost.cost_model import Reason
from lib.hardware.datapath import Datapath
from lib.program.extraction import ProgramKernels
from lib.program.kernels import Kernels
from lib.program.program import Program
from lib.schedule.schedules import Schedules, schedules_for_tiles
from lib.targets.iree_module import tile_module
from lib.targets.measured_tiles import (
    device_tile_counts,
    device_tile_space,
    first_roots,
    own_tiles,
    tiled_groups,
)
from lib.targets.measurer import Measurer
from lib.targets.module import Module
from lib.targets.xla_module import KernelModules

Anew = Callable[[], AbstractContextManager[Measurer]]
"""Starts a measurer without a cache, for one look."""


class Device(DatapathTarget):
    """What the devices have in common: each configuration is a module, or none where it can't be built."""

    batch = 16

    def __init__(self, program: Program, datapath: Datapath, measurer: Measurer, anew: Anew):
        """`datapath`: for the analytical model and the features of learned ones; `anew`: see :data:`Anew`."""
        self.program, self.datapath = program, datapath
        self._measurer, self._anew = measurer, anew

    def measure(self, kernels: Kernels, schedules: Schedules) -> Measured:
        return _measured(self._modules(kernels, schedules), self._measurer)

    def measured_anew(self, kernels: Kernels, schedules: Schedules) -> np.ndarray | None:
        with self._anew() as measurer:
            return _measured(self._modules(kernels, schedules), measurer).seconds

    def _modules(self, kernels: Kernels, schedules: Schedules) -> list[Module | None]:
        raise NotImplementedError


class FusionDevice(Device):
    """XLA on a device: kernels of a program under any fusion configuration. Their tiles are XLA's own, whatever a
    schedule says."""

    def __init__(self, program: Program, datapath: Datapath, measurer: Measurer, anew: Anew):
        super().__init__(program, datapath, measurer, anew)
        self._made = KernelModules(program)
        self._members: dict[str, tuple[int, ...]] = {}

    def occurs(self, fingerprint: str, members: Sequence[int]) -> None:
        self._members.setdefault(fingerprint, tuple(int(index) for index in members))

    def _modules(self, kernels: Kernels, schedules: Schedules) -> list[Module | None]:
        return [self._module(kernels.fingerprint[k]) for k in schedules.kernel.tolist()]

    def _module(self, fingerprint: str) -> Module | None:
        try:
            return self._made.module(self._members[fingerprint])
        except ValueError:
            return None


class TileDevice(Device):
    """IREE on a device: the matrix ops of a program, unfused, each with any tile that the device takes. The compiler's
    own pick is the default."""

    def __init__(self, program: Program, datapath: Datapath, measurer: Measurer, anew: Anew):
        super().__init__(program, datapath, measurer, anew)
        self._root: dict[str, int] = {}
        self._default: dict[str, np.ndarray] = {}

    def occurs(self, fingerprint: str, members: Sequence[int]) -> None:
        self._root.setdefault(fingerprint, int(members[-1]))

    def default_groups(self, program: Program) -> np.ndarray:
        return tiled_groups(program)

    def default_schedule(self, found: ProgramKernels) -> Schedules:
        tile, words = own_tiles(self.program, first_roots(found))
        if any(words):
            raise ValueError(next(word for word in words if word))
        self._default |= dict(zip(found.kernels.fingerprint, tile, strict=True))
        return schedules_for_tiles(np.arange(found.kernels.number, dtype=np.int32), tile)

    def tile_counts(self, kernels: Kernels) -> np.ndarray:
        return device_tile_counts(self.program, [self._root[name] for name in kernels.fingerprint])

    def tile_space(self, kernels: Kernels, executions: np.ndarray, most: int) -> TileSpace:
        default = np.array([self._default[name] for name in kernels.fingerprint], dtype=np.int32).reshape(-1, 8)
        roots = [self._root[name] for name in kernels.fingerprint]
        schedules, is_default = device_tile_space(self.program, roots, default, most, SAMPLE_SEED)
        offset = np.searchsorted(schedules.kernel, np.arange(kernels.number + 1))
        return TileSpace(kernels, executions.astype(np.int64), schedules, is_default, offset)

    def _modules(self, kernels: Kernels, schedules: Schedules) -> list[Module | None]:
        names = [kernels.fingerprint[k] for k in schedules.kernel.tolist()]
        return [self._module(name, tile) for name, tile in zip(names, schedules.tile, strict=True)]

    def _module(self, fingerprint: str, tile: np.ndarray) -> Module | None:
        own = fingerprint in self._default and bool((tile == self._default[fingerprint]).all())
        try:
            return tile_module(self.program, self._root[fingerprint], None if own else tile)
        except ValueError:
            return None


def _measured(modules: Sequence[Module | None], measurer: Measurer) -> Measured:
    """What can't be built fails at no cost."""
    row = [place for place, module in enumerate(modules) if module is not None]
    seconds, spent_s = np.full(len(modules), np.nan), np.zeros(len(modules))
    reason = np.full(len(modules), Reason.UNSUPPORTED_OP, dtype=np.uint8)
    if row:
        found = measurer.measure([module for module in modules if module is not None])
        seconds[row], reason[row] = found.seconds, found.reason
        spent_s[row] = found.spent_s
    return Measured(seconds, reason, spent_s)


DEVICES = {"xla": FusionDevice, "iree": TileDevice}
"""By `runtime:` of the hardware variant."""
