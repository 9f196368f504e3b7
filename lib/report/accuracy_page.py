"""The report's page of one evaluation."""

import pandas as pd

from lib.report import accuracy_charts, accuracy_tables, charts, tables
from lib.report.page import Page
from lib.report.report_data import ReportData
from schemas.artifact import Artifact
from schemas.evaluation import BASELINES

MOST_VARIANTS = 8
"""Hardware variants that have sections of their own; sampled ones are shown by group."""
COVERED = "Points that would cover each other are drawn once."
IN_CHARTS = ("learned", "analytical", "calibrated-analytical")
MOST_MODELS = 6
"""Models of a task, the headline first, in charts and in tables with a column a model; all are in the first table."""


def accuracy_page(data: ReportData, evaluation: str) -> Page:
    """Models beside baselines by task and hardware variant, across hardware, by kernel class, kernel by kernel."""
    page = Page(f"accuracy-{evaluation}", f"Accuracy: {evaluation}", "Accuracy")
    artifact = data.evaluations[evaluation]
    entries, overall = artifact.manifest.spec["models"], artifact["overall.parquet"]
    rows = list(dict.fromkeys(model["id"] for model in entries))
    order = [*rows, *(name for name in BASELINES if name in set(overall["model"]))]
    page.text(
        f"Scored on {data.held_out(evaluation)}. Models are chosen and training is stopped on validation programs, "
        "whose table stands last; test programs are scored once."
    )
    page.text(_rows_in_words(artifact))
    for task in ("tile", "fusion"):
        for metric in (accuracy_tables.MAIN[task], "kendall_tau"):
            table = accuracy_tables.cross_hardware_table(overall, entries, task, metric)
            if table is not None:
                page.table(table)
        groups = artifact["groups.parquet"]
        if len(groups[groups["task"] == task]):
            page.table(accuracy_tables.group_table(groups, task, order))
    for task in ("tile", "fusion"):
        for hardware in _shown_hardware(overall[overall["task"] == task], entries):
            _add_variant(page, data, evaluation, task, hardware, order)
    page.heading("Against each baseline")
    page.table(_comparison_table(artifact["comparisons.parquet"]))
    if len(artifact["validation.parquet"]):
        page.heading("Validation programs")
        page.table(accuracy_tables.validation_table(artifact["validation.parquet"], order))
    return page


def _rows_in_words(artifact: Artifact) -> str:
    """What stands behind the rows that are averages or trained baselines."""
    words = []
    for model in artifact.manifest.spec["models"]:
        members = ", ".join(model.get("members", []))
        if len(model.get("members", [])) > 1:
            words.append(f"{model['id']} ({model['task']}): the average of {members}")
        elif model.get("baseline"):
            words.append(f"{model['id']} ({model['task']}): the model {members}")
    if not any(model["id"] == "boosted-trees" for model in artifact.manifest.spec["models"]):
        words.append("boosted-trees: none in this evaluation (`baselines:` names them)")
    return "Rows: " + "; ".join(words) + "." if words else ""


def _shown_hardware(overall: pd.DataFrame, entries: list[dict]) -> list[str]:
    sampled = {variant for model in entries for variant in model["hardware_groups"]}
    return [variant for variant in dict.fromkeys(overall["hardware"]) if variant not in sampled][:MOST_VARIANTS]


def _add_variant(page: Page, data: ReportData, evaluation: str, task: str, hardware: str, order: list[str]) -> None:
    artifact, headline = data.evaluations[evaluation], data.headline(evaluation)[task]
    overall, predictions = artifact["overall.parquet"], artifact["predictions.parquet"]
    origin = artifact.manifest.origin
    few = _fewer(order, artifact.manifest.spec["models"], task)
    page.heading(f"{task.capitalize()} task on {hardware}")
    page.table(accuracy_tables.accuracy_table(overall, task, hardware, order, data.held_out(evaluation), origin))
    metric = accuracy_tables.MAIN[task]
    programs = artifact["programs.parquet"]
    chosen = (programs["task"] == task) & (programs["hardware"] == hardware) & (programs["metric"] == metric)
    means = programs[chosen].groupby(["model", "workload"], sort=False)["value"].mean().reset_index()
    means = _named(means, headline)
    shown = means[means["model"].isin([*IN_CHARTS, *(name for name in few if name not in BASELINES)])]
    name = tables.metric_name(metric)
    page.chart(charts.bars_by_program(shown, f"{name} by test program, {hardware}", name), origin, "Mean over seeds.")
    page.table(accuracy_tables.program_table(programs, task, hardware, few))
    points = predictions[(predictions["task"] == task) & (predictions["hardware"] == hardware)]
    learned = points[points["model"] == headline].dropna(subset=["predicted_s"])
    page.table(accuracy_tables.class_table(artifact["classes.parquet"], task, hardware, few))
    if task == "tile":
        page.table(accuracy_tables.slowdown_table(predictions, hardware, order))
        curves = {
            name: accuracy_tables.slowdown_pct(points[points["model"] == model])
            for model, name in [(headline, "learned"), *((m, m) for m in few if m not in (headline, "noise-floor"))]
            if model in set(points["model"])
        }
        page.chart(
            accuracy_charts.slowdown_distribution(curves, f"Slowdown of picked tiles by kernel, {hardware}"),
            origin,
            "Each kernel of the test programs counts alike.",
        )
        figure = charts.predicted_against_actual(
            _named(points[points["model"].isin([headline, "analytical"])], headline),
            f"Picked tile against the best tile, {hardware}", "best tile of the kernel", "tile picked",
        )  # fmt: skip
        page.chart(figure, origin, f"One point a kernel of the test programs. {COVERED}")
    elif len(learned):
        figure = accuracy_charts.calibration(learned, f"Predicted against actual by kernel class, {hardware}")
        note = f"One point a kernel of the test programs, {headline}; the darker, the denser. {COVERED}"
        page.chart(figure, origin, note)
    worst = artifact["worst.parquet"]
    if len(worst):
        page.table(accuracy_tables.worst_table(worst, task, hardware, headline))


def _fewer(order: list[str], entries: list[dict], task: str) -> list[str]:
    """Of `order` the first MOST_MODELS of the task's models, and all trained and other baselines."""
    models = [entry["id"] for entry in entries if entry["task"] == task and not entry["baseline"]]
    return [name for name in order if name not in models[MOST_MODELS:]]


def _named(table: pd.DataFrame, headline: str) -> pd.DataFrame:
    return table.assign(model=table["model"].replace({headline: "learned"}))


def _comparison_table(comparisons: pd.DataFrame) -> tables.Table:
    rows = [
        [
            row.task, row.hardware, tables.metric_name(row.metric), row.model, row.baseline,
            f"{row.kind} {tables.interval(row.difference, row.low, row.high)}", "better" if row.better else "not shown",
        ]
        for row in comparisons.itertuples(index=False)
    ]  # fmt: skip
    return tables.Table(
        "Paired comparisons",
        ["task", "hardware", "metric", "model", "baseline", "model against baseline", "better?"],
        rows,
        "Paired bootstrap over test programs, 90 %. Errors are compared by ratio (below 1 is better), correlations by "
        "difference (above 0 is better); 'better' means that the interval excludes equality.",
        folded=len(rows) > 20,
    )
