"""The headline figures of a study: `summary.json`, and what the report's first page shows."""

import math

import pandas as pd

from lib.report.autotune_goals import autotune_headlines
from lib.report.fidelity_data import fidelity_figures
from lib.report.fidelity_headline import fidelity_headlines
from lib.report.goals import goal_results
from lib.report.measured_goals import measured_headlines
from lib.report.report_data import ReportData
from lib.report.search_goals import search_headlines
from schemas.artifact import Origin
from schemas.summary import HeadlineFigure, Summary

UNITS = {"ape_pct": "%", "mape_pct": "%", "mape_short_pct": "%", "kendall_tau": "", "tau_b": "", "top5_regret_pct": "%"}
"""Metrics that make a headline figure, and their units."""


def summary(data: ReportData) -> Summary:
    """Every headline figure of the study, sorted by name."""
    figures = [
        *(figure for name in data.evaluations for figure in _evaluation_figures(data, name)),
        *autotune_headlines(data),
        *search_headlines(data),
        *measured_headlines(data),
        *fidelity_headlines(fidelity_figures(data)),
        *_run_figures(data.wall_times),
    ]
    by_name = {figure.name: figure for figure in figures}
    by_name |= {figure.name: figure for figure in _goal_figures(data)}
    return Summary(figures=[by_name[name] for name in sorted(by_name)])


def _evaluation_figures(data: ReportData, evaluation: str) -> list[HeadlineFigure]:
    artifact = data.evaluations[evaluation]
    headline = data.headline(evaluation)
    figures = []
    for row in data.means(evaluation).itertuples(index=False):
        if row.metric not in UNITS:
            continue
        names = [row.model] + (["learned"] if headline.get(row.task) == row.model else [])
        for model in names:
            name = f"evaluation.{evaluation}.{row.task}.{row.hardware}.{row.metric}.{model}"
            figures.append(_figure(name, row.value, UNITS[row.metric], artifact.manifest.origin))
    return figures


def _goal_figures(data: ReportData) -> list[HeadlineFigure]:
    """The figures that a goal is about, with the goal."""
    figures = []
    for result in goal_results(data.simulated()):
        if result.evaluation is None or result.figure is None:
            continue
        goal, known = result.goal, not math.isnan(result.value)
        unit = "" if goal.statistic == "over-analytical" else UNITS[goal.metric]
        figures.append(
            HeadlineFigure(
                name=result.figure, value=result.value if known else None, unit=unit,
                origin=data.evaluations[result.evaluation].manifest.origin, goal=goal.text, met=result.met,
            )
        )  # fmt: skip
    return figures


def _run_figures(wall_times: pd.DataFrame) -> list[HeadlineFigure]:
    totals = wall_times.groupby("rule")["wall_s"].sum()
    return [_figure(f"run.{rule}.wall_s", float(seconds), "s", "none") for rule, seconds in totals.items()]


def _figure(name: str, value: float, unit: str, origin: Origin) -> HeadlineFigure:
    return HeadlineFigure(name=name, value=None if math.isnan(value) else value, unit=unit, origin=origin)
