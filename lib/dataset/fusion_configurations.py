"""The fusion configurations of a dataset: the default one, random ones, and those of walks and of annealing."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lib.fusion import FusionSpace
from lib.fusion.walk import annealed, random_walk
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.program.extraction import KernelExtractor, ProgramKernels
from lib.program.kernels import take
from lib.program.program import Program
from lib.schedule.default import default_tiles
from schemas.hardware import HARDWARE_PRESETS, merged_datapath

ESTIMATED_ON = "tpu-v3"
"""Preset on which annealing estimates runtimes, whatever is labelled: so all variants have the same kernels."""


class FusedKernels(NamedTuple):
    """A fusion configuration and its kernels."""

    groups: np.ndarray
    """int32[n] root instruction of each instruction's kernel, -1: none computes it."""
    found: ProgramKernels


def fusion_kernels(program: Program, random: int, walks: int, annealing: int, seed: int) -> list[ProgramKernels]:
    """The kernels of :func:`fusion_configurations`."""
    return [one.found for one in fusion_configurations(program, random, walks, annealing, seed)]


def fusion_configurations(program: Program, random: int, walks: int, annealing: int, seed: int) -> list[FusedKernels]:
    """The default fusion, then of `random` independent configurations, `walks` of a random walk and
    `annealing` of simulated annealing on analytical estimates.

    Each kind draws from a stream of its own, so that a larger number of one keeps the others. Only the length of an
    annealing shapes all of it, as its temperature falls over the whole.
    """
    space, extractor = FusionSpace(program), KernelExtractor(program)

    def configurations() -> Iterator[np.ndarray]:
        yield space.default()
        rng = np.random.default_rng(seed)
        yield from (space.random(rng) for _ in range(random))
        yield from random_walk(space, walks, np.random.default_rng([seed, 1]))
        if annealing:
            yield from annealed(space, annealing, np.random.default_rng([seed, 2]), estimate.seconds)

    estimate = _Estimate(space, extractor)
    grouped = [space.group(fuse) for fuse in configurations()]
    return [FusedKernels(groups, extractor.extract(groups)) for groups in grouped]


class _Estimate:
    """Analytical seconds of configurations; a kernel met before is not estimated again."""

    def __init__(self, space: FusionSpace, extractor: KernelExtractor):
        self._space, self._extractor = space, extractor
        self._datapath: Datapath = datapath_from_spec(merged_datapath([HARDWARE_PRESETS[ESTIMATED_ON]]))
        self._seconds: dict[str, float] = {}

    def seconds(self, fuse: np.ndarray) -> float:
        """Of the program: kernels by their default tile, times executions; infinite if one has no tile that fits."""
        extracted = self._extractor.extract(self._space.group(fuse))
        kernels = extracted.kernels
        new = [place for place, name in enumerate(kernels.fingerprint) if name not in self._seconds]
        if new:
            _, seconds, fits = default_tiles(take(kernels, np.array(new)), self._datapath)
            seconds = np.where(fits, seconds, np.inf)
            self._seconds |= dict(zip((kernels.fingerprint[place] for place in new), seconds.tolist(), strict=True))
        each = np.array([self._seconds[name] for name in kernels.fingerprint])
        return float((each * extracted.executions).sum())
