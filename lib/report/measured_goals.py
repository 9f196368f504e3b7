"""The goals of models of measured runtimes beside what the study shows."""

import math
from typing import NamedTuple

import numpy as np

from lib.report.report_data import ReportData
from schemas.goals import MeasuredGoal, load_measured_goals
from schemas.summary import HeadlineFigure


class MeasuredGoalResult(NamedTuple):
    """A goal and the figure that it is about."""

    goal: MeasuredGoal
    value: float = math.nan
    evaluation: str = ""
    """Empty where none has the figure, and for the noise floor, which is of the labels."""
    name: str = ""
    """In summary.json."""

    @property
    def met(self) -> bool | None:
        """None where the study can't tell."""
        return None if math.isnan(self.value) else self.goal.is_met(self.value)


def measured_goal_results(data: ReportData) -> list[MeasuredGoalResult]:
    """Every goal, with the figure of the first evaluation of measured runtimes that has it."""
    return [
        _floor(data, goal) if goal.figure == "noise_floor_pct" else _result(data, goal)
        for goal in load_measured_goals()
    ]


def measured_headlines(data: ReportData) -> list[HeadlineFigure]:
    """The figures that a goal is about, with the goal, and of each hardware variant its noise floor."""
    if not len(data.measured.shards):
        return []
    return [
        HeadlineFigure(
            name=result.name, value=result.value, unit="%" if result.goal.figure.endswith("_pct") else "",
            origin="measured", goal=result.goal.text, met=result.met,
        )
        for result in measured_goal_results(data)
        if result.met is not None
    ]  # fmt: skip


def _floor(data: ReportData, goal: MeasuredGoal) -> MeasuredGoalResult:
    """Median over the shards of the task, each the median of its kernels."""
    shards = data.measured.shards
    floors = shards.loc[shards["task"] == goal.task, "noise_floor_pct"].dropna().to_numpy(np.float64)
    if not len(floors):
        return MeasuredGoalResult(goal)
    return MeasuredGoalResult(goal, float(np.median(floors)), name=f"measured.{goal.task}.noise_floor_pct")


def _result(data: ReportData, goal: MeasuredGoal) -> MeasuredGoalResult:
    for evaluation, artifact in data.evaluations.items():
        headline = data.headline(evaluation).get(goal.task)
        if artifact.manifest.origin != "measured" or headline is None:
            continue
        if goal.figure == "over_best_baseline":
            value = _over_best_baseline(artifact["comparisons.parquet"], goal, headline)
        else:
            overall = artifact["overall.parquet"]
            chosen = (
                (overall["task"] == goal.task) & (overall["model"] == headline) & (overall["metric"] == goal.figure)
            )
            value = float(overall.loc[chosen, "value"].iloc[0]) if chosen.any() else math.nan
        if not math.isnan(value):
            variant = artifact["overall.parquet"].loc[lambda t: t["task"] == goal.task, "hardware"].iloc[0]
            name = f"evaluation.{evaluation}.{goal.task}.{variant}.{goal.figure}.learned"
            return MeasuredGoalResult(goal, value, evaluation, name)
    return MeasuredGoalResult(goal)


def _over_best_baseline(comparisons, goal: MeasuredGoal, headline: str) -> float:
    """The largest ratio of the headline's main error to a baseline's: below 1 it beats all of them."""
    metric = "mape_pct" if goal.task == "fusion" else "ape_pct"
    chosen = (comparisons["task"] == goal.task) & (comparisons["model"] == headline) & (comparisons["metric"] == metric)
    return float(comparisons.loc[chosen, "difference"].max()) if chosen.any() else math.nan
