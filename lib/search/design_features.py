"""What a surrogate sees of a design."""

import math
from typing import Any

import numpy as np

from lib.hardware.area import chip_pes, l1_bytes, l2_bytes
from lib.search.space import Point
from schemas.search_space import NAMES


def design_features(point: Point, spec: dict[str, Any]) -> np.ndarray:
    """float64[f] of a point and its resolved datapath: the point's numbers and what follows from them, as
    log2(1 + number), and its names as places in their lists.

    Derived: peak of the arrays and lanes, bandwidth, their ratios, bytes on chip by level, and both per sample.
    """
    pes = chip_pes(spec)
    macs = pes * spec["systolic_rows"] * spec["systolic_columns"]
    lanes = pes * spec["vector_lanes"]
    l1, l2 = sum(l1_bytes(spec)), sum(l2_bytes(spec))
    shared_level = spec["global_buffer_bytes"] or pes * (l2 or l1)
    bandwidth, batch = spec["dram_bytes_per_s"] / spec["clock_hz"], spec["native_batch"]
    numbers = [spec[name] for name in point if name in spec and name not in NAMES]
    derived = (
        pes, macs, lanes, l1, l2, shared_level, bandwidth, macs / bandwidth, lanes / bandwidth, macs / lanes,
        shared_level / batch, macs / batch,
    )  # fmt: skip
    names = [allowed.index(point[name]) for name, allowed in NAMES.items() if name in point]
    return np.array([*(math.log2(1 + value) for value in (*numbers, *derived)), *names], dtype=np.float64)
