"""The goals of the learned models beside what the study's evaluations show."""

import math
from typing import Any, NamedTuple

import pandas as pd

from lib.report.report_data import ReportData
from schemas.goals import GROUPS, Goal, load_goals

STATISTICS = {"mean": "{}", "worst": "worst_{}", "over-analytical": "{}_over_analytical"}
"""How a statistic changes the metric's name in the name of a figure."""


MET_IN_WORDS = {True: "met", False: "not met", None: "not in this study"}


class GoalResult(NamedTuple):
    """A goal and the figure that it is about."""

    goal: Goal
    evaluation: str | None = None
    """None where no evaluation of the study speaks to the goal."""
    model: str = ""
    """As in names of figures: "learned" for the evaluation's headline model, else its id."""
    value: float = math.nan
    low: float = math.nan
    """Ends of the 90 % bootstrap interval over programs; NaN where there is none."""
    high: float = math.nan
    programs: int = 0
    seeds: int = 0

    @property
    def met(self) -> bool | None:
        """None where the study can't tell."""
        return None if math.isnan(self.value) else self.goal.is_met(self.value)

    @property
    def figure(self) -> str | None:
        """The figure's name in summary.json."""
        if self.evaluation is None:
            return None
        metric = STATISTICS[self.goal.statistic].format(self.goal.metric)
        return f"evaluation.{self.evaluation}.{self.goal.task}.{self.goal.hardware}.{metric}.{self.model}"


def goal_results(data: ReportData) -> list[GoalResult]:
    """Every goal with the first evaluation in the study's order that speaks to it."""
    return [_result(data, goal) for goal in load_goals()]


def _result(data: ReportData, goal: Goal) -> GoalResult:
    for evaluation in data.evaluations:
        if data.split_kind(evaluation) != goal.split:
            continue
        for model in data.evaluations[evaluation].manifest.spec["models"]:
            if _is_about(data, evaluation, goal, model) and (found := _figure(data, evaluation, goal, model)):
                return found
    return GoalResult(goal)


def _is_about(data: ReportData, evaluation: str, goal: Goal, model: dict[str, Any]) -> bool:
    if model["task"] != goal.task:
        return False
    learned = data.trained_on(model["id"])
    if goal.trained_on is not None:
        return learned == goal.trained_on
    headline = data.headline(evaluation)[goal.task] == model["id"]
    return headline and (goal.hardware in GROUPS or learned is None or goal.hardware in learned)


def _figure(data: ReportData, evaluation: str, goal: Goal, model: dict[str, Any]) -> GoalResult | None:
    """The figure; None where the evaluation has no row of it."""
    artifact, id = data.evaluations[evaluation], model["id"]
    if goal.statistic == "over-analytical":
        rows = _rows(artifact["comparisons.parquet"], goal, id)
        rows = rows[rows["baseline"] == "analytical"].rename(columns={"difference": "value"})
    else:
        rows = _rows(data.means(evaluation), goal, id)
    if rows.empty:
        return None
    row = rows.iloc[0]
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    if goal.statistic == "worst":
        value, low, high = _worst(artifact["programs.parquet"], goal, id), math.nan, math.nan
    name = "learned" if data.headline(evaluation)[goal.task] == id else id
    seeds = len(model.get("seeds", [])) or 1
    return GoalResult(goal, evaluation, name, value, low, high, int(row["programs"]), seeds)


def _rows(table: pd.DataFrame, goal: Goal, model: str) -> pd.DataFrame:
    chosen = (table["task"] == goal.task) & (table["metric"] == goal.metric) & (table["model"] == model)
    return table[chosen & (table["hardware"] == goal.hardware)]


def _worst(programs: pd.DataFrame, goal: Goal, model: str) -> float:
    """The worst program's value, a mean over seeds."""
    values = _rows(programs, goal, model).groupby("workload")["value"].mean()
    return float(values.min() if goal.operator == ">=" else values.max())
