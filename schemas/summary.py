"""`RESULTS/report/summary.json`: every headline figure, the one place where a script reads them."""

from typing import Literal

from schemas.artifact import Origin
from schemas.base import StrictModel

Role = Literal["result", "claim", "calibration", "validation"]


class HeadlineFigure(StrictModel):
    """One number of the report."""

    name: str
    """Dotted, e.g. `evaluation.accuracy.tile.tpu-v3.ape_pct.learned`."""
    value: float | None
    """None where the study could not tell, e.g. too few kernels."""
    unit: str
    """Empty for ratios and correlations."""
    origin: Origin
    """Where the runtimes behind it come from."""
    role: Role = "result"
    """What an outside figure is used for; `result` for our own."""
    goal: str | None = None
    """What the house plan asks for, e.g. `<= 1.0`; None where it asks for nothing."""
    met: bool | None = None
    """Whether the goal is met; None without one."""


class Summary(StrictModel):
    """All headline figures of a study."""

    figures: list[HeadlineFigure]
    """Sorted by name."""
