"""The datapath space of a search: FAST's table 3, and what a point of it means as hardware."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schemas.search import FULL_SPACE

PARAMETERS = tuple(FULL_SPACE)
"""FAST table 3, in its order."""
CONFIGS = ("l1_config", "l2_config")
"""Parameters whose values are names; all others are integers."""
L2_MULTIPLIERS = ("l2_input_multiplier", "l2_weight_multiplier", "l2_output_multiplier")

CLOCK_HZ = 1.0e9
"""FAST's designs: peak FLOP/s of table 5 over two per multiply-accumulate unit gives 1.0 GHz."""
CHANNEL_BYTES_PER_S = 56.0e9
"""One GDDR6 channel: table 5's 448 GB/s over 8 channels (32 bits at 14 Gb/s)."""
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


@dataclass(frozen=True)
class Space:
    """Allowed values of every parameter, ascending as they are written."""

    values: dict[str, tuple[int | str, ...]]

    @property
    def size(self) -> int:
        """Number of points (4.83e13 for the whole of table 3)."""
        return math.prod(len(allowed) for allowed in self.values.values())


def space_from_spec(spec: Mapping[str, list]) -> Space:
    """The space of a resolved search entry (`space:`, parameter to allowed values).

    Raises ValueError where parameters are missing, unknown or without values.
    """
    empty = [name for name, allowed in spec.items() if not allowed]
    missing, unknown = sorted(set(PARAMETERS) - set(spec)), sorted(set(spec) - set(PARAMETERS))
    if missing or unknown or empty:
        raise ValueError(f"space: missing {missing}, unknown {unknown}, without values {empty}")
    return Space({name: tuple(spec[name]) for name in PARAMETERS})


def datapath_of(point: Point) -> dict[str, Any]:
    """The resolved `datapath:` of a point: bytes, Hz, bytes/s, one core (FAST's designs have one).

    Lanes of a PE's vector unit are the multiplier times the array's columns (table 3); the register tile is
    8 sublanes by as many lanes as the vector unit has, at most 128. The multipliers of a disabled L2 mean nothing and
    are 1, so that equal designs look equal.
    """
    lanes = int(point["vector_multiplier"]) * int(point["systolic_columns"])
    channels = int(point["dram_channels"])
    same = [name for name in PARAMETERS if name not in ("vector_multiplier", "dram_channels")]
    without_l2 = point["l2_config"] == "disabled"
    return {name: 1 if without_l2 and name in L2_MULTIPLIERS else point[name] for name in same} | {
        "clock_hz": CLOCK_HZ,
        "cores": 1,
        "vector_lanes": lanes,
        "dram_kind": "gddr6",
        "dram_channels": channels,
        "dram_bytes_per_s": channels * CHANNEL_BYTES_PER_S,
        "number_format": NUMBER_FORMAT,
        "depthwise_mapping": DEPTHWISE_MAPPING,
        "vector_path": VECTOR_PATH,
        "array_efficiency": ARRAY_EFFICIENCY,
        "register_sublanes": REGISTER_SUBLANES,
        "register_lanes": min(MOST_REGISTER_LANES, lanes),
    }
