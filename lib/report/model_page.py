"""The report's page of one trained model: what it is, how training went, its test figures, and how to use it."""

from typing import Any

from lib.report import charts
from lib.report.accuracy_charts import QUANTILES, ratio_by_runtime, runtime_quantiles
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Table, interval, metric_name, number
from schemas.artifact import Artifact
from schemas.model_artifact import ModelDescription

VALIDATION_METRIC = {"tile": "ape_pct", "fusion": "mape_pct"}
"""What training is stopped by."""
NOT_SPECIFICATION = ("id", "task", "dataset", "hardware", "split", "families", "origin")
"""Keys of a resolved model that the page says in other words."""
TASK_WORDS = {
    "tile": "ranks the tiles of a kernel (tile task)",
    "fusion": "estimates the runtime of kernels of many fusions (fusion task)",
}
FILE_WORDS = {
    "weights.npz": "weights, arrays by name",
    "model.json": "hyperparameters, names and scaling of the features, what it was trained on",
    "history.parquet": "losses and validation metric by training step",
    "manifest.json": "origin, specification, checksums and versions of the software",
}
RATIO_WORDS = {
    "tile": ("best tile's runtime, us", "picked tile's runtime / best tile's"),
    "fusion": ("actual runtime, us", "predicted / actual runtime"),
}


def model_page(data: ReportData, id: str) -> Page:
    """All seeds of a model."""
    page = Page(f"model-{id}", f"Model: {id}", "Models")
    seeds, spec = data.models[id], data.spec["models"][id]
    description, origin = seeds[0]["model.json"], seeds[0].manifest.origin
    page.text(_in_words(spec, description, origin))
    page.table(_specification_table(spec, description))
    page.table(_programs_table(spec))
    page.heading("Learning curves")
    add_learning_curves(page, spec["task"], seeds)
    page.heading("Test figures")
    rows = _row_names(data, id)
    if rows:
        page.table(_figures_table(data, rows, spec["task"]))
        page.links("Beside other models and baselines:", {f"accuracy-{name}": f"Accuracy: {name}" for name in rows})
        _add_calibration(page, data, rows, spec["task"])
    else:
        page.text("No evaluation of this study scores the model by itself.")
    page.heading("Files")
    page.table(_files_table(data, id))
    page.heading("To use it")
    _add_use(page, data, id, description)
    return page


def _in_words(spec: dict[str, Any], description: ModelDescription, origin: str) -> str:
    answers = "seconds" if description.scale == "seconds" else "scores that order the tiles of one kernel"
    return (
        f"It {TASK_WORDS[spec['task']]} and answers {answers}. Learned from {origin} runtimes of the dataset "
        f"{spec['dataset']} on {', '.join(_short(spec['hardware']))}."
    )


def _short(names: list[str], most: int = 6) -> list[str]:
    return [*names[:most], *([f"{len(names) - most} further variants"] if len(names) > most else [])]


def _specification_table(spec: dict[str, Any], description: ModelDescription) -> Table:
    """Hyperparameters and what goes in."""
    chosen = {key: value for key, value in spec.items() if key not in NOT_SPECIFICATION}
    rows = [[key.replace("_", " "), _cell(value)] for key, value in chosen.items()]
    features = description.features
    groups = ("node", "kernel", "tile", "raw_tile", "node_tile", "analytical")
    rows += [[f"features: {group.replace('_', ' ')}", str(len(getattr(features, group)))] for group in groups]
    return Table(
        "Specification", ["key", "value"], rows,
        "Keys of the model in the study, defaults filled in; features: numbers of columns, whose names are in "
        "model.json.",
    )  # fmt: skip


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value, 6)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _programs_table(spec: dict[str, Any]) -> Table:
    rows = [[part, str(len(programs)), ", ".join(programs)] for part, programs in spec["split"].items()]
    note = (
        "Training programs change the weights, validation programs choose the step that is kept, test programs score."
    )
    return Table("Programs", ["part", "programs", "names"], rows, note)


def add_learning_curves(page: Page, task: str, seeds: list[Artifact]) -> None:
    """Validation metric and losses by step, a line a seed, and a table of the seeds."""
    metric, origin = metric_name(VALIDATION_METRIC[task]), seeds[0].manifest.origin
    histories = {f"seed {seed['model.json'].seed}": seed["history.parquet"] for seed in seeds}
    page.chart(
        charts.training_curve(histories, metric, f"{metric} on the validation programs"),
        origin,
        "Of the running average of the weights. A star marks the best look, whose weights are kept.",
    )
    page.chart(charts.loss_curve(histories, "Loss"), origin, "Solid: training batches; dotted: validation programs.")
    page.table(_seeds_table(seeds, metric))


def _seeds_table(seeds: list[Artifact], metric: str) -> Table:
    rows = []
    for seed in seeds:
        kept, history = seed["model.json"], seed["history.parquet"]
        rows.append(
            [
                str(kept.seed), f"{kept.training_kernels:,}", f"{kept.training_rows:,}", str(kept.best_step),
                str(int(history["step"].iloc[-1])), number(history["validation_metric"].min()),
            ]
        )  # fmt: skip
    columns = ["seed", "training kernels", "training rows", "step kept", "last step", f"validation: {metric}"]
    return Table("Seeds", columns, rows, "Kernels and rows without those that occur in test programs.")


def _row_names(data: ReportData, id: str) -> dict[str, str]:
    """Evaluations that score the model by itself, to the name of its row."""
    return {
        evaluation: entry["id"]
        for evaluation, artifact in data.evaluations.items()
        for entry in artifact.manifest.spec["models"]
        if entry.get("members") == [id]
    }


def _figures_table(data: ReportData, rows: dict[str, str], task: str) -> Table:
    """One row an evaluation and hardware variant (or group of sampled ones)."""
    found = []
    for evaluation, name in rows.items():
        means = data.means(evaluation)
        means = means[(means["model"] == name) & (means["task"] == task)]
        found += [(evaluation, str(hardware), group) for hardware, group in means.groupby("hardware", sort=False)]
    metrics = list(dict.fromkeys(metric for _, _, group in found for metric in group["metric"]))
    cells = []
    for evaluation, hardware, group in found:
        by_metric = group.set_index("metric")
        values = [
            interval(*by_metric.loc[metric, ["value", "low", "high"]]) if metric in by_metric.index else "-"
            for metric in metrics
        ]
        cells.append([evaluation, hardware, *values, str(int(group["programs"].max()))])
    return Table(
        "On the test programs", ["evaluation", "hardware", *map(metric_name, metrics), "programs"], cells,
        "Means over programs (geometric for errors) and seeds, in brackets a 90 % bootstrap interval over programs.",
    )  # fmt: skip


def _add_calibration(page: Page, data: ReportData, rows: dict[str, str], task: str) -> None:
    """How far predictions are off by the size of the runtime, in the first evaluation that scores the model."""
    evaluation, name = next(iter(rows.items()))
    artifact, sampled = data.evaluations[evaluation], data.sampled(evaluation)
    points = artifact["predictions.parquet"]
    points = points[(points["model"] == name) & (points["task"] == task)]
    points = points.assign(hardware=points["hardware"].replace(sampled))
    quantiles = runtime_quantiles(points)
    if not len(quantiles):
        return
    page.heading("Calibration")
    x, y = RATIO_WORDS[task]
    page.chart(
        ratio_by_runtime(quantiles, f"{y.capitalize()} by runtime, {evaluation}", x, y),
        artifact.manifest.origin,
        "Median over the kernels of the test programs with about that runtime; the table has 10 and 90 %. 1 is right.",
    )
    cells = [
        [str(row.hardware), *(number(value) for value in (row.low_us, row.high_us)), str(row.kernels),
         *(number(getattr(row, column)) for column in QUANTILES)]
        for row in quantiles.itertuples(index=False)
    ]  # fmt: skip
    columns = ["hardware", "from, us", "to, us", "kernels", "10 %", "median", "90 %"]
    page.table(Table(f"{y.capitalize()} by runtime", columns, cells, folded=True))


def _files_table(data: ReportData, id: str) -> Table:
    rows = []
    for seed in data.models[id]:
        folder = f"{data.results}/model/{id}/seed-{seed['model.json'].seed}"
        for name in ("manifest.json", *seed.manifest.files):
            rows.append([f"{folder}/{name}", FILE_WORDS.get(name, "")])
    return Table("Files of the model", ["file", "what"], rows, folded=len(rows) > 8)


def _add_use(page: Page, data: ReportData, id: str, description: ModelDescription) -> None:
    """Shell and Python; a model that only ranks is asked for tiles, beside one that answers seconds."""
    folder = f"{data.results}/model/{id}/seed-{description.seed}"
    program = f"{data.results}/program/{next(iter(data.spec['models'][id]['split']['test']), 'WORKLOAD')}"
    models = f"--model {folder}"
    if description.scale != "seconds":
        others = [name for name, seeds in data.models.items() if seeds[0]["model.json"].scale == "seconds"]
        other = others[0] if others else "OTHER"
        models = f"--model {data.results}/model/{other}/seed-{_first_seed(data, other)} --tile-model {folder}"
    page.text("From the shell; the program may also be an HLO, StableHLO or Keras file:")
    page.code(
        f"python -m lib.predict {program} {models} --hardware {data.spec['models'][id]['hardware'][0]} --study STUDY"
    )
    page.text("From Python:")
    page.code(
        "from pathlib import Path\n\n"
        "from lib.fusion.default_kernels import default_kernels\n"
        "from lib.prediction import load_model\n"
        "from lib.prediction.asked_hardware import hardware_named\n"
        "from lib.prediction.asked_program import program_at\n"
        f"from lib.prediction.kernel_table import {_asked(description)}\n\n"
        f'hardware = hardware_named("{data.spec["models"][id]["hardware"][0]}", Path("STUDY"))\n'
        f'found = default_kernels(program_at(Path("{program}")))\n'
        f'model = load_model("{folder}")\n'
        + (
            "print(runtime_table(found, model, hardware.datapath))"
            if description.scale == "seconds"
            else "print(tile_table(found.kernels, model, hardware.datapath))"
        )
    )
    page.text("STUDY: the study's file, whose hardware variants may be named.")


def _asked(description: ModelDescription) -> str:
    return "runtime_table" if description.scale == "seconds" else "tile_table"


def _first_seed(data: ReportData, id: str) -> int:
    return int(data.models[id][0]["model.json"].seed) if id in data.models else 1
