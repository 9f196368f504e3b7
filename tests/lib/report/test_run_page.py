"""The page *Run*: time and memory by rule, of whatever benchmark files there are."""

import numpy as np
import pandas as pd

from lib.report.report_data import WALL_TIME_COLUMNS
from lib.report.run_page import rule_table, run_page, slowest_table
from tests.lib.report.report_examples import report_data


def test_a_row_a_rule():
    rows = rule_table(report_data().wall_times).rows
    assert rows == [
        ["search", "1", "6", "6", "6", "5", "200"],
        ["program", "2", "5", "2.5", "3", "2.5", "100"],  # 2 s and 3 s; only one job has processor time and memory
    ]


def test_the_slowest_jobs_first():
    assert [row[:3] for row in slowest_table(report_data().wall_times).rows] == [
        ["search", "net/island-1", "6"],
        ["program", "other", "3"],
        ["program", "net", "2"],
    ]


def test_a_chart_of_each_with_its_unit():
    charts = [part["figure"] for part in run_page(report_data()).parts if part["kind"] == "chart"]
    assert [(list(chart.data[0].y), list(chart.data[0].x)) for chart in charts] == [
        (["program", "search"], [5.0, 6.0]),
        (["program", "search"], [100.0, 200.0]),
    ]
    assert [chart.layout.xaxis.title.text for chart in charts] == ["wall time, s", "memory, MB"]


def test_without_memory_there_is_no_chart_of_it():
    jobs = pd.DataFrame([("program", "net", 0.2, np.nan, np.nan)], columns=WALL_TIME_COLUMNS)
    page = run_page(report_data(wall_times=jobs))
    assert [part["title"] for part in page.parts if part["kind"] == "chart"] == ["Wall time by rule, all jobs added up"]
    assert rule_table(jobs).rows == [["program", "1", "0.2", "0.2", "0.2", "-", "-"]]


def test_without_benchmark_files_there_is_no_page():
    assert run_page(report_data(wall_times=pd.DataFrame(columns=WALL_TIME_COLUMNS))).parts == []
