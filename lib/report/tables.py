"""Tables of the report: plain rows, turned into HTML by the template."""

import re
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


class Number(str):
    """The text of a number, with the number itself, by which tables are sorted and which their CSV files have."""

    value: float

    def __new__(cls, text: str, value: float) -> "Number":
        cell = super().__new__(cls, text)
        cell.value = value
        return cell


class Interval(Number):
    """The same with an interval in the text."""

    low: float
    high: float


@dataclass(frozen=True)
class Table:
    """A table for people: cells of text, numbers made by `number` and `interval`, which the template right-aligns."""

    title: str
    columns: list[str]
    """With units."""
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
    text = f"{value:,.0f}" if value and abs(value) >= 1000 else f"{value:.{digits}g}"
    return Number(text, float(value))


def doubtful(value: float | None) -> str:
    """The same, marked (?)."""
    text = number(value)
    return Number(f"{text} (?)", text.value) if isinstance(text, Number) else text


def interval(value: float | None, low: float | None, high: float | None) -> str:
    """`value [low, high]`."""
    if value is None or pd.isna(value) or low is None or high is None or pd.isna(low) or pd.isna(high):
        return number(value)
    cell = Interval(f"{number(value)} [{number(low)}, {number(high)}]", float(value))
    cell.low, cell.high = float(low), float(high)
    return cell


NUMBER = re.compile(
    r"-?|[-+]?[\d,.]+(e[-+]?\d+)?( to [-+]?[\d,.]+(e[-+]?\d+)?)?( [kMG]i?B(/s)?| [MG]Hz)?( \[.*\]| \(\d+\))?"
)
"""A number, or a range, with a unit, an interval or a count."""


def numeric_columns(table: Table) -> list[bool]:
    """Whether the cells of a column hold numbers, possibly with a unit or an interval, or nothing."""
    columns = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    return [
        all(isinstance(cell, Number) or NUMBER.fullmatch(cell) for cell in column) and any(column) for column in columns
    ]


def raw(cell: str) -> dict[str, str]:
    """What the text of a cell does not say: `value`, and `low` and `high` of an interval, with all digits."""
    if not isinstance(cell, Number):
        return {}
    if isinstance(cell, Interval):
        return {"value": _digits(cell.value), "low": _digits(cell.low), "high": _digits(cell.high)}
    exact = cell.replace(",", "") == _digits(cell.value)
    return {} if exact else {"value": _digits(cell.value)}


def _digits(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def metric_name(metric: str) -> str:
    """The metric in words, with its unit."""
    return METRIC_NAMES.get(metric, metric.replace("_", " "))


def with_unit(head: str, metric: str) -> str:
    """The head of a column that has values of the metric."""
    return f"{head}, %" if metric_name(metric).endswith(", %") else head


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
