"""Charts: a table in, a Plotly figure out. Every axis has a unit; colours mean the same everywhere.

Fonts and the colours of axes and paper are the page's.
"""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from lib.report.chart_data import one_a_cell

COLOURS = {
    "learned": "#2563eb",
    "analytical": "#d97706",
    "calibrated-analytical": "#b45309",
    "default": "#6b7280",
    "random": "#7b8494",
    "baseline": "#d97706",
    "best": "#2563eb",
}
OTHERS = ("#059669", "#7c3aed", "#db2777", "#0891b2", "#65a30d", "#64748b")
PALETTE = ("#2563eb", "#d97706", *OTHERS, "#dc2626", "#a16207", "#3b82f6", "#0f766e", "#9333ea", "#e11d48", "#4d7c0f")
"""For things that have no fixed colour. All colours have a contrast of 3 : 1 on white and on the page's dark
paper (WCAG 2.1, success criterion 1.4.11)."""
LINE_OF_EQUALITY = {"color": "#6b7280", "width": 1}


def colour(name: str, position: int = 0) -> str:
    """The colour of a model or design; further ones in turn."""
    return COLOURS.get(name, OTHERS[position % len(OTHERS)])


def new_figure(title: str, x: str, y: str, height: int = 380) -> go.Figure:
    """An empty figure in the house's style."""
    figure = go.Figure()
    figure.update_layout(
        title=title,
        height=height,
        margin={"l": 70, "r": 20, "t": 60, "b": 60},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        xaxis_title=x,
        yaxis_title=y,
    )
    return figure


def bars_by_program(table: pd.DataFrame, title: str, unit: str) -> go.Figure:
    """Grouped bars. `table`: workload, model, value; one bar a model and workload."""
    figure = new_figure(title, "test program", unit)
    for position, (model, rows) in enumerate(table.groupby("model", sort=False)):
        figure.add_bar(
            x=rows["workload"], y=rows["value"], name=str(model), marker_color=colour(str(model), position),
            hovertemplate="%{x}: %{y:.3g} " + unit + "<extra>" + str(model) + "</extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group")
    return figure


def predicted_against_actual(table: pd.DataFrame, title: str, actual: str, predicted: str) -> go.Figure:
    """Log-log scatter with the diagonal. `table`: model, runtime_s, predicted_s, workload, root, kernel_class."""
    figure = new_figure(title, f"{actual}, us", f"{predicted}, us", height=480)
    for position, (model, whole) in enumerate(table.groupby("model", sort=False)):
        rows = one_a_cell(whole, "runtime_s", "predicted_s", "model")
        figure.add_scattergl(
            x=rows["runtime_s"] * 1e6, y=rows["predicted_s"] * 1e6, mode="markers", name=str(model),
            marker={"size": 5, "opacity": 0.6, "color": colour(str(model), position)},
            text=rows["workload"] + " · " + rows["root"] + " (" + rows["kernel_class"] + ")",
            hovertemplate="%{text}<br>actual %{x:.4g} us, predicted %{y:.4g} us<extra>" + str(model) + "</extra>",
        )  # fmt: skip
    return log_log_with_diagonal(figure, table[["runtime_s", "predicted_s"]].to_numpy().ravel() * 1e6)


def log_log_with_diagonal(figure: go.Figure, values: np.ndarray) -> go.Figure:
    """The figure with logarithmic axes and a line of equality over the range of the positive `values`."""
    values = values[np.isfinite(values) & (values > 0)]
    if len(values):
        ends = [values.min(), values.max()]
        figure.add_scatter(x=ends, y=ends, mode="lines", line=LINE_OF_EQUALITY, name="equal", hoverinfo="skip")
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log")
    return figure


def ours_against_theirs(table: pd.DataFrame, title: str) -> go.Figure:
    """Log-log scatter with the diagonal; validation figures filled, calibration figures hollow.

    `table`: source, subject, quantity, unit, role, ours, theirs; values that are not positive are left out.
    """
    figure = new_figure(title, "theirs, each in its unit", "ours, in the same unit", height=700)
    figure.update_layout(legend={"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top"})
    drawn = table[(table["ours"] > 0) & (table["theirs"] > 0)]
    for position, (source, of_source) in enumerate(drawn.groupby("source", sort=False)):
        for role, rows in of_source.groupby("role", sort=False):
            shape = "circle" if role == "validation" else "circle-open"
            figure.add_scattergl(
                x=rows["theirs"], y=rows["ours"], mode="markers", name=f"{source}, {role}",
                marker={"size": 7, "symbol": shape, "color": PALETTE[position % len(PALETTE)]},
                text=rows["subject"] + " · " + rows["quantity"], customdata=rows["unit"],
                hovertemplate="%{text}<br>ours %{y:.4g}, theirs %{x:.4g} %{customdata}<extra>" + f"{source}</extra>",
            )  # fmt: skip
    if len(drawn):
        values = drawn[["ours", "theirs"]].to_numpy()
        ends = [values.min(), values.max()]
        figure.add_scatter(x=ends, y=ends, mode="lines", line=LINE_OF_EQUALITY, name="equal", hoverinfo="skip")
    figure.update_xaxes(type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    return figure


def ours_over_theirs(table: pd.DataFrame, title: str) -> go.Figure:
    """Ratio of every pair by source; validation figures filled, calibration figures hollow. `table`: as above."""
    figure = new_figure(title, "source", "ours / theirs", height=460)
    drawn = table[(table["ours"] > 0) & (table["theirs"] > 0)]
    for position, (source, rows) in enumerate(drawn.groupby("source", sort=False)):
        spread_out = np.linspace(-0.3, 0.3, len(rows)) if len(rows) > 1 else np.zeros(1)
        hollow = rows["role"] == "calibration"
        figure.add_scatter(
            x=position + spread_out, y=rows["ours"] / rows["theirs"], mode="markers", showlegend=False,
            marker={"size": 7, "color": PALETTE[position % len(PALETTE)],
                    "symbol": np.where(hollow, "circle-open", "circle")},
            text=rows["subject"] + " · " + rows["quantity"],
            hovertemplate="%{text}<br>ours / theirs %{y:.3g}<extra>" + f"{source}</extra>",
        )  # fmt: skip
    sources = list(dict.fromkeys(drawn["source"]))
    figure.add_hrect(y0=0.9, y1=1.1, fillcolor="#9ca3af", opacity=0.2, line_width=0)
    figure.update_xaxes(tickvals=list(range(len(sources))), ticktext=sources, tickangle=-35)
    figure.update_yaxes(
        type="log", tickvals=[0.1, 0.2, 0.5, 1, 2, 5, 10], ticktext=["0.1", "0.2", "0.5", "1", "2", "5", "10"]
    )
    return figure


def training_curve(histories: dict[str, pd.DataFrame], metric: str, title: str) -> go.Figure:
    """Validation metric by step, one line a seed, a star where the weights were kept.

    `histories`: label to step, validation_metric.
    """
    figure = new_figure(title, "training step", metric)
    for position, (label, history) in enumerate(histories.items()):
        rows = history.dropna(subset=["validation_metric"])
        shade = PALETTE[position % len(PALETTE)]
        figure.add_scatter(
            x=rows["step"], y=rows["validation_metric"], mode="lines+markers", name=label, line={"color": shade},
            legendgroup=label,
        )  # fmt: skip
        best = rows.nsmallest(1, "validation_metric")
        figure.add_scatter(
            x=best["step"], y=best["validation_metric"], mode="markers", name=f"{label}, kept", legendgroup=label,
            marker={"symbol": "star", "size": 13, "color": shade}, showlegend=False,
        )  # fmt: skip
    figure.update_yaxes(type="log", dtick="D1" if _narrow(histories) else 1)
    return figure


def loss_curve(histories: dict[str, pd.DataFrame], title: str) -> go.Figure:
    """Loss by step on training batches (solid) and validation programs (dotted), one colour a seed.

    `histories`: label to step, train_loss, validation_loss.
    """
    figure = new_figure(title, "training step", "loss")
    for position, (label, history) in enumerate(histories.items()):
        for column, name, dash in (("train_loss", "training", "solid"), ("validation_loss", "validation", "dot")):
            rows = history.dropna(subset=[column])
            figure.add_scatter(
                x=rows["step"], y=rows[column], mode="lines", name=f"{label}, {name}",
                line={"color": PALETTE[position % len(PALETTE)], "dash": dash},
            )  # fmt: skip
    figure.update_yaxes(type="log")
    return figure


def error_by_size(table: pd.DataFrame, size: str, unit: str, metric: str, title: str) -> go.Figure:
    """Error against the size of the training data, one line a set of programs. `table`: on, error_pct, `size`."""
    figure = new_figure(title, unit, metric)
    for position, (on, points) in enumerate(table.groupby("on", sort=False)):
        mean = points.groupby(size)["error_pct"].mean()
        line = {"color": PALETTE[position % len(PALETTE)]}
        figure.add_scatter(x=mean.index, y=mean, mode="lines+markers", name=str(on), line=line)
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log")
    return figure


def _narrow(histories: dict[str, pd.DataFrame]) -> bool:
    values = np.concatenate([h["validation_metric"].dropna().to_numpy() for h in histories.values()] or [np.ones(1)])
    values = values[values > 0]
    return len(values) > 0 and values.max() / values.min() < 30


def ratio_by_class(table: pd.DataFrame, title: str) -> go.Figure:
    """Simulated over estimated time, a box a kernel class, log scale, and the kernels beyond its whiskers (5, 95 %).

    `table`: workload, root, kernel_class, ratio.
    """
    classes = table.groupby("kernel_class")["ratio"].median().sort_values().index
    figure = new_figure(title, "simulator / analytical model", "kernel class", height=140 + 60 * len(classes))
    shade = colour("learned")
    for kernel_class in classes:
        rows = table[table["kernel_class"] == kernel_class]
        low, *quartiles, high = rows["ratio"].quantile([0.05, 0.25, 0.5, 0.75, 0.95])
        name = f"{kernel_class} ({len(rows)})"
        figure.add_box(
            y=[name], lowerfence=[low], q1=quartiles[:1], median=quartiles[1:2], q3=quartiles[2:], upperfence=[high],
            orientation="h", name=name, line={"width": 1.5, "color": shade},
            fillcolor="rgba(0,0,0,0)", showlegend=False,
        )  # fmt: skip
        outside = rows[(rows["ratio"] < low) | (rows["ratio"] > high)]
        figure.add_scatter(
            x=outside["ratio"], y=[name] * len(outside), mode="markers", showlegend=False, orientation="h",
            name=f"{kernel_class}, beyond the whiskers", marker={"size": 4, "opacity": 0.5, "color": shade},
            text=outside["workload"] + " · " + outside["root"], hovertemplate="%{text}<br>%{x:.3g}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(type="log", dtick="D2")
    figure.add_vline(x=1, line={"color": colour("baseline"), "dash": "dash", "width": 1})
    figure.update_layout(margin={"l": 190})
    return figure
