"""A roofline on XLA's own cost analysis: what a compiler's users have without any model of their own.

Samuel Williams, Andrew Waterman, David Patterson, "Roofline", CACM 2009: seconds are the larger of FLOPs over a peak
rate and bytes over a bandwidth. A fixed time a kernel is added, since most kernels of small programs do next to
nothing.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from lib.dataset.shards import Shard

COLUMNS = ("xla_flops", "xla_bytes")
"""XLA's count of a kernel's FLOPs and of the bytes that it reads and writes."""
MOST_STEPS = 4_000
"""Of the fit, which takes a few hundred."""


class Roofline(NamedTuple):
    """Three constants of a device."""

    flops_per_s: float
    bytes_per_s: float
    fixed_s: float

    def seconds(self, rows: pd.DataFrame) -> np.ndarray:
        """float64[r] of rows that have COLUMNS."""
        flops, moved = (rows[name].to_numpy(np.float64) for name in COLUMNS)
        return np.maximum(flops / self.flops_per_s, moved / self.bytes_per_s) + self.fixed_s


def fitted_rooflines(shards: Iterable[Shard]) -> dict[str, Roofline]:
    """The roofline of each hardware variant, fitted on all rows of these shards, which must be of training programs;
    shards without XLA's cost analysis are passed over."""
    rows: dict[str, list[pd.DataFrame]] = {}
    for shard in shards:
        if set(COLUMNS) <= set(shard.rows):
            rows.setdefault(shard.hardware, []).append(shard.rows)
    return {hardware: fitted(pd.concat(parts, ignore_index=True)) for hardware, parts in rows.items()}


def fitted(rows: pd.DataFrame) -> Roofline:
    """Least squares of the logarithms, so that short and long kernels count alike; of `runtime_s` and COLUMNS.

    Nelder and Mead's method from the fastest rates and the shortest time that the rows show: deterministic.
    """
    runtime_s = rows["runtime_s"].to_numpy(np.float64)
    flops, moved = (rows[name].to_numpy(np.float64) for name in COLUMNS)
    rates = [max(float(np.max(count / runtime_s)), 1.0) for count in (flops, moved)]
    start = np.log([*rates, float(runtime_s.min())])

    def loss(logarithms: np.ndarray) -> float:
        model = Roofline(*np.exp(logarithms))
        return float(np.mean(np.log(model.seconds(rows) / runtime_s) ** 2))

    found = minimize(loss, start, method="Nelder-Mead", options={"maxiter": MOST_STEPS, "maxfev": MOST_STEPS})
    return Roofline(*(float(value) for value in np.exp(found.x)))
