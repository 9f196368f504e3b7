"""The space of a search: FAST's table 3 and what it leaves out, and what a point of it means as hardware."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from schemas.presets import load_preset
from schemas.search_space import DEFAULT_SPACE, NAMES

PARAMETERS = tuple(DEFAULT_SPACE)
"""FAST table 3, in its order, then kind of DRAM, softmax and dataflows."""
BESIDE_THE_DATAPATH = ("softmax", "dataflows")
"""Parameters that say how programs run on the datapath."""
_BEHIND_OTHERS = ("vector_multiplier", "dram_channels", "dram_kind", *BESIDE_THE_DATAPATH)
_AS_THEY_ARE = tuple(name for name in PARAMETERS if name not in _BEHIND_OTHERS)
"""Parameters that are entries of the datapath themselves."""
L2_MULTIPLIERS = ("l2_input_multiplier", "l2_weight_multiplier", "l2_output_multiplier")

CLOCK_HZ = 1.0e9
"""FAST's designs: peak FLOP/s of table 5 over two per multiply-accumulate unit gives 1.0 GHz."""
NUMBER_FORMAT = "bfloat16"
DEPTHWISE_MAPPING = "taps"
"""Designs of FAST's template put the window of a depthwise convolution on the array's rows (section 3.2)."""
VECTOR_PATH = "mesh"
"""Its vector units lie in the PEs (figure 7)."""
ARRAY_EFFICIENCY = 1.0
"""Their schedules are searched for, not a compiler's: the paper's figures for its designs are such a simulator's."""
REGISTER_SUBLANES = 8
MOST_REGISTER_LANES = 128
"""The register tile is as wide as the vector unit, at most the TPU's 128."""

Point = dict[str, int | str]
"""Value by parameter, in the order of PARAMETERS."""


@dataclass(frozen=True)
class Space:
    """Allowed values of every parameter, ascending as they are written.

    Optimisers see positions: int64[p], for each of the p parameters the place of its value among the allowed ones. So
    neighbours are near, and powers of two evenly spaced.
    """

    values: dict[str, tuple[int | str, ...]]

    @property
    def size(self) -> int:
        """Number of points (4.83e13 for the whole of table 3)."""
        return math.prod(len(allowed) for allowed in self.values.values())

    @cached_property
    def counts(self) -> np.ndarray:
        """int64[p] number of values."""
        return np.array([len(allowed) for allowed in self.values.values()], dtype=np.int64)

    @cached_property
    def named(self) -> np.ndarray:
        """bool[p]: whether the values are names, of which none is nearer than another."""
        return np.array([name in NAMES for name in self.values])

    def point(self, positions: np.ndarray) -> Point:
        """The values at int64[p] positions."""
        return {name: allowed[at] for (name, allowed), at in zip(self.values.items(), positions.tolist(), strict=True)}

    def positions(self, point: Point) -> np.ndarray:
        """int64[p] places of a point's values. Raises ValueError for a value that is not allowed."""
        return np.array([allowed.index(point[name]) for name, allowed in self.values.items()], dtype=np.int64)


def space_from_spec(spec: Mapping[str, list]) -> Space:
    """The space of a resolved search entry (`space:`, parameter to allowed values; those not named keep the default).

    Raises ValueError where parameters are unknown or without values.
    """
    empty, unknown = [name for name, allowed in spec.items() if not allowed], sorted(set(spec) - set(PARAMETERS))
    if unknown or empty:
        raise ValueError(f"space: unknown {unknown}, without values {empty}")
    return Space({name: tuple(spec.get(name, default)) for name, default in DEFAULT_SPACE.items()})


def design_of_point(point: Point) -> tuple[tuple[str, Any], ...]:
    """What distinguishes designs: points that differ elsewhere (multipliers of a disabled L2) are one design."""
    return design_of_datapath(datapath_of(point), point)


def design_of_datapath(datapath: dict[str, Any], point: Point) -> tuple[tuple[str, Any], ...]:
    """The same where the point's datapath is known."""
    return (*datapath.items(), *((name, point[name]) for name in BESIDE_THE_DATAPATH))


def datapath_of(point: Point) -> dict[str, Any]:
    """The resolved `datapath:` of a point: bytes, Hz, bytes/s, one core (FAST's designs have one).

    Lanes of a PE's vector unit are the multiplier times the array's columns (table 3); the register tile is
    8 sublanes by as many lanes as the vector unit has, at most 128. The multipliers of a disabled L2 mean nothing and
    are 1, so that equal designs look equal. Without a kind of DRAM it is GDDR6, the only one of table 3.
    """
    lanes = int(point["vector_multiplier"]) * int(point["systolic_columns"])
    channels, dram_kind = int(point["dram_channels"]), point.get("dram_kind", "gddr6")
    datapath: dict[str, Any] = {name: point[name] for name in _AS_THEY_ARE}
    if point["l2_config"] == "disabled":
        datapath |= dict.fromkeys(L2_MULTIPLIERS, 1)
    return datapath | {
        "clock_hz": CLOCK_HZ,
        "cores": 1,
        "vector_lanes": lanes,
        "dram_kind": dram_kind,
        "dram_channels": channels,
        "dram_bytes_per_s": channels * load_preset("dram")[dram_kind]["channel_bytes_per_s"],
        "number_format": NUMBER_FORMAT,
        "depthwise_mapping": DEPTHWISE_MAPPING,
        "vector_path": VECTOR_PATH,
        "array_efficiency": ARRAY_EFFICIENCY,
        "register_sublanes": REGISTER_SUBLANES,
        "register_lanes": min(MOST_REGISTER_LANES, lanes),
    }
