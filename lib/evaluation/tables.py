"""The tables of an evaluation: every model and baseline on every test program, and over all of them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.dataset.shards import Shard
from lib.evaluation.baselines import fusion_baselines, tile_baselines
from lib.evaluation.intervals import compare, program_mean
from lib.evaluation.metrics import is_error
from lib.evaluation.outcomes import Outcome, best_tiles_s, checked_predictions, ranking_outcome, runtime_outcome
from schemas.evaluation import BASELINES

KEY = ["task", "hardware", "workload"]
"""Columns that tell programs apart."""
GROUP = ["task", "hardware", "metric"]
"""Columns within which models are compared."""


class Prediction(NamedTuple):
    """What a learned model says about one shard."""

    shard: int
    """Position of the shard."""
    model: str
    seed: int
    values: np.ndarray
    """float64[r], one a row of the shard: seconds, or for the tile task any score, lower is faster."""


class _Scored(NamedTuple):
    shard: Shard
    model: str
    seed: int
    outcome: Outcome


def evaluation_tables(
    shards: list[Shard], predictions: list[Prediction], families: Mapping[str, str], seed: int
) -> dict[str, pd.DataFrame]:
    """The four tables of `schemas.evaluation_artifact.EvaluationArtifact`, by file name.

    `shards`: the test programs; `families`: family of each workload; `seed`: of the bootstrap. A model
    with several seeds is scored once a seed in `programs`, by the mean over its seeds in `overall` and
    `comparisons`, and shown with its lowest seed in `predictions`. Raises ValueError for a learned model with a
    baseline's name and for predictions that don't fit their shard.
    """
    clashes = sorted({p.model for p in predictions} & set(BASELINES))
    if clashes:
        raise ValueError(f"a learned model may not be called {clashes[0]!r}: that is the name of a baseline")
    scored = list(_scored(shards, predictions))
    learned = {p.model for p in predictions}
    programs = _programs(scored, families)
    by_program = _seeds_averaged(programs)
    return {
        "programs.parquet": programs,
        "overall.parquet": _overall(by_program, seed),
        "comparisons.parquet": _comparisons(by_program, learned, seed),
        "predictions.parquet": _predictions(scored),
    }


def _scored(shards: list[Shard], predictions: list[Prediction]) -> Iterator[_Scored]:
    for shard in shards:
        baselines = tile_baselines(shard) if shard.task == "tile" else fusion_baselines(shard)
        for name, outcome in baselines.items():
            yield _Scored(shard, name, 0, outcome)
    for prediction in sorted(predictions, key=lambda p: (p.model, p.seed, p.shard)):
        shard = shards[prediction.shard]
        values = checked_predictions(prediction.values, len(shard.rows))
        outcome = ranking_outcome(shard, values) if shard.task == "tile" else runtime_outcome(shard, values)
        yield _Scored(shard, prediction.model, prediction.seed, outcome)


def _programs(scored: list[_Scored], families: Mapping[str, str]) -> pd.DataFrame:
    rows = [
        (s.shard.task, s.shard.hardware, s.shard.workload, families[s.shard.workload], s.model, s.seed, name, *metric)
        for s in scored
        for name, metric in s.outcome.metrics.items()
    ]
    columns = [*KEY, "family", "model", "seed", "metric", "value", "kernels", "left_out"]
    return pd.DataFrame(rows, columns=columns).astype({"seed": "int32", "kernels": "int32", "left_out": "int32"})


def _seeds_averaged(programs: pd.DataFrame) -> pd.DataFrame:
    """One value a program, model and metric; NaN where no seed has one."""
    return programs.groupby([*GROUP, "model", "workload"], sort=False)["value"].mean().reset_index()


def _overall(by_program: pd.DataFrame, seed: int) -> pd.DataFrame:
    rows = []
    for key, group in by_program.groupby([*GROUP, "model"], sort=False):
        task, hardware, metric, model = key
        values = group["value"].dropna().to_numpy()
        rows.append((task, hardware, model, metric, *program_mean(values, is_error(str(metric)), seed), len(values)))
    columns = ["task", "hardware", "model", "metric", "value", "low", "high", "programs"]
    return pd.DataFrame(rows, columns=columns).astype({"programs": "int32"})


def _comparisons(by_program: pd.DataFrame, learned: set[str], seed: int) -> pd.DataFrame:
    """Each learned model against each baseline, over the programs where both have a value."""
    rows = []
    for (task, hardware, metric), group in by_program.groupby(GROUP, sort=False):
        table = group.pivot(index="workload", columns="model", values="value")
        error = is_error(str(metric))
        for model in [name for name in table if name in learned]:
            for baseline in [name for name in BASELINES if name in table]:
                pairs = table[[model, baseline]].dropna()
                result = compare(pairs[model].to_numpy(), pairs[baseline].to_numpy(), error, seed)
                kind = "ratio" if error else "difference"
                rows.append((task, hardware, metric, model, baseline, kind, *result, len(pairs)))
    columns = [*GROUP, "model", "baseline", "kind", "difference", "low", "high", "better", "programs"]
    types = {"difference": "float64", "low": "float64", "high": "float64", "better": "bool", "programs": "int32"}
    return pd.DataFrame(rows, columns=columns).astype(types)


def _predictions(scored: list[_Scored]) -> pd.DataFrame:
    frames, seen = [], set()
    for shard, model, _, outcome in scored:
        key = (shard.task, shard.hardware, shard.workload, model)
        if key in seen:
            continue
        seen.add(key)
        runtime_s = best_tiles_s(shard) if shard.task == "tile" else shard.rows["runtime_s"].to_numpy()
        frames.append(
            shard.table[["kernel", "kernel_class", "root"]].assign(
                task=shard.task, hardware=shard.hardware, workload=shard.workload, model=model,
                runtime_s=runtime_s, predicted_s=outcome.predicted_s,
            )
        )  # fmt: skip
    columns = [*KEY, "model", "kernel", "kernel_class", "root", "runtime_s", "predicted_s"]
    return pd.concat(frames, ignore_index=True)[columns]
