"""The goals of the searches beside what the study's searches found, and their headline figures."""

import math
from typing import NamedTuple

import numpy as np

from lib.report.report_data import ReportData
from lib.report.search_comparison import (
    CONVERGENCE_WORKLOAD,
    MULTI_WORKLOADS,
    SINGLE_WORKLOADS,
    found,
    multi_search,
    scheduled_gains,
    single_searches,
    trials_to_fast_large,
)
from lib.report.search_figures import geometric_mean
from schemas.goals import SearchGoal, load_search_goals
from schemas.summary import HeadlineFigure

NAMES = {
    "single_gain": "fast.single.perf_per_tdp_gain",
    "multi_gain": "fast.multi.perf_per_tdp_gain",
    "scheduled_gain": "fast.scheduled.perf_per_tdp_gain",
    "trials_to_fast_large": "fast.efficientnet-b7.trials_to_own_fast_large",
}
"""Figure of a goal to its name in summary.json."""


class SearchGoalResult(NamedTuple):
    """A goal and the figure that it is about."""

    goal: SearchGoal
    value: float = math.nan
    """NaN where the study has not searched all the workloads that the goal is about."""
    basis: str = ""
    """What the value is of."""

    @property
    def met(self) -> bool | None:
        """None where the study can't tell."""
        return None if math.isnan(self.value) else self.goal.is_met(self.value)


def search_goal_results(data: ReportData) -> list[SearchGoalResult]:
    """Every goal with what the study shows."""
    return [SearchGoalResult(goal, *_value(data, goal)) for goal in load_search_goals()]


def _value(data: ReportData, goal: SearchGoal) -> tuple[float, str]:
    if goal.figure == "single_gain":
        searches = single_searches(data, "perf-per-tdp")
        gains = [found(data, searches[name]).gain for name in SINGLE_WORKLOADS if name in searches]
        return _mean_of_all(gains, len(SINGLE_WORKLOADS)), f"{len(gains)} of {len(SINGLE_WORKLOADS)} workloads searched"
    if goal.figure == "multi_gain":
        search = multi_search(data, "perf-per-tdp")
        if search is None or set(data.spec["searches"][search]["workloads"]) != set(MULTI_WORKLOADS):
            return math.nan, "no search for FAST's five workloads"
        return found(data, search).gain, f"search {search}"
    if goal.figure == "scheduled_gain":
        scheduled = scheduled_gains(data)
        gains = [scheduled[name] for name in MULTI_WORKLOADS if name in scheduled]
        return _mean_of_all(gains, len(MULTI_WORKLOADS)), f"{len(gains)} of {len(MULTI_WORKLOADS)} workloads searched"
    counts = trials_to_fast_large(data)
    if counts is None:
        return math.nan, f"no search on {CONVERGENCE_WORKLOAD} beside our own FAST-Large"
    search, trials = counts
    return float(trials.mean()), f"search {search}, {len(trials)} islands, {int(np.isfinite(trials).sum())} reached it"


def _mean_of_all(gains: list[float], needed: int) -> float:
    return geometric_mean(gains) if len(gains) == needed else math.nan


def search_headlines(data: ReportData) -> list[HeadlineFigure]:
    """`search.ID.FIGURE` of every search, and the figures that a goal is about where the study knows them."""
    figures = [figure for name in data.search_summaries for figure in _of_search(data, name)]
    for result in search_goal_results(data):
        if not math.isnan(result.value):
            value = result.value if math.isfinite(result.value) else None
            figures.append(
                HeadlineFigure(
                    name=NAMES[result.goal.figure], value=value, unit="", origin="simulated", goal=result.goal.text,
                    met=result.met,
                )
            )  # fmt: skip
    return figures


def _of_search(data: ReportData, search: str) -> list[HeadlineFigure]:
    best, origin = found(data, search), data.search_summaries[search].manifest.origin
    values = {
        "perf_per_tdp_gain": best.gain,
        "perf_per_tdp_gain_public": best.gain_public,
        "speedup": best.speed_ratio,
        "tdp_ratio": best.tdp_ratio,
        "area_ratio": best.area_ratio,
    }
    prefix = f"search.{search}"
    figures = [HeadlineFigure(name=f"{prefix}.trials", value=float(best.trials), unit="", origin=origin)]
    figures += [
        HeadlineFigure(name=f"{prefix}.{figure}", value=value, unit="", origin=origin)
        for figure, value in values.items()
        if not math.isnan(value)
    ]
    jobs = data.wall_times
    seconds = jobs.loc[(jobs["rule"] == "search") & jobs["job"].str.startswith(f"{search}/"), "wall_s"].sum()
    if seconds > 0:
        rate = best.trials / float(seconds)
        figures.append(HeadlineFigure(name=f"{prefix}.trials_per_s", value=rate, unit="1/s", origin="none"))
    return figures
