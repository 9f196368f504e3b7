"""Charts of an evaluation that look at single kernels."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from lib.report.chart_data import one_a_cell
from lib.report.charts import LINE_OF_EQUALITY, PALETTE, colour, log_log_with_diagonal, new_figure

BINS = 40
"""Of the density, along each axis."""
STEPS = 400
"""Of a distribution's line: more can not be seen."""
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
            colorscale=[[0, "rgba(123,132,148,0.12)"], [1, "rgba(123,132,148,0.9)"]], showscale=False, hoverinfo="skip",
        )  # fmt: skip
    for position, (name, whole) in enumerate(table.groupby("kernel_class", sort=True)):
        rows = one_a_cell(whole, "runtime_s", "predicted_s", "kernel_class")
        figure.add_scattergl(
            x=rows["runtime_s"] * 1e6, y=rows["predicted_s"] * 1e6, mode="markers", name=f"{name} ({len(whole)})",
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
        if len(ascending) > STEPS:
            shown = np.unique(np.linspace(0, len(ascending) - 1, STEPS).astype(int))
            ascending, share_pct = ascending[shown], share_pct[shown]
        figure.add_scatter(
            x=ascending, y=share_pct, mode="lines", name=model, line={"shape": "hv", "color": colour(model, position)},
            hovertemplate="%{y:.3g} % of kernels slower by more than %{x:.3g} %<extra>" + model + "</extra>",
        )  # fmt: skip
    figure.update_xaxes(type="log")
    return figure


QUANTILES = {"ratio_10": 0.1, "ratio_50": 0.5, "ratio_90": 0.9}
"""Columns of `runtime_quantiles`: share of the kernels below."""
BINS_A_DECADE = 3
FEWEST = 5
"""Kernels of a bin that is shown."""


def runtime_quantiles(predictions: pd.DataFrame) -> pd.DataFrame:
    """Quantiles of predicted over actual runtime by actual runtime, BINS_A_DECADE bins a decade.

    `predictions`: hardware, runtime_s, predicted_s. Columns: hardware, low_us, high_us, kernels and QUANTILES; bins of
    fewer than FEWEST kernels are left out.
    """
    known = predictions.dropna(subset=["runtime_s", "predicted_s"])
    known = known[(known["runtime_s"] > 0) & (known["predicted_s"] > 0)]
    place = np.floor(np.log10(known["runtime_s"] * 1e6) * BINS_A_DECADE).astype(int)
    ratio = known["predicted_s"] / known["runtime_s"]
    rows = []
    for (hardware, bin_), of_bin in ratio.groupby([known["hardware"], place]):
        if len(of_bin) >= FEWEST:
            ends = [10 ** (edge / BINS_A_DECADE) for edge in (bin_, bin_ + 1)]
            rows.append((hardware, *ends, len(of_bin), *of_bin.quantile(list(QUANTILES.values()))))
    return pd.DataFrame(rows, columns=["hardware", "low_us", "high_us", "kernels", *QUANTILES])


def ratio_by_runtime(quantiles: pd.DataFrame, title: str, x: str, y: str) -> go.Figure:
    """Median ratio against runtime, a line a hardware variant. `quantiles`: `runtime_quantiles`'s."""
    figure = new_figure(title, x, y)
    for position, (hardware, rows) in enumerate(quantiles.groupby("hardware", sort=False)):
        middle_us = np.sqrt(rows["low_us"] * rows["high_us"])
        figure.add_scatter(
            x=middle_us, y=rows["ratio_50"], mode="lines+markers", name=str(hardware),
            line={"color": PALETTE[position % len(PALETTE)]},
            hovertemplate="about %{x:.3g} us: %{y:.4g}<extra>" + str(hardware) + "</extra>",
        )  # fmt: skip
    figure.update_xaxes(type="log", dtick=1)
    figure.add_hline(y=1, line=LINE_OF_EQUALITY)
    return figure
