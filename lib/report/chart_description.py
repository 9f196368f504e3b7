"""A chart in words, for people who do not see it: what it is, its axes, and of each series the main figures."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from lib.report.tables import number

KINDS = {"bar": "Bar chart", "box": "Box chart", "scatter": "Line chart"}
SCATTER = "Scatter chart"
MOST_SERIES = 12
"""Series that are told of one by one."""


def described(figure: dict[str, Any]) -> str:
    """`Bar chart. x: test program; y: APE, %. learned: 4 values, from 0.301 (vgg16) to 1.78 (resnet50-v2).`

    `figure`: as :func:`lib.report.chart_data.plain_figure` makes it.
    """
    series = [trace for trace in figure["data"] if _is_series(trace)]
    axes = "; ".join(f"{axis}: {title}" for axis, title in axis_titles(figure).items())
    told = [_told(trace) for trace in series[:MOST_SERIES]]
    more = [f"{len(series) - MOST_SERIES} further series."] if len(series) > MOST_SERIES else []
    return " ".join([f"{_kind(series)}. {axes}.", *told, *more])


def axis_titles(figure: dict[str, Any]) -> dict[str, str]:
    """`x`, `y`, `x2` ... that some trace is drawn on, to the axis's title; empty where it has none."""
    used = {trace.get(f"{letter}axis", letter) for trace in figure["data"] for letter in "xy"}
    layout = figure["layout"]
    titles = {axis: layout.get(f"{axis[0]}axis{axis[1:]}", {}) for axis in sorted(used)}
    shared = {
        axis: layout.get(f"{axis[0]}axis", {}) if titles[axis].get("matches") else titles[axis] for axis in titles
    }
    return {axis: shared[axis].get("title", {}).get("text", "") or "" for axis in titles}


def _is_series(trace: dict[str, Any]) -> bool:
    """Not a density, a line of equality or the edge of a band."""
    return trace["type"] != "heatmap" and trace.get("hoverinfo") != "skip" and _is_first_panel(trace)


def _is_first_panel(trace: dict[str, Any]) -> bool:
    return trace.get("xaxis", "x") == "x"


def _kind(series: Sequence[dict[str, Any]]) -> str:
    if not series:
        return "Empty chart"
    if all(trace.get("mode") == "markers" for trace in series):
        return SCATTER
    return KINDS.get(series[0]["type"], SCATTER)


def _told(trace: dict[str, Any]) -> str:
    name = trace.get("name") or trace.get("y0") or "points"
    if trace["type"] == "box":
        quartiles = [number(trace[key][0]) for key in ("q1", "median", "q3")]
        return f"{name}: median {quartiles[1]}, half of the values from {quartiles[0]} to {quartiles[2]}."
    across, along = ("y", "x") if trace.get("orientation") == "h" else ("x", "y")
    points = pd.DataFrame({"place": trace.get(across) or [], "value": trace.get(along) or []}).dropna()
    if points.empty:
        return f"{name}: nothing."
    if len(points) == 1:
        return f"{name}: {number(points['value'].iloc[0])} at {_place(points['place'].iloc[0])}."
    if trace.get("mode", "").startswith("lines"):
        first, last = points.iloc[0], points.iloc[-1]
        ends = [f"{number(end['value'])} at {_place(end['place'])}" for end in (first, last)]
        return f"{name}: from {ends[0]} to {ends[1]}."
    least, greatest = (points.loc[points["value"].idxmin()], points.loc[points["value"].idxmax()])
    ends = [f"{number(end['value'])} ({_place(end['place'])})" for end in (least, greatest)]
    return f"{name}: {len(points)} values, from {ends[0]} to {ends[1]}."


def _place(place: Any) -> str:
    return place if isinstance(place, str) else number(place)
