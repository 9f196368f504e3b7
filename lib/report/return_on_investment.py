"""Return on investment of searched designs: FAST's table 4 and figure 6 with ours beside."""

import math
from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from lib.report.search_charts import return_chart
from lib.report.tables import Table, number
from lib.search.return_on_investment import (
    TABLE_4_RETURNS,
    accelerator_usd,
    design_usd,
    engineering_usd,
    return_on_investment,
    volume_for,
)
from schemas.reference import load_reference

MOST_VOLUME = 10_000
"""End of figure 6's axis, accelerators."""
LINES_GAINS = (1.5, 2.0, 4.0, 100.0)
"""Gains of the lines that the chart always has; the paper compares 1.5 and 100."""
MILLION = 1e6
NOTE = (
    "Our volumes follow from the gain (Perf/TDP stands for work by cost, as in the paper) and the costs in the table. "
    "A gain of at most 1 never pays back."
)


def break_even_table(gains: Mapping[str, float], costs: Mapping[str, float], paper_rows: Mapping[str, str]) -> Table:
    """Accelerators at which each design returns 1, 2, 4 and 8 times its cost, below the row of table 4 if it has one.

    `gains`: label to Perf/TDP; `paper_rows`: label to a row of the reference's `fast-return-on-investment`.
    """
    paper = load_reference().tables["fast-return-on-investment"]
    rows, marked = [], set()
    for label, gain in gains.items():
        if label in paper_rows:
            printed = paper.row(paper_rows[label])
            volumes = [number(printed[f"volume_{returns}x"], 5) for returns in TABLE_4_RETURNS]
            rows.append([paper_rows[label], "paper", number(printed["gain"]), *volumes])
        marked.add(len(rows))
        volumes = [_volume(volume_for(returns, gain, costs)) for returns in TABLE_4_RETURNS]
        rows.append([label, "ours", number(gain), *volumes])
    heads = [f"for {returns} x its cost" for returns in TABLE_4_RETURNS]
    return Table(
        "Accelerators of today that a design must replace (table 4)", ["design", "whose", "Perf/TDP gain, x", *heads],
        rows, f"Paper: {paper.note}. {NOTE}", marked,
    )  # fmt: skip


def _volume(volume: float) -> str:
    return number(volume, 5) if math.isfinite(volume) else "never"


def returns_figure(gains: Mapping[str, float], costs: Mapping[str, float], title: str) -> go.Figure:
    """Return on investment against volume (figure 6), lines of the designs and of some round gains."""
    volumes = np.linspace(0.0, MOST_VOLUME, 41)
    lines = {
        f"{label}: {gain:.3g} x": (volumes, return_on_investment(volumes, gain, costs)) for label, gain in gains.items()
    }
    ours = list(lines)
    lines |= {f"{gain:g} x": (volumes, return_on_investment(volumes, gain, costs)) for gain in LINES_GAINS}
    return return_chart(lines, ours, title)


def costs_table(costs: Mapping[str, float]) -> Table:
    """Every cost behind the volumes."""
    rows = [
        ["server of today", number(costs["server_price_usd"], 6), "USD"],
        ["accelerators of a server", number(costs["accelerators_per_server"]), ""],
        ["power of a server", number(costs["server_power_w"], 5), "W"],
        ["electricity", number(costs["electricity_usd_per_kwh"], 4), "USD/kWh"],
        ["years of use", number(costs["years"]), "years"],
        ["one accelerator of today, with its electricity", number(accelerator_usd(costs), 5), "USD"],
        ["engineer, a year", number(costs["engineer_usd_per_year"], 6), "USD"],
        ["overhead on it", number(costs["engineer_overhead"]), "x"],
        ["work on the design", number(costs["engineer_years"]), "engineer-years"],
        ["engineers in all", number(engineering_usd(costs) / MILLION, 4), "million USD"],
        ["masks", number(costs["masks_usd"] / MILLION, 4), "million USD"],
        ["bought blocks (IP)", number(costs["ip_usd"] / MILLION, 4), "million USD"],
        ["making the design, in all", number(design_usd(costs) / MILLION, 4), "million USD"],
    ]  # fmt: skip
    return Table(
        "Costs", ["cost", "value", "unit"], rows,
        "Key return_on_investment of the search. The paper prints no power of a server and no price of masks and IP: "
        "the defaults are ours, and masks and IP together are what its table 4 leaves.",
        folded=True,
    )  # fmt: skip
