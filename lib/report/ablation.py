"""The paper's ablation tables beside ours."""

from functools import cache

import pandas as pd

from lib.report.report_data import ReportData
from lib.report.tables import Table, doubtful, interval, number
from schemas.presets import FOLDER

PAPER = FOLDER / "learned_ablation.csv"
TITLES = {"inputs": "Features and loss", "network": "Graph network and reduction"}
METRICS = {"tile": "ape_pct", "fusion": "mape_pct"}


@cache
def paper_ablations() -> pd.DataFrame:
    """The rows of `schemas/presets/learned_ablation.csv`, which says what its columns mean."""
    return pd.read_csv(PAPER, comment="#", keep_default_na=False, na_values=[""])


def ablation_tables(data: ReportData) -> list[Table]:
    """One table a table of the paper, with the study's models called `<task>-<variant>`; none where it has no such."""
    ours = _our_means(data)
    tables = []
    for name, rows in paper_ablations().groupby("table", sort=False):
        found = [ours.get(f"{row.task}-{row.variant}") for row in rows.itertuples(index=False)]
        if not any(found):
            continue
        cells = [
            [
                row.task, row.variant, row.graph_network, row.reduction,
                number(row.mean_pct) if row.confidence == "seen" else doubtful(row.mean_pct), *(one or ("-", "-", "-")),
            ]
            for row, one in zip(rows.itertuples(index=False), found, strict=True)
        ]  # fmt: skip
        tables.append(
            Table(
                TITLES.get(str(name), str(name)),
                ["task", "variant", "graph network", "reduction", "paper, mean error, %", "ours, %", "hardware",
                 "programs / seeds"],
                cells,
                "Tile-size APE for tile, MAPE of kernels of 5 us or more for fusion, geometric mean over the test "
                "programs. The paper: real TPU-v2, held out by program; ours: simulated, held out as the evaluation's "
                "page says. (?): the paper's figure comes from memory and could not be checked.",
            )
        )  # fmt: skip
    return tables


def _our_means(data: ReportData) -> dict[str, tuple[str, str, str]]:
    """Mean with interval, hardware, and programs / seeds by model id, on the first hardware of its first evaluation."""
    found: dict[str, tuple[str, str, str]] = {}
    for artifact in data.evaluations.values():
        overall = artifact["overall.parquet"]
        for model in artifact.manifest.spec["models"]:
            chosen = (overall["model"] == model["id"]) & (overall["task"] == model["task"])
            rows = overall[chosen & (overall["metric"] == METRICS[model["task"]])]
            if len(rows):
                row = rows.iloc[0]
                seeds = len(model.get("seeds", [])) or 1
                mean = interval(row["value"], row["low"], row["high"])
                found.setdefault(model["id"], (mean, row["hardware"], f"{row['programs']} / {seeds}"))
    return found
