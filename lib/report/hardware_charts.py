"""The roofline of a hardware variant (Williams, Waterman, Patterson, CACM 2009)."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from lib.hardware.datapath import Datapath, peak_flops_per_s, ridge_flops_per_byte
from lib.report.charts import COLOURS, PALETTE, new_figure

AROUND_RIDGE = 100.0
"""The chart reaches so many times below and above the ridge, or further where programs lie there."""


def roofline(datapath: Datapath, points: pd.DataFrame, title: str) -> go.Figure:
    """FLOP/s that one core can reach against FLOPs a byte of DRAM traffic, log-log, with programs in it.

    `points`: workload, flops_per_byte, flops_per_s.
    """
    figure = new_figure(title, "operational intensity, FLOP/byte", "rate, TFLOP/s", height=430)
    ridge, peak = ridge_flops_per_byte(datapath), peak_flops_per_s(datapath) / 1e12
    ends = np.array([ridge / AROUND_RIDGE, ridge * AROUND_RIDGE])
    if len(points):
        ends = np.array([min(ends[0], points["flops_per_byte"].min()), max(ends[1], points["flops_per_byte"].max())])
    figure.add_scatter(
        x=[ends[0], ridge, ends[1]], y=[peak * ends[0] / ridge, peak, peak], mode="lines", name="at most",
        line={"color": COLOURS["default"], "width": 2.5},
        hovertemplate="%{x:.3g} FLOP/byte: at most %{y:.3g} TFLOP/s<extra></extra>",
    )  # fmt: skip
    if len(points):
        figure.add_scatter(
            x=points["flops_per_byte"], y=points["flops_per_s"] / 1e12, mode="markers", name="programs",
            marker={"size": 9, "color": PALETTE[0]}, text=points["workload"],
            hovertemplate="%{text}<br>%{x:.3g} FLOP/byte, %{y:.3g} TFLOP/s<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1)
    return figure
