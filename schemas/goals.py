"""The goals of the learned models, of the autotuners and of the searches, one place for all of them."""

from functools import cache
from typing import Literal

from pydantic import model_validator

from schemas.base import StrictModel
from schemas.presets import load_preset

Statistic = Literal["mean", "worst", "over-analytical"]
GROUPS = ("inside", "outside")
"""Goals on these are about groups of sampled hardware variants, others about one variant."""


class Bound(StrictModel):
    """What a figure should be."""

    operator: Literal["<=", "<", ">="]
    """Between the figure and the bound."""
    bound: float
    """In the figure's unit."""

    @property
    def text(self) -> str:
        """Operator and bound, e.g. `<= 3.5`."""
        return f"{self.operator} {self.bound:g}"

    def is_met(self, value: float) -> bool:
        """Whether the value keeps the bound."""
        if self.operator == ">=":
            return value >= self.bound
        return value < self.bound if self.operator == "<" else value <= self.bound


class Goal(Bound):
    """A bound on one figure of an evaluation; a ratio for statistic over-analytical."""

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
    others: str
    """What is known of others."""

    @model_validator(mode="after")
    def _groups_have_means(self) -> "Goal":
        if self.hardware in GROUPS and self.statistic != "mean":
            raise ValueError(f"goal {self.id}: statistic {self.statistic} of a group of variants; allowed: mean")
        return self


AutotuneFigure = Literal["ranked_regret_pct", "runs_ratio", "wins_pct", "gain_pct"]
"""`ranked_regret_pct`: the headline strategy's best ranked tiles above the best of all, mean over programs;
`runs_ratio`: target runs of all tiles over its own; `wins_pct`: programs where it is faster with the model and a small
budget than the target alone with a large one; `gain_pct`: by how much, mean over programs."""


class AutotuneGoal(Bound):
    """A bound on one figure of an entry of `autotune:`, over programs that no model of it was trained on."""

    id: str
    """Short name, unique."""
    what: str
    """The figure in words."""
    stage: Literal["tiles", "fusion"]
    """Of the rows that it is about."""
    figure: AutotuneFigure
    """Which one."""
    top: int | None = None
    """Tiles of a kernel that are run; only of stage tiles."""
    budgets_s: tuple[float, float] | None = None
    """Target seconds of the headline strategy and of the target alone; only of stage fusion."""
    others: str
    """What is known of others."""


SearchFigure = Literal["single_gain", "multi_gain", "scheduled_gain", "trials_to_fast_large"]
"""`single_gain`: Perf/TDP of a design of its own for each workload of FAST, geometric mean; `multi_gain`: of one design
for FAST's five; `scheduled_gain`: of TPU-v3 with better schedules and residency alone, mean of the five;
`trials_to_fast_large`: trials until a search on EfficientNet-B7 comes near our own FAST-Large, mean over islands."""


class SearchGoal(Bound):
    """A bound on one figure of the searches on FAST's workloads."""

    id: str
    """Short name, unique."""
    what: str
    """The figure in words."""
    figure: SearchFigure
    """Which one."""
    others: str
    """What is known of others."""


MeasuredFigure = Literal["noise_floor_pct", "mape_pct", "kendall_tau", "ape_pct", "over_best_baseline"]
"""`noise_floor_pct`: median difference between two passes; `over_best_baseline`: the headline model's main error over
that of the best baseline, trained ones among them; the others are the headline model's, mean over programs."""


class MeasuredGoal(Bound):
    """A bound on one figure of runtimes measured on this machine."""

    id: str
    """Short name, unique."""
    what: str
    """The figure in words."""
    task: Literal["tile", "fusion"]
    """Of the labels."""
    figure: MeasuredFigure
    """Which one."""
    others: str
    """What is known of others."""


class _Goals(StrictModel):
    goals: list[Goal]
    autotune: list[AutotuneGoal]
    searches: list[SearchGoal]
    measured: list[MeasuredGoal]


@cache
def load_goals() -> list[Goal]:
    """The goals of `schemas/presets/goals.yaml`."""
    return _Goals.model_validate(load_preset("goals")).goals


@cache
def load_autotune_goals() -> list[AutotuneGoal]:
    """The goals of the autotuners, of the same file."""
    return _Goals.model_validate(load_preset("goals")).autotune


@cache
def load_search_goals() -> list[SearchGoal]:
    """The goals of the searches, of the same file."""
    return _Goals.model_validate(load_preset("goals")).searches


@cache
def load_measured_goals() -> list[MeasuredGoal]:
    """The goals on measured runtimes, of the same file."""
    return _Goals.model_validate(load_preset("goals")).measured
