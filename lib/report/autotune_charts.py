"""Best-so-far curves of autotuners."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from lib.report.charts import colour, new_figure

POINTS = 160
"""Of a curve: target seconds, evenly spaced on a logarithmic axis."""
FEW_DECADES = 30.0
"""Ratio of an axis's ends up to which its ticks stand within a decade too."""
BAND_OPACITY = 0.18
LEAST_RANGE = 1e-3
"""Of speedups: an axis shows no less."""


def best_so_far_chart(traces: pd.DataFrame, headlines: Sequence[str | None], title: str) -> go.Figure:
    """Program speedup over the default against target seconds: geometric mean over programs, a line a strategy, with a
    band from the least to the greatest mean of a single seed.

    The strategies among `headlines` have the learned models' colour. `traces`: strategy, seed, workload, budget_s,
    target_s, speedup; of one stage, start and compile cost. Of a strategy with several budgets the smaller ones are
    dashed.
    """
    figure = new_figure(title, "target time a program, s", "speedup over the default", height=480)
    figure.update_layout(legend={"y": -0.2, "yanchor": "top"}, margin={"t": 30, "b": 110})
    spent = traces["target_s"]
    spent = spent[spent > 0]
    if not len(spent):
        return figure
    grid = np.geomspace(spent.min(), spent.max(), POINTS)
    strategies = list(dict.fromkeys(traces["strategy"]))
    for (strategy, budget_s), rows in traces.groupby(["strategy", "budget_s"], dropna=False, sort=False):
        by_seed = np.stack([_mean_curve(of_seed, grid) for _, of_seed in rows.groupby("seed", sort=False)])
        name = str(strategy) if pd.isna(budget_s) else f"{strategy}, {budget_s:g} s"
        by = str(strategy).rpartition("+")[2]
        shade = colour("learned" if strategy in headlines else by, strategies.index(strategy))
        _add_band(figure, grid, by_seed, name, shade)
        dash = "solid" if pd.isna(budget_s) or budget_s == traces["budget_s"].max() else "dash"
        figure.add_scatter(
            x=grid, y=by_seed.mean(axis=0), mode="lines", name=name, legendgroup=name,
            line={"color": shade, "width": 2.5, "dash": dash},
            hovertemplate="%{x:.3g} s: %{y:.4g} x<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_xaxes(type="log", dtick=1 if spent.max() / spent.min() > FEW_DECADES else "D2")
    if traces["speedup"].max() - traces["speedup"].min() < LEAST_RANGE:
        middle = float(traces["speedup"].mean())
        figure.update_yaxes(range=[middle - LEAST_RANGE, middle + LEAST_RANGE])
    return figure


def _add_band(figure: go.Figure, grid: np.ndarray, by_seed: np.ndarray, name: str, shade: str) -> None:
    if len(by_seed) < 2:
        return
    red, green, blue = (int(shade[place : place + 2], 16) for place in (1, 3, 5))
    figure.add_scatter(
        x=np.concatenate([grid, grid[::-1]]), y=np.concatenate([by_seed.max(axis=0), by_seed.min(axis=0)[::-1]]),
        fill="toself", fillcolor=f"rgba({red},{green},{blue},{BAND_OPACITY})", line={"width": 0}, hoverinfo="skip",
        showlegend=False, legendgroup=name, name=name,
    )  # fmt: skip


def _mean_curve(traces: pd.DataFrame, grid: np.ndarray) -> np.ndarray:
    """float64[g] geometric mean over programs of the best speedup so far; before its first row a run has its first."""
    curves = []
    for _, rows in traces.groupby("workload", sort=False):
        place = np.searchsorted(rows["target_s"].to_numpy(), grid, side="right") - 1
        curves.append(rows["speedup"].to_numpy()[np.maximum(place, 0)])
    return np.exp(np.log(np.stack(curves)).mean(axis=0))
