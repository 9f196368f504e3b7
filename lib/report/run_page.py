"""The report's page *Run*: what the jobs of the study took, by rule."""

import pandas as pd
import plotly.graph_objects as go

from lib.report.charts import colour, new_figure
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Table, number

SLOWEST = 10
"""Jobs that are listed one by one."""
NOTE = (
    "Measured by Snakemake's benchmark files, of each job's last run, jobs of entries that the study no longer has "
    "among them. Jobs run side by side, so a run takes less than their sum; a job of under half a second has no memory."
)


def run_page(data: ReportData) -> Page:
    """Time and memory by rule; empty where no job has a benchmark file."""
    page, jobs = Page("run", "Run"), data.wall_times
    if not len(jobs):
        return page
    page.text(NOTE)
    page.chart(
        bars_by_rule(jobs.groupby("rule")["wall_s"].sum(), "Wall time by rule, all jobs added up", "wall time", "s"),
        "measured",
    )
    memory = jobs.groupby("rule")["max_rss_mb"].max().dropna()
    if len(memory):
        page.chart(bars_by_rule(memory, "Most memory of a job by rule", "memory", "MB"), "measured")
    page.table(rule_table(jobs))
    page.table(slowest_table(jobs))
    return page


def bars_by_rule(values: pd.Series, title: str, quantity: str, unit: str) -> go.Figure:
    """A bar a rule, the longest on top. `values`: by rule."""
    values = values.sort_values()
    figure = new_figure(title, f"{quantity}, {unit}", "rule", height=120 + 40 * len(values))
    figure.add_bar(
        y=values.index, x=values, orientation="h", marker_color=colour("learned"),
        hovertemplate="%{y}: %{x:.3g} " + unit + "<extra></extra>",
    )  # fmt: skip
    return figure


def rule_table(jobs: pd.DataFrame) -> Table:
    """Jobs, time and memory by rule."""
    rows = []
    for rule, of_rule in jobs.groupby("rule", sort=False):
        wall_s = of_rule["wall_s"]
        rows.append(
            [
                str(rule), str(len(of_rule)), number(wall_s.sum()), number(wall_s.mean()), number(wall_s.max()),
                number(of_rule["cpu_s"].sum(min_count=1)), number(of_rule["max_rss_mb"].max()),
            ]
        )  # fmt: skip
    columns = ["rule", "jobs", "all jobs, s", "mean, s", "slowest, s", "processor time, all jobs, s", "most memory, MB"]
    return Table("Time and memory by rule", columns, rows)


def slowest_table(jobs: pd.DataFrame) -> Table:
    """The jobs that took longest."""
    rows = [
        [str(job.rule), str(job.job), number(job.wall_s), number(job.cpu_s), number(job.max_rss_mb)]
        for job in jobs.nlargest(SLOWEST, "wall_s").itertuples()
    ]
    return Table("The slowest jobs", ["rule", "job", "wall time, s", "processor time, s", "memory, MB"], rows)
