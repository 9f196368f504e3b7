"""One figure of ours beside someone else's."""

from typing import Literal, NamedTuple

Role = Literal["calibration", "validation"]
"""Calibration: constants were fitted on it. Validation: never fitted (design of each is in `reference.yaml`)."""

Relation = Literal["equal", "at most", "at least"]


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
    relation: Relation = "equal"
    """How ours should stand to theirs; a bound is no figure to be near to."""

    @property
    def error_pct(self) -> float:
        """Percent of their figure, signed; NaN where there is none or where theirs is 0. Of a bound: by how much ours
        breaks it, 0 where it holds."""
        if not self.theirs:
            return float("nan")
        error = 100.0 * (self.ours / self.theirs - 1.0)
        if self.relation == "at most":
            return max(0.0, error)
        return min(0.0, error) if self.relation == "at least" else error
