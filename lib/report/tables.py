"""Tables of the report: plain rows, turned into HTML by the template."""

from dataclasses import dataclass, field

import pandas as pd

from lib.report.report_data import ReportData

METRIC_NAMES = {
    "ape_pct": "tile-size APE, %",
    "worst_ape_pct": "tile-size APE of the worst program, %",
    "ape_pct_over_analytical": "tile-size APE over the analytical model's",
    "mape_pct": "MAPE, %",
    "kendall_tau": "Kendall's tau",
    "tau_b": "tau-b",
    "mape_short_pct": "MAPE below 5 us, %",
    "program_error_pct": "error of the program's runtime, %",
    "top1_regret_pct": "top-1 regret, %",
    "top5_regret_pct": "top-5 regret, %",
    "top10_regret_pct": "top-10 regret, %",
}


@dataclass(frozen=True)
class Table:
    """A table for people: text cells; numbers are right-aligned by the template."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""
    marked: set[int] = field(default_factory=set)
    """Rows to set off."""
    folded: bool = False
    """Whether only the title shows until it is opened."""


def number(value: float | None, digits: int = 3) -> str:
    """A number for a cell; a dash where there is none."""
    if value is None or pd.isna(value):
        return "-"
    if value and abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def interval(value: float | None, low: float | None, high: float | None) -> str:
    """`value [low, high]`."""
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


def metric_name(metric: str) -> str:
    """The metric in words, with its unit."""
    return METRIC_NAMES.get(metric, metric.replace("_", " "))


def program_table(data: ReportData) -> Table:
    """The study's programs."""
    rows = [
        [
            row.workload, row.family, row.mode, str(row.batch), str(row.instructions), number(row.gflop),
            number(row.weight_mib),
        ]
        for row in data.programs.itertuples(index=False)
    ]  # fmt: skip
    return Table(
        "Programs",
        ["workload", "family", "mode", "batch", "instructions", "GFLOP a step", "weights, MiB"],
        rows,
        "Real HLO, simplified. FLOPs are twice the multiply-accumulates of convolutions and dots at the given batch.",
    )


def shard_table(data: ReportData) -> Table:
    """Rows of the datasets by task and hardware."""
    grouped = data.shards.groupby(["dataset", "task", "hardware"], sort=False)[["kernels", "rows"]].sum().reset_index()
    rows = [
        [row.dataset, row.task, row.hardware, f"{row.kernels:,}", f"{row.rows:,}"]
        for row in grouped.itertuples(index=False)
    ]
    return Table(
        "Datasets", ["dataset", "task", "hardware", "kernels", "labelled rows"], rows,
        "Kernels are distinct within a program. Tile task: the tiles of the default fusion's kernels; fusion task: "
        "kernels of the default and of random fusions, each with its default tile.",
    )  # fmt: skip
