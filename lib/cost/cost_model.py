"""The one face of everything that prices a kernel under a schedule on a hardware variant."""

from enum import IntEnum
from typing import Literal, NamedTuple, Protocol

import numpy as np

from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules


class Reason(IntEnum):
    """Why a row has no cost."""

    OK = 0
    TILE_TOO_LARGE = 1
    UNSUPPORTED_OP = 2
    NO_BUFFER = 3
    NOT_RECORDED = 4
    FAILED = 5
    TIMED_OUT = 6


class Costs(NamedTuple):
    """One entry a schedule row."""

    value: np.ndarray
    """float64[r] seconds, or a score where scale is "rank"; NaN exactly where reason is not OK."""
    reason: np.ndarray
    """uint8[r]"""
    dram_bytes: np.ndarray
    """float64[r, 3] moved for inputs, weights, output."""
    joules: np.ndarray | None
    """float64[r], or None where the model knows no energy."""
    parts: np.ndarray | None
    """float64[r, len(model.part_names)], seconds unless the name says otherwise; only if asked for."""


class CostModel(Protocol):
    """What autotuners, datasets and searches call."""

    @property
    def name(self) -> str:
        """Short, as in tables."""
        ...

    @property
    def scale(self) -> Literal["seconds", "rank"]:
        """What `Costs.value` is."""
        ...

    @property
    def accepts(self) -> frozenset[str]:
        """Of "tile", "schedule", "residency", "hardware": what may vary between rows or calls."""
        ...

    @property
    def part_names(self) -> tuple[str, ...]:
        """Columns of `Costs.parts`."""
        ...

    def cost(self, kernels: Kernels, schedules: Schedules, datapath: Datapath, *, parts: bool = False) -> Costs:
        """Price every row. Raises ValueError naming an op kind that the model does not know."""
        ...
