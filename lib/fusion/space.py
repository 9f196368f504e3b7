"""The fusion configurations of a program: which exist, the default one, random ones, and the kernels they give."""

from collections.abc import Callable

import numpy as np

from lib.fusion.epilogues import epilogue_owners
from lib.program.dataflow import Dataflow
from lib.program.program import Program
from lib.program.region import Region

LARGEST_FLIP_SHARE = 0.5
"""Largest share of the default configuration that a random one changes."""


class FusionSpace:
    """The configurations of one program; the rules are in docs/compiler.md.

    A configuration is bool[n], one flag an instruction: fused into all its readers. Flags of instructions that can't
    be fused have no meaning and are False in what this class makes.
    """

    def __init__(self, program: Program):
        self.flow = Dataflow(program)
        self.fusible = self._fusible()
        self._default: np.ndarray | None = None

    def default(self) -> np.ndarray:
        """bool[n]: what a compiler like XLA would fuse."""
        if self._default is None:
            owner = epilogue_owners(self.flow)

            def wanted(index: int, region: Region) -> bool:
                return owner[index] < 0 or owner[index] == owner[region.root]

            groups = self._grow(wanted)
            self._default = (groups >= 0) & (groups != np.arange(len(groups)))
        return self._default.copy()

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """bool[n]: half of the draws change a random share of the default, the others fuse a random share."""
        draw = rng.random(len(self.fusible))
        if rng.random() < 0.5:
            fuse = self.default() ^ (draw < rng.uniform(0.0, LARGEST_FLIP_SHARE))
        else:
            fuse = draw < rng.random()
        return fuse & self.fusible

    def group(self, fuse: np.ndarray) -> np.ndarray:
        """int32[n]: the index of the root instruction of each instruction's kernel; -1 for free and dead ones.

        `fuse` is bool[n]. A flag that would make an illegal kernel counts as False. Raises ValueError for another
        length and UnsupportedInstruction.
        """
        if len(fuse) != len(self.flow.instructions):
            raise ValueError(
                f"{len(fuse)} fusion flags for the {len(self.flow.instructions)} instructions of "
                f"program '{self.flow.program.name}'; one an instruction is needed"
            )
        return self._grow(lambda index, region: bool(fuse[index]))

    def _fusible(self) -> np.ndarray:
        flow = self.flow
        return np.array(
            [
                flow.live[index] and not flow.free[index] and not flow.output[index]
                for index in range(len(flow.instructions))
            ],
            dtype=bool,
        )

    def _grow(self, wanted: Callable[[int, Region], bool]) -> np.ndarray:
        """Visit the instructions from the last to the first; each joins its readers' kernel or roots its own."""
        flow = self.flow
        groups = np.full(len(flow.instructions), -1, dtype=np.int32)
        regions: dict[int, Region] = {}
        for index in range(len(flow.instructions) - 1, -1, -1):
            if flow.free[index] or not flow.live[index]:
                continue
            groups[index] = index
            if self.fusible[index]:
                roots = {int(groups[use.reader]) for use in flow.uses[index]}
                if len(roots) == 1:
                    region = regions[roots.pop()]
                    if wanted(index, region) and region.add(index):
                        groups[index] = region.root
                        continue
            regions[index] = Region(flow, index)
        return groups


def default_fusion(program: Program) -> np.ndarray:
    """bool[n]; see :meth:`FusionSpace.default`."""
    return FusionSpace(program).default()


def random_fusion(program: Program, rng: np.random.Generator) -> np.ndarray:
    """bool[n]; see :meth:`FusionSpace.random`. For many draws keep a :class:`FusionSpace`."""
    return FusionSpace(program).random(rng)


def group(program: Program, fuse: np.ndarray) -> np.ndarray:
    """int32[n]; see :meth:`FusionSpace.group`."""
    return FusionSpace(program).group(fuse)
