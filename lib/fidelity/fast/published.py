"""Rows for the page from the reference tables."""

import math
from typing import cast

from lib.fidelity.fast.spread import Spread
from lib.fidelity.figure import Figure, Role
from schemas.reference import load_reference

SOURCES = {
    "fast-working-sets": "fast-table-1",
    "fast-bottlenecks": "fast-table-2",
    "fast-designs": "fast-table-5",
    "fast-ablation": "fast-table-6",
    "fast-step-time": "fast-figure-2",
    "fast-intensity": "fast-figure-3",
    "fast-block-utilisation": "fast-figure-4",
    "fast-attention-shares": "fast-figure-5",
    "fast-attention-utilisation": "fast-section-4.3",
    "fast-speedup": "fast-figure-9",
    "fast-fused-intensity": "fast-figure-13",
    "fast-fused-utilisation": "fast-figure-14",
    "fast-build-up": "fast-figure-15",
}
"""Reference table to the figure's `source`."""


def beside(table: str, row: str, column: str, ours: float | Spread, note: str = "", *, quantity: str = "") -> Figure:
    """Our value beside the one that the paper prints in a row and column of a reference table.

    `quantity` is the column's name unless it is given. What the reference calls a claim counts as validation here: no
    constant was fitted on it. Raises KeyError for a table, row or column that is not there.
    """
    printed = load_reference().figure(table, row, column)
    role = cast(Role, "calibration" if printed.role == "calibration" else "validation")
    theirs = math.nan if printed.value is None else printed.value
    value, low, high = ours if isinstance(ours, Spread) else (float(ours), math.nan, math.nan)
    return Figure(SOURCES[table], row, quantity or column, printed.unit, role, value, theirs, note, low, high)
