"""One figure of ours beside someone else's."""

from typing import Literal, NamedTuple

Role = Literal["calibration", "validation"]
"""Calibration: constants were fitted on it. Validation: never fitted (design of each is in `reference.yaml`)."""


class Figure(NamedTuple):
    """A row of the page 'How true is the simulator'."""

    source: str
    """Where their figure comes from: `scalesim`, `zigzag`, `accelforge`, `tpu-tiles`, `fast-table-1`, ..."""
    subject: str
    """What was modelled: a layer, kernel, workload or design; unique within source and quantity."""
    quantity: str
    """Short name with its unit where it has one, as `compute_cycles`, `queries_per_s`, `kendall_tau_simulator`."""
    unit: str
    """Empty for shares, ratios and correlations."""
    role: Role
    ours: float
    theirs: float
    """NaN where the source prints nothing to compare with."""
    note: str = ""
    """What explains the difference, or what the reader must know."""
    low: float = float("nan")
    """Least of `ours` over the constants that are known only within a range; NaN where none matters."""
    high: float = float("nan")
    """Most of it."""

    @property
    def error_pct(self) -> float:
        """Percent of their figure, signed; NaN where there is none or where theirs is 0."""
        return 100.0 * (self.ours / self.theirs - 1.0) if self.theirs else float("nan")
