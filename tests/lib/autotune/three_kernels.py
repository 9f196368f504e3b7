"""A target of three kernels and few tiles, worked by hand.

Kernel A runs twice; its tiles take 1.0 (default), 0.8, 0.5 s, and the fourth can't be run. Kernel B runs once; 0.4 and
0.6 s (default). Kernel C has one tile, 0.3 s. So the program takes 2 + 0.6 + 0.3 = 2.9 s by default, 1.7 s at best.
"""

import numpy as np

from lib.autotune.configuration import Configuration
from lib.autotune.target import DatapathTarget, Measured
from lib.autotune.tile_order import TileSpace
from lib.cost.cost_model import Costs, Reason
from lib.program.extraction import ProgramKernels
from lib.program.kernel_builder import KernelsBuilder
from lib.schedule.schedules import schedules_for_tiles
from tests.datapath_examples import tpu_v3
from tests.kernel_examples import dot, elementwise, reduction

KERNEL = np.array([0, 0, 0, 0, 1, 1, 2])
TILE_BATCH = np.array([4, 3, 2, 1, 2, 1, 4])
SECONDS = np.array([1.0, 0.8, 0.5, np.nan, 0.4, 0.6, 0.3])
IS_DEFAULT = np.array([True, False, False, False, False, True, True])
SCORE = np.array([3.0, 2.0, 4.0, 1.0, 1.0, 2.0, 1.0])
"""A model that finds A's fourth tile best, then the second, the default, the third; and of B the first."""
EXECUTIONS = np.array([2, 1, 1])
DEFAULT_S = np.array([1.0, 0.6, 0.3])
SPEC = {
    "top": [1, 2],
    "exhaustive": True,
    "seeds": [1],
    "budgets_s": [4.0],
    "compile_costs_s": [1.0, 10.0],
    "repeats": 3,
    "timeout_s": 2.0,
    "tiles_per_kernel": 100,
}


def kernels():
    builder = KernelsBuilder()
    for row in (dot(), elementwise(), reduction()):
        builder.add(row)
    return builder.build()


def space() -> TileSpace:
    tile = np.ones((7, 8), dtype=np.int32)
    tile[:, 0] = TILE_BATCH
    return TileSpace(kernels(), EXECUTIONS, schedules_for_tiles(KERNEL, tile), IS_DEFAULT, np.array([0, 4, 6, 7]))


def default() -> Configuration:
    found = ProgramKernels(
        kernels=kernels(),
        executions=EXECUTIONS.astype(np.int32),
        roots=["a", "b", "c"],
        occurrence_kernel=np.arange(3, dtype=np.int32),
        occurrence_root=np.arange(3, dtype=np.int32),
        occurrence_edge=np.empty((0, 3), dtype=np.int32),
        occurrence_executions=EXECUTIONS.astype(np.int32),
        occurrence_leaves=np.ones(3, dtype=bool),
    )
    tile = space().schedules.tile[IS_DEFAULT]
    return Configuration(np.arange(3), found, tile, DEFAULT_S, tile, DEFAULT_S, np.array([4, 2, 1]))


def looked_up(schedules, table: np.ndarray) -> np.ndarray:
    """Values of rows by kernel and tile."""
    at = {(k, batch): row for row, (k, batch) in enumerate(zip(KERNEL.tolist(), TILE_BATCH.tolist(), strict=True))}
    pairs = zip(schedules.kernel.tolist(), schedules.tile[:, 0].tolist(), strict=True)
    return table[[at[pair] for pair in pairs]]


class HandMadeTarget(DatapathTarget):
    """Says what the table says, and counts how many configurations it was asked for."""

    def __init__(self, reason: Reason = Reason.FAILED, stops_after: int | None = None, batch: int = 100):
        self.reason, self.stops_after, self.batch = reason, stops_after, batch
        self.datapath, self.asked = tpu_v3(), 0

    def tile_space(self, kernels, executions, most) -> TileSpace:
        return space()

    def measure(self, kernels, schedules) -> Measured:
        if self.stops_after is not None and self.asked >= self.stops_after:
            raise KeyboardInterrupt
        seconds = looked_up(schedules, SECONDS)
        self.asked += len(seconds)
        return Measured(seconds, np.where(np.isnan(seconds), self.reason, Reason.OK).astype(np.uint8))


class HandMadeModel:
    """Ranks by the table."""

    name, scale, accepts, part_names = "by-hand", "rank", frozenset({"tile"}), ()

    def cost(self, kernels, schedules, datapath, *, parts=False) -> Costs:
        score = looked_up(schedules, SCORE)
        return Costs(score, np.zeros(len(score), dtype=np.uint8), np.zeros((len(score), 3)), None, None)
