"""Charts of searches: progress, trade-offs, refused trials, kernels, return on investment."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from lib.report.charts import COLOURS, colour, new_figure

MOST_POINTS = 1000
"""Trials that a scatter shows besides the Pareto front; more would make the report slow to open."""
BAND_OPACITY = 0.18
STATE_COLOURS = {
    "ok": "#2563eb",
    "bound": "#0891b2",
    "area": "#d97706",
    "tdp": "#b45309",
    "latency": "#7c3aed",
    "infeasible": "#7b8494",
}
OPTIMISER_COLOURS = {
    "swarm": "#2563eb",
    "tpe": "#d97706",
    "random": "#6b7280",
    "nsga2": "#059669",
    "cma-es": "#7c3aed",
}
STATE_WORDS = {
    "ok": "within all limits",
    "bound": "bound below the best",
    "area": "over area",
    "tdp": "over TDP",
    "latency": "over latency",
    "infeasible": "can't run",
}
RATIO_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def best_so_far_chart(
    curves: Mapping[str, pd.DataFrame], paper: Mapping[str, Mapping[int, float]], title: str, unit: str,
    steps: str = "trials",
) -> go.Figure:  # fmt: skip
    """Best so far against trials (or other `steps`), a line and a 90 % band a search; the paper's means are dotted.

    `curves`: label to `lib.report.search_figures.best_so_far_band`'s table, a label begins with its optimiser; `paper`:
    optimiser to value by trials.
    """
    figure = new_figure(title, steps, unit, height=430)
    for position, (label, band) in enumerate(curves.items()):
        shade = OPTIMISER_COLOURS.get(label.split(" ")[0], colour("", position))
        if band["low"].notna().any():
            _add_band(figure, band, shade, label)
        figure.add_scatter(
            x=band["trial"], y=band["mean"], mode="lines", name=label, legendgroup=label,
            line={"shape": "hv", "width": 2.5, "color": shade},
            hovertemplate=f"after %{{x}} {steps}: %{{y:.3g}}<extra>" + label + "</extra>",
        )  # fmt: skip
    for optimiser, points in paper.items():
        figure.add_scatter(
            x=list(points), y=list(points.values()), mode="lines+markers", name=f"{optimiser}, paper",
            line={"dash": "dot", "width": 1.5, "color": OPTIMISER_COLOURS.get(optimiser)},
            marker={"symbol": "square-open"},
        )  # fmt: skip
    return figure


def _add_band(figure: go.Figure, band: pd.DataFrame, shade: str, label: str) -> None:
    red, green, blue = (int(shade[place : place + 2], 16) for place in (1, 3, 5))
    for column, fill in (("low", None), ("high", "tonexty")):
        figure.add_scatter(
            x=band["trial"], y=band[column], mode="lines", line={"width": 0, "shape": "hv"}, fill=fill,
            fillcolor=f"rgba({red},{green},{blue},{BAND_OPACITY})", hoverinfo="skip", showlegend=False,
            legendgroup=label, name=label,
        )  # fmt: skip


def shown_trials(trials: pd.DataFrame) -> pd.DataFrame:
    """The front and an even share of the other trials that were priced."""
    priced = trials.dropna(subset=["speed_ratio"])
    others = priced[~priced["pareto"]]
    step = max(1, -(-len(others) // MOST_POINTS))
    return pd.concat([others.iloc[::step], priced[priced["pareto"]]])


def trade_off_chart(
    trials: pd.DataFrame, designs: Mapping[str, Mapping[str, float]], axes: Mapping[str, str], title: str
) -> go.Figure:
    """Speed against what it costs, a panel an axis: every trial, the Pareto front, and named designs.

    `trials`: speed_ratio, perf_per_tdp_gain, pareto, island, trial and the columns of `axes` (column to title);
    `designs`: name to the same columns.
    """
    figure = new_figure(title, "", "queries/s, times the baseline's", height=440)
    figure.set_subplots(rows=1, cols=len(axes), shared_yaxes=True, horizontal_spacing=0.03)
    shown = shown_trials(trials)
    for place, (column, axis_title) in enumerate(axes.items(), start=1):
        for on_front, name, shade, size in (
            (False, "trials", COLOURS["default"], 5),
            (True, "Pareto front", COLOURS["best"], 8),
        ):
            rows = shown[shown["pareto"] == on_front]
            figure.add_scattergl(
                x=rows[column], y=rows["speed_ratio"], mode="markers", name=name, legendgroup=name,
                showlegend=place == 1, marker={"size": size, "color": shade, "opacity": 0.9 if on_front else 0.35},
                customdata=np.stack([rows["island"], rows["trial"], rows["perf_per_tdp_gain"]], axis=-1),
                hovertemplate="island %{customdata[0]}, trial %{customdata[1]}: %{y:.3g} x queries/s, Perf/TDP "
                "%{customdata[2]:.3g} x<extra></extra>",
                row=1, col=place,
            )  # fmt: skip
        for position, (name, design) in enumerate(designs.items()):
            figure.add_scatter(
                x=[design[column]], y=[design["speed_ratio"]], mode="markers", name=name, legendgroup=name,
                showlegend=place == 1,
                marker={"size": 13, "symbol": ("diamond", "star", "square", "cross", "x")[position % 5],
                        "color": (COLOURS["baseline"], "#dc2626", "#059669", "#7c3aed", "#db2777")[position % 5]},
                row=1, col=place,
            )  # fmt: skip
        figure.update_xaxes(title_text=axis_title, type="log", row=1, col=place)
    for axes_of in (figure.update_xaxes, figure.update_yaxes):
        axes_of(tickvals=RATIO_TICKS, ticktext=[f"{tick:g}" for tick in RATIO_TICKS])
    figure.update_yaxes(type="log")
    figure.update_yaxes(title_text="queries/s, times the baseline's", col=1)
    return figure


def states_chart(trials: pd.DataFrame, title: str, parts: int = 20) -> go.Figure:
    """What became of the trials in each twentieth of the search, % of its trials: how the limits are learned.

    `trials`: island, trial, state.
    """
    figure = new_figure(title, "trials", "share of the trials, %", height=340)
    length = int(trials["trial"].max()) + 1
    width = max(1, -(-length // parts))
    part = trials["trial"] // width
    shares = pd.crosstab(part, trials["state"], normalize="index") * 100
    ends = np.minimum((shares.index.to_numpy() + 1) * width, length)
    for state in [state for state in STATE_COLOURS if state in shares]:
        figure.add_bar(
            x=ends - width / 2, y=shares[state], width=width, name=STATE_WORDS[state],
            marker={"color": STATE_COLOURS[state], "line": {"width": 0}},
            hovertemplate="%{y:.0f} %<extra>" + STATE_WORDS[state] + "</extra>",
        )  # fmt: skip
    figure.update_layout(barmode="stack")
    return figure


def kernels_side_by_side(table: pd.DataFrame, title: str, baseline: str, most: int = 20) -> go.Figure:
    """Time a query by kernel of two designs. `table`: label, baseline_s, best_s (of a query), heaviest first."""
    rows = table.head(most).iloc[::-1]
    figure = new_figure(title, "time per query, us", "kernel", height=140 + 26 * len(rows))
    for column, name in (("best_s", "best"), ("baseline_s", "baseline")):
        figure.add_bar(
            y=rows["label"], x=rows[column] * 1e6, orientation="h", marker_color=COLOURS[name],
            name=baseline if name == "baseline" else "best design",
            hovertemplate="%{y}: %{x:.4g} us<extra></extra>",
        )  # fmt: skip
    figure.update_layout(barmode="group", legend={"traceorder": "reversed"}, margin={"l": 320})
    return figure


def return_chart(lines: Mapping[str, tuple[np.ndarray, np.ndarray]], ours: Sequence[str], title: str) -> go.Figure:
    """Return on investment against volume, as figure 6. `lines`: label to (volumes, returns); those of `ours` are
    thick."""
    figure = new_figure(title, "accelerators of today that the design replaces", "return on investment", height=420)
    for position, (label, (volumes, returns)) in enumerate(lines.items()):
        thick = label in ours
        figure.add_scatter(
            x=volumes, y=returns, mode="lines", name=label,
            line={"width": 3 if thick else 1.5, "dash": "solid" if thick else "dot", "color": colour("", position)},
            hovertemplate="%{x:.0f} accelerators: %{y:.2f}<extra>" + label + "</extra>",
        )  # fmt: skip
    figure.add_hline(y=1, line={"color": COLOURS["baseline"], "dash": "dash", "width": 1}, annotation_text="pays back")
    return figure


def beside_paper_chart(table: pd.DataFrame, title: str, unit: str) -> go.Figure:
    """Grouped bars by workload: ours filled, the paper's hollow. `table`: workload, series, ours, paper (NaN: none)."""
    figure = new_figure(title, "workload", unit, height=440)
    for position, (series, rows) in enumerate(table.groupby("series", sort=False)):
        shade = (COLOURS["default"], COLOURS["best"], "#059669", "#7c3aed")[position % 4]
        for column, name in (("ours", f"{series}, ours"), ("paper", f"{series}, paper")):
            if rows[column].notna().any():
                hollow = column == "paper"
                figure.add_bar(
                    x=rows["workload"], y=rows[column], name=name, offsetgroup=f"{series} {column}",
                    marker={"color": "rgba(0,0,0,0)" if hollow else shade, "line": {"color": shade, "width": 1.5}},
                    hovertemplate="%{x}: %{y:.3g} x<extra>" + name + "</extra>",
                )  # fmt: skip
    figure.update_layout(barmode="group", bargap=0.2)
    return figure
