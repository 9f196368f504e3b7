"""The papers' claims beside what this study shows."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd

from lib.report.autotune_figures import learned_above_analytical_pct, model_against_target
from lib.report.report_data import ReportData
from lib.report.search_claims import Answer, search_answers
from lib.report.tables import Table, number
from schemas.artifact import Artifact
from schemas.reference import load_reference
from schemas.summary import Summary

PAPERS = {"kaufman-2021": "learned model", "fast-2022": "FAST", "fast-2021": "FAST, first version"}
"""Short names of the reference's sources."""


def claims_table(data: ReportData, summary: Summary) -> Table:
    """One row a claim: the paper's value, ours, and on what ours stands."""
    reference = load_reference()
    answers = _answers(data, summary)
    rows = []
    for claim in reference.claims:
        answer = answers[claim.id]() if claim.id in answers else None
        ours, basis = answer or (None, "this study has nothing that speaks to it")
        rows.append([f"{PAPERS[claim.source]}: {claim.claim}", number(claim.value), number(ours), claim.unit, basis])
    return Table(
        "Claims",
        ["claim", "paper", "ours", "unit", "what ours is"],
        rows,
        "Paper: " + "; ".join(reference.sources.values()) + ". Ours: simulated runtimes.",
    )


def _answers(data: ReportData, summary: Summary) -> dict[str, Callable[[], Answer]]:
    values = {figure.name: figure.value for figure in summary.figures if figure.value is not None}
    evaluation = next(iter(data.evaluations), None)

    def metric(task: str, hardware: str, name: str, model: str = "learned") -> float:
        return values.get(f"evaluation.{evaluation}.{task}.{hardware}.{name}.{model}", math.nan)

    def answer(value: float, basis: str) -> Answer:
        return None if math.isnan(value) else (value, basis)

    def tuned(figure: Callable[[Sequence[Artifact]], pd.Series], basis: str) -> Answer:
        of_entries = [figure(artifacts) for artifacts in data.autotunes.values()]
        values = next((values for values in of_entries if len(values)), None)
        return None if values is None else (float(values.mean()), f"{basis} ({len(values)} programs)")

    basis = "test programs, simulated "
    tiles, fusions = "tile task, ", "fusion task, "
    calibrated = metric("fusion", "tpu-v2", "mape_pct", "calibrated-analytical")
    uncalibrated = metric("fusion", "tpu-v2", "mape_pct", "analytical")
    return {
        "tile-accuracy": lambda: answer(100 - metric("tile", "tpu-v2", "ape_pct"), f"100 - APE, {tiles}{basis}TPU-v2"),
        "fusion-accuracy": lambda: answer(
            100 - metric("fusion", "tpu-v2", "mape_pct"), f"100 - MAPE, {fusions}{basis}TPU-v2"
        ),
        "tile-better-than-analytical": lambda: answer(
            metric("tile", "tpu-v2", "ape_pct", "analytical") - metric("tile", "tpu-v2", "ape_pct"),
            f"difference of APE, {tiles}{basis}TPU-v2",
        ),
        "fusion-better-than-analytical": lambda: answer(
            calibrated - metric("fusion", "tpu-v2", "mape_pct"),
            f"difference of MAPE against the calibrated analytical model ({number(uncalibrated)} % uncalibrated), "
            f"{fusions}{basis}TPU-v2",
        ),
        "tile-ape-v3": lambda: answer(metric("tile", "tpu-v3", "ape_pct"), f"APE, {tiles}{basis}TPU-v3"),
        "tile-tau-v3": lambda: answer(metric("tile", "tpu-v3", "kendall_tau"), f"{tiles}{basis}TPU-v3"),
        "fusion-mape-v3": lambda: answer(metric("fusion", "tpu-v3", "mape_pct"), f"MAPE, {fusions}{basis}TPU-v3"),
        "faster-autotuning": lambda: tuned(model_against_target, "% faster by the model, fusion, 60 against 600 s"),
        "autotune-tiles": lambda: tuned(
            learned_above_analytical_pct, "runtime by the learned top tiles above the analytical's, mean over programs"
        ),
        "autotune-fusion": lambda: tuned(model_against_target, "60 against 600 target seconds, mean over programs"),
        "autotune-fusion-random": lambda: tuned(
            partial(model_against_target, start="random"), "60 against 600 target seconds, mean over programs"
        ),
        **search_answers(data),
    }
