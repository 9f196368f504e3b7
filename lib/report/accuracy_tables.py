"""Tables of an evaluation: models beside baselines, by kernel class, across hardware, worst kernels."""

import numpy as np
import pandas as pd

from lib.evaluation.metrics import FLOOR_PCT
from lib.report.tables import Table, interval, metric_name, number, with_unit
from schemas.evaluation import BASELINES

MAIN = {"tile": "ape_pct", "fusion": "mape_pct"}
"""The metric of each task that a model is judged by first."""
INTERVAL_NOTE = (
    f"Errors: geometric means over programs, less than {FLOOR_PCT:g} % counting as so much; correlations: arithmetic. "
    "In brackets a 90 % bootstrap interval over programs."
)
WORDS = {
    "calibrated-analytical": "one factor a kernel class changes no order within a kernel, so it equals analytical",
    "default": "the compiler's pick, which is the analytical model's argmin, so their APE is the same",
    "random": "expected value of tiles drawn at random",
}
"""What a reader must know of a baseline in the tile task."""
MEASURED_WORDS = {
    "roofline": "XLA's own count of FLOPs and bytes, with a peak rate, a bandwidth and a fixed time a kernel that were "
    "fitted to training programs",
    "simulator": "the simulator on the datapath that stands for the device, fitted to nothing",
}
"""What a reader must know of baselines that only measured labels have."""
RECORDED_DEFAULT = "the compiler's own pick, or the row nearest to it in time"
FLOOR = {
    "simulated": "Simulated labels have no noise: the noise floor is 0 by definition.",
    "measured": "Noise floor: the slowest pass as a prediction of the fastest, which is the label.",
    "recorded": "Noise floor: the mean of a row's other measurements as its prediction, where there are any.",
}


def accuracy_table(
    overall: pd.DataFrame, task: str, hardware: str, order: list[str], programs: str, origin: str
) -> Table:
    """Metrics by model on one hardware variant, with intervals and the spread over seeds.

    `programs` says what the programs are; `origin`: where the labels come from.
    """
    rows = overall[(overall["task"] == task) & (overall["hardware"] == hardware)]
    metrics = list(dict.fromkeys(rows["metric"]))
    models = [model for model in order if model in set(rows["model"])]
    cells = [[model, *_metric_cells(rows[rows["model"] == model], metrics, MAIN[task])] for model in models]
    count = int(rows["programs"].max()) if len(rows) else 0
    words = WORDS | ({} if origin == "simulated" else {"default": RECORDED_DEFAULT})
    known = [f"{name}: {words[name]}" for name in models if name in words and task == "tile"]
    known += [f"{name}: {MEASURED_WORDS[name]}" for name in models if name in MEASURED_WORDS]
    return Table(
        f"{task} task on {hardware}",
        ["model", *(metric_name(metric) for metric in metrics), f"{metric_name(MAIN[task])}: single seeds"],
        cells,
        f"{count} {programs}. {INTERVAL_NOTE} {FLOOR.get(origin, '')} " + "".join(f"{text}. " for text in known)
        + f"Labels: {origin}.",
        {position for position, model in enumerate(models) if model not in BASELINES},
    )  # fmt: skip


def _metric_cells(rows: pd.DataFrame, metrics: list[str], main: str) -> list[str]:
    mine = rows.set_index("metric")
    cells = [interval(*mine.loc[m, ["value", "low", "high"]]) if m in mine.index else "-" for m in metrics]
    if main not in mine.index or pd.isna(mine.at[main, "seed_low"]):
        return [*cells, "-"]
    low, high = number(mine.at[main, "seed_low"]), number(mine.at[main, "seed_high"])
    return [*cells, f"{low} to {high} ({mine.at[main, 'seeds']})"]


def program_table(programs: pd.DataFrame, task: str, hardware: str, order: list[str]) -> Table:
    """The main metric of every test program by model: mean over seeds, and the least and greatest of several."""
    metric = MAIN[task]
    chosen = (programs["task"] == task) & (programs["hardware"] == hardware) & (programs["metric"] == metric)
    rows = programs[chosen]
    models = [model for model in order if model in set(rows["model"])]
    cells = []
    for (workload, family), group in rows.groupby(["workload", "family"], sort=True):
        by_model = group.groupby("model")["value"].agg(["mean", "min", "max", "size"])
        values = [_seeds_cell(*by_model.loc[model]) if model in by_model.index else "-" for model in models]
        cells.append([str(workload), str(family), str(int(group["kernels"].max())), *values])
    return Table(
        f"{metric_name(metric)} by test program, {hardware}",
        ["program", "family", "kernels", *(with_unit(model, metric) for model in models)],
        cells,
        "Mean over seeds; in brackets the least and the greatest of several seeds.",
    )


def _seeds_cell(mean: float, least: float, greatest: float, seeds: float) -> str:
    return interval(mean, least, greatest) if seeds > 1 else number(mean)


def validation_table(validation: pd.DataFrame, order: list[str]) -> Table:
    """All tasks and variants on one table: what models may be chosen by."""
    rows = []
    for (task, hardware), group in validation.groupby(["task", "hardware"], sort=False):
        by_model = dict(list(group.groupby("model", sort=False)))
        for model in [name for name in order if name in by_model]:
            mine = by_model[model].set_index("metric")
            cells = [
                interval(*mine.loc[metric, ["value", "low", "high"]]) if metric in mine.index else "-"
                for metric in (MAIN[str(task)], "kendall_tau", "top1_regret_pct")
            ]
            rows.append([str(task), str(hardware), model, *cells, str(int(by_model[model]["programs"].max()))])
    return Table(
        "Validation programs: choose models by these",
        ["task", "hardware", "model", "APE (tile) or MAPE (fusion), %", "Kendall's tau", "top-1 regret, %", "programs"],
        rows,
        f"{INTERVAL_NOTE} Training stopped by these programs, so errors are a little low. Their kernels that test "
        "programs have too are left out: nothing that is chosen here has seen a runtime of a test kernel.",
        folded=True,
    )


def class_table(classes: pd.DataFrame, task: str, hardware: str, order: list[str]) -> Table:
    """The main metric by kernel class and model on one hardware variant."""
    metric = MAIN[task]
    chosen = (classes["task"] == task) & (classes["hardware"] == hardware) & (classes["metric"] == metric)
    rows = classes[chosen]
    models = [model for model in order if model in set(rows["model"])]
    cells = []
    for name, group in rows.groupby("kernel_class", sort=True):
        by_model = group.set_index("model")
        values = [
            interval(*by_model.loc[model, ["value", "low", "high"]]) if model in by_model.index else "-"
            for model in models
        ]
        cells.append([str(name), str(int(group["kernels"].max())), str(int(group["programs"].max())), *values])
    return Table(
        f"{metric_name(metric)} by kernel class, {hardware}",
        ["kernel class", "kernels", "programs", *(with_unit(model, metric) for model in models)],
        cells,
        f"{INTERVAL_NOTE} Over the kernels of the class alone, in programs that have some.",
    )


def slowdown_table(predictions: pd.DataFrame, hardware: str, order: list[str]) -> Table:
    """How much slower picked tiles are than the best, over the kernels of all test programs."""
    rows = predictions[(predictions["task"] == "tile") & (predictions["hardware"] == hardware)]
    cells = []
    for model in [name for name in order if name in set(rows["model"])]:
        slower = slowdown_pct(rows[rows["model"] == model])
        cells.append(
            [
                model, str(len(slower)), number(float(slower.mean())), number(float(np.quantile(slower, 0.5))),
                number(float(np.quantile(slower, 0.95))), number(float(slower.max())),
                number(100 * float((slower == 0).mean())),
            ]
        )  # fmt: skip
    return Table(
        f"Slowdown of picked tiles, {hardware}",
        [
            "model",
            "kernels",
            "mean, %",
            "median, %",
            "95th percentile, %",
            "worst, %",
            "best tile picked, % of kernels",
        ],
        cells,
        "Each kernel counts alike, however short. Of a model with several seeds: the lowest. Random: expected times.",
    )


def slowdown_pct(predictions: pd.DataFrame) -> np.ndarray:
    """float64[k]: how much slower the picked tile is than the best one, %."""
    best_s, picked_s = predictions["runtime_s"].to_numpy(), predictions["predicted_s"].to_numpy()
    return 100 * (picked_s / best_s - 1)


def worst_table(worst: pd.DataFrame, task: str, hardware: str, model: str) -> Table:
    """The kernels with the largest error, with what the analytical model says of them."""
    chosen = (worst["task"] == task) & (worst["hardware"] == hardware) & (worst["model"] == model)
    tile = task == "tile"
    cells = [
        [
            f"{row.workload} · {row.root}", row.kernel_class, row.description, str(row.executions),
            number(row.share_pct), _us(row.runtime_s), _us(row.predicted_s), number(row.error_pct),
            *([row.best_tile] if tile else []), row.shown_tile, _us(row.analytical_s), _us(row.analytical_compute_s),
            _us(row.analytical_transfer_s), _us(row.analytical_exposed_s), number(row.analytical_steps),
        ]
        for row in worst[chosen].itertuples(index=False)
    ]  # fmt: skip
    times = ["best, us", "picked, us", "slower by, %"] if tile else ["actual, us", "predicted, us", "error, %"]
    tiles = ["best tile", "picked tile"] if tile else ["tile"]
    return Table(
        f"The {len(cells)} worst kernels of {model}, {hardware}",
        ["kernel", "class", "what it is", "runs", "of the program's time, %", *times, *tiles,
         "analytical, us", "compute, us", "transfer, us", "exposed, us", "steps"],
        cells,
        "Runs: under the default fusion; 0 for kernels of other fusions only, which have no share. "
        + ("Analytical parts: of the picked tile. " if tile else "Kernels of 5 us and more. ")
        + "Tiles: along the loops that are named.",
        folded=True,
    )  # fmt: skip


def cross_hardware_table(overall: pd.DataFrame, models: list[dict], task: str, metric: str) -> Table | None:
    """Rows: what a model was trained on; columns: where it is scored. None where every model is scored only where it
    was trained, or only on sampled variants (see :func:`group_table`)."""
    entries = [model for model in models if model["task"] == task]
    sampled = {variant for model in entries for variant in model["hardware_groups"]}
    scored = [v for v in dict.fromkeys(v for model in entries for v in model["scored_on"]) if v not in sampled]
    if all(set(model["scored_on"]) - sampled <= set(model["hardware"]) for model in entries):
        return None
    rows = overall[(overall["task"] == task) & (overall["metric"] == metric)].set_index(["model", "hardware"])
    cells = []
    for model in entries:
        values = []
        for variant in scored:
            key = (model["id"], variant)
            text = interval(*rows.loc[key, ["value", "low", "high"]]) if key in rows.index else "-"
            values.append(text)
        cells.append([", ".join(model["hardware"]), model["id"], *values])
    for baseline in [name for name in BASELINES if (name, scored[0]) in rows.index]:
        cells.append(["(none)", baseline, *(number(rows.at[(baseline, variant), "value"]) for variant in scored)])
    return Table(
        f"{task} task across hardware: {metric_name(metric)}",
        ["trained on", "model", *(with_unit(f"scored on {variant}", metric) for variant in scored)],
        cells,
        f"The same test programs in every column. {INTERVAL_NOTE}",
        set(range(len(entries))),
    )


def group_table(groups: pd.DataFrame, task: str, order: list[str]) -> Table:
    """The main metric and the rank correlation by group of sampled hardware variants."""
    rows = groups[groups["task"] == task]
    names = [name for name in ("train", "inside", "outside") if name in set(rows["group"])]
    variants = {name: int(rows.loc[rows["group"] == name, "variants"].max()) for name in names}
    metrics = (MAIN[task], "kendall_tau")
    by_key = rows.set_index(["group", "metric", "model"])
    cells = [
        [
            model,
            *(
                interval(*by_key.loc[key, ["value", "low", "high"]])
                if (key := (name, metric, model)) in by_key.index else "-"
                for metric in metrics for name in names
            ),
        ]
        for model in order
        if model in set(rows["model"])
    ]  # fmt: skip
    words = {"train": "trained on", "inside": "unseen, inside the ranges", "outside": "unseen, outside"}
    return Table(
        f"{task} task on sampled hardware variants",
        ["model", *(f"{metric_name(m)}: {words[n]} ({variants[n]})" for m in metrics for n in names)],
        cells,
        f"A program's value is its mean over the variants of the group; in parentheses how many. {INTERVAL_NOTE}",
    )


def _us(seconds: float) -> str:
    return number(seconds * 1e6)
