"""The goals of the learned models, one place for all of them."""

from functools import cache
from typing import Literal

from pydantic import model_validator

from schemas.base import StrictModel
from schemas.presets import load_preset

Statistic = Literal["mean", "worst", "over-analytical"]
GROUPS = ("inside", "outside")
"""Goals on these are about groups of sampled hardware variants, others about one variant."""


class Goal(StrictModel):
    """A bound on one figure of an evaluation."""

    id: str
    """Short name, unique."""
    what: str
    """The figure in words."""
    split: Literal["family", "program", "likeness"] = "family"
    """How the test programs were held out."""
    task: Literal["tile", "fusion"]
    """Of the model."""
    hardware: str
    """A variant's id, or one of GROUPS."""
    trained_on: list[str] | None = None
    """Hardware that the model learned; None: it is the evaluation's headline model."""
    metric: str
    """Column `metric` of the evaluation's tables."""
    statistic: Statistic = "mean"
    """Over programs; over-analytical: mean over that of the analytical model."""
    operator: Literal["<=", "<", ">="]
    """Between the figure and the bound."""
    bound: float
    """In the metric's unit; a ratio for over-analytical."""
    others: str
    """What is known of others."""

    @model_validator(mode="after")
    def _groups_have_means(self) -> "Goal":
        if self.hardware in GROUPS and self.statistic != "mean":
            raise ValueError(f"goal {self.id}: statistic {self.statistic} of a group of variants; allowed: mean")
        return self

    @property
    def text(self) -> str:
        """Operator and bound, e.g. `<= 3.5`."""
        return f"{self.operator} {self.bound:g}"

    def is_met(self, value: float) -> bool:
        """Whether the value keeps the bound."""
        if self.operator == ">=":
            return value >= self.bound
        return value < self.bound if self.operator == "<" else value <= self.bound


class _Goals(StrictModel):
    goals: list[Goal]


@cache
def load_goals() -> list[Goal]:
    """The goals of `schemas/presets/goals.yaml`."""
    return _Goals.model_validate(load_preset("goals")).goals
