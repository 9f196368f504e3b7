"""The headline figures of a study: `summary.json`, and what the report's first page shows."""

import math

import pandas as pd

from lib.report.fidelity_data import fidelity_figures
from lib.report.fidelity_headline import fidelity_headlines
from lib.report.report_data import ReportData
from schemas.artifact import Origin
from schemas.summary import HeadlineFigure, Summary

UNITS = {"ape_pct": "%", "mape_pct": "%", "kendall_tau": "", "tau_b": "", "top5_regret_pct": "%"}
"""Metrics that make a headline figure, and their units."""

GOALS: dict[tuple[str, str, str], tuple[str, float]] = {
    ("tile", "tpu-v3", "ape_pct"): ("<=", 1.0),
    ("tile", "tpu-v3", "kendall_tau"): (">=", 0.93),
    ("fusion", "tpu-v3", "mape_pct"): ("<=", 3.5),
    ("fusion", "tpu-v3", "kendall_tau"): (">=", 0.96),
}
"""(task, hardware, metric) of the learned model to the project's goal on architectures never trained on."""


def summary(data: ReportData) -> Summary:
    """Every headline figure of the study, sorted by name."""
    figures = [
        *(figure for name in data.evaluations for figure in _evaluation_figures(data, name)),
        *(figure for name in data.searches for figure in _search_figures(data, name)),
        *fidelity_headlines(fidelity_figures(data)),
        *_run_figures(data.wall_times),
    ]
    return Summary(figures=sorted(figures, key=lambda figure: figure.name))


def _evaluation_figures(data: ReportData, evaluation: str) -> list[HeadlineFigure]:
    artifact = data.evaluations[evaluation]
    headline = data.headline(evaluation)
    figures = []
    for row in artifact["overall.parquet"].itertuples(index=False):
        if row.metric not in UNITS:
            continue
        names = [row.model] + (["learned"] if headline.get(row.task) == row.model else [])
        for model in names:
            operator, bound = (
                GOALS.get((row.task, row.hardware, row.metric), ("", 0.0)) if model == "learned" else ("", 0.0)
            )
            figures.append(
                _figure(
                    f"evaluation.{evaluation}.{row.task}.{row.hardware}.{row.metric}.{model}",
                    row.value, UNITS[row.metric], artifact.manifest.origin, operator, bound,
                )
            )  # fmt: skip
    return figures


def _search_figures(data: ReportData, search: str) -> list[HeadlineFigure]:
    islands = data.searches[search]
    trials = pd.concat([island["trials.parquet"] for island in islands], ignore_index=True)
    origin = islands[0].manifest.origin
    figures = [_figure(f"search.{search}.trials", float(len(trials)), "", origin)]
    priced = trials.dropna(subset=["perf_per_tdp_gain"])
    if len(priced):
        best = priced.loc[priced["perf_per_tdp_gain"].idxmax()]
        figures += [
            _figure(f"search.{search}.{name}", float(best[name]), "", origin)
            for name in ("perf_per_tdp_gain", "tdp_ratio", "area_ratio")
        ]
    jobs = data.wall_times
    seconds = jobs.loc[(jobs["rule"] == "search") & jobs["job"].str.startswith(f"{search}/"), "wall_s"].sum()
    if seconds > 0:
        figures.append(_figure(f"search.{search}.trials_per_s", len(trials) / float(seconds), "1/s", "none"))
    return figures


def _run_figures(wall_times: pd.DataFrame) -> list[HeadlineFigure]:
    totals = wall_times.groupby("rule")["wall_s"].sum()
    return [_figure(f"run.{rule}.wall_s", float(seconds), "s", "none") for rule, seconds in totals.items()]


def _figure(
    name: str, value: float, unit: str, origin: Origin, operator: str = "", bound: float = 0.0
) -> HeadlineFigure:
    known = not math.isnan(value)
    met = (value <= bound if operator == "<=" else value >= bound) if operator and known else None
    goal = f"{operator} {bound:g}" if operator else None
    return HeadlineFigure(name=name, value=value if known else None, unit=unit, origin=origin, goal=goal, met=met)
