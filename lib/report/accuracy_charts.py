"""Charts of an evaluation that look at single kernels."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from lib.report.charts import PALETTE, colour, log_log_with_diagonal, new_figure

BINS = 40
"""Of the density, along each axis."""
SMALLEST_PCT = 0.01
"""Slowdowns below it are drawn there: a logarithmic axis has no 0."""


def calibration(table: pd.DataFrame, title: str) -> go.Figure:
    """Log-log scatter with the diagonal, a colour a kernel class, over the density of all points.

    `table`: runtime_s, predicted_s (both positive), workload, root, kernel_class.
    """
    figure = new_figure(title, "actual runtime, us", "predicted runtime, us", height=560)
    figure.update_layout(legend={"orientation": "v", "x": 1.01, "xanchor": "left", "y": 1, "yanchor": "top"})
    actual_us, predicted_us = table["runtime_s"].to_numpy() * 1e6, table["predicted_s"].to_numpy() * 1e6
    if len(table):
        ends = np.log10([min(actual_us.min(), predicted_us.min()), max(actual_us.max(), predicted_us.max())])
        edges = np.linspace(ends[0] - 0.01, ends[1] + 0.01, BINS + 1)
        counts, _, _ = np.histogram2d(np.log10(predicted_us), np.log10(actual_us), bins=[edges, edges])
        figure.add_heatmap(
            x=10**edges, y=10**edges, z=np.where(counts > 0, np.log10(np.maximum(counts, 1)), np.nan),
            colorscale=[[0, "#f3f4f6"], [1, "#6b7280"]], showscale=False, hoverinfo="skip",
        )  # fmt: skip
    for position, (name, rows) in enumerate(table.groupby("kernel_class", sort=True)):
        figure.add_scattergl(
            x=rows["runtime_s"] * 1e6, y=rows["predicted_s"] * 1e6, mode="markers", name=f"{name} ({len(rows)})",
            marker={"size": 4, "opacity": 0.7, "color": PALETTE[position % len(PALETTE)]},
            text=rows["workload"] + " · " + rows["root"],
            hovertemplate="%{text}<br>actual %{x:.4g} us, predicted %{y:.4g} us<extra>" + str(name) + "</extra>",
        )  # fmt: skip
    return log_log_with_diagonal(figure, np.concatenate([actual_us, predicted_us]))


def slowdown_distribution(slowdowns_pct: dict[str, np.ndarray], title: str) -> go.Figure:
    """Share of kernels whose picked tile is slower than the best by more than so much, a line a model.

    `slowdowns_pct`: model to float64[k], %.
    """
    figure = new_figure(title, "slower than the best tile by more than, %", "share of kernels, %")
    for position, (model, values) in enumerate(slowdowns_pct.items()):
        ascending = np.sort(np.maximum(values, SMALLEST_PCT))
        share_pct = 100 * (1 - np.arange(1, len(ascending) + 1) / max(len(ascending), 1))
        figure.add_scatter(
            x=ascending, y=share_pct, mode="lines", name=model, line={"shape": "hv", "color": colour(model, position)},
            hovertemplate="%{y:.3g} % of kernels slower by more than %{x:.3g} %<extra>" + model + "</extra>",
        )  # fmt: skip
    figure.update_xaxes(type="log")
    return figure
