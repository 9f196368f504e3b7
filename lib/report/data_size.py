"""Data-size curves: error of models that differ only in how much they were trained on."""

import json
from typing import Any

import pandas as pd

from lib.evaluation.metrics import geometric_mean_pct
from lib.report import charts
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Table, metric_name, number

METRICS = {"tile": "ape_pct", "fusion": "mape_pct"}
COLUMNS = ["group", "model", "seed", "programs", "rows", "on", "metric", "error_pct"]
VALIDATION = "validation programs"


def add_data_size(page: Page, data: ReportData) -> None:
    """A chart against programs and one against rows for each group of models that differ in their data alone."""
    points = data_size_points(data)
    for group, rows in points.groupby("group", sort=False):
        metric = metric_name(rows["metric"].iloc[0])
        origin = data.models[str(group)][0].manifest.origin
        page.heading(f"Error against data: {group}")
        for size, unit in (("programs", "training programs"), ("rows", "training rows")):
            if rows[size].nunique() > 1:
                title = f"{group}: {metric} against {unit}"
                page.chart(charts.error_by_size(rows, size, unit, metric, title), origin, "Mean of the seeds.")
        page.table(_table(rows, metric))


def data_size_points(data: ReportData) -> pd.DataFrame:
    """One row a model, seed and set of programs: COLUMNS. `group` is the id of the group's model with most data;
    `on` the validation programs (best look of training) or the test programs on a hardware variant."""
    groups: dict[str, list[str]] = {}
    for id in data.models:
        groups.setdefault(_all_but_size(data.spec["models"][id]), []).append(id)
    rows: list[tuple[Any, ...]] = []
    for ids in groups.values():
        sizes = {
            (len(data.spec["models"][id]["split"]["train"]), data.spec["models"][id].get("train_rows")) for id in ids
        }
        if len(sizes) < 2:
            continue
        largest = max(ids, key=lambda id: max(seed["model.json"].training_rows for seed in data.models[id]))
        for id in ids:
            spec = data.spec["models"][id]
            metric, programs = METRICS[spec["task"]], len(spec["split"]["train"])
            for seed in data.models[id]:
                description = seed["model.json"]
                size = (largest, id, description.seed, programs, description.training_rows)
                rows.append((*size, VALIDATION, metric, seed["history.parquet"]["validation_metric"].min()))
                rows += [(*size, *point) for point in _test_errors(data, id, description.seed, metric)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _size(spec: dict[str, Any]) -> tuple[int, float]:
    """Programs, and share of their rows."""
    return len(spec["split"]["train"]), spec.get("train_rows", 1.0)


def _all_but_size(spec: dict[str, Any]) -> str:
    same = {key: value for key, value in spec.items() if key not in ("id", "split", "families", "train_rows")}
    held_out = {part: spec["split"][part] for part in ("validation", "test")}
    return json.dumps([same, held_out], sort_keys=True)


def _test_errors(data: ReportData, model: str, seed: int, metric: str) -> list[tuple[str, str, float]]:
    """(test programs on a variant, metric, geometric mean) in each evaluation that has the model."""
    found = []
    for evaluation in data.evaluations.values():
        programs = evaluation["programs.parquet"]
        of_model = (programs["model"] == model) & (programs["seed"] == seed) & (programs["metric"] == metric)
        for hardware, rows in programs[of_model].groupby("hardware", sort=False):
            values = rows["value"].dropna().to_numpy()
            if len(values):
                found.append((f"test programs on {hardware}", metric, geometric_mean_pct(values)))
    return found


def _table(rows: pd.DataFrame, metric: str) -> Table:
    columns = list(dict.fromkeys(rows["on"]))
    cells = []
    for (programs, kept, model), points in rows.groupby(["programs", "rows", "model"]):
        mean = points.groupby("on")["error_pct"].mean()
        cells.append([str(model), f"{programs}", f"{kept:,}", *(number(mean.get(on)) for on in columns)])
    return Table(
        f"{metric} by size of the training data",
        ["model", "programs", "rows", *(f"{on}, %" for on in columns)],
        cells,
        "Mean of the seeds. Validation programs choose the weights, so their error is a little too low.",
    )
