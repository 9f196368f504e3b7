"""The tables of an evaluation: every model and baseline on every test program, and over all of them."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.dataset.shards import Shard
from lib.evaluation.intervals import compare, mean_of, program_mean
from lib.evaluation.metrics import is_error
from lib.evaluation.outcomes import best_tiles_s
from lib.evaluation.roofline import Roofline
from lib.evaluation.scoring import Prediction, Scored, scored, scored_by_class
from lib.evaluation.worst_kernels import worst_kernels
from schemas.evaluation import BASELINES
from schemas.evaluation_artifact import OVERALL_COLUMNS, PREDICTION_COLUMNS, PROGRAM_COLUMNS

COMPARED = tuple(name for name in BASELINES if name != "noise-floor")
"""Baselines that a model can be better than."""


class Programs(NamedTuple):
    """Programs and what the learned models say about them."""

    shards: list[Shard]
    predictions: list[Prediction]


def evaluation_tables(
    shards: list[Shard],
    predictions: list[Prediction],
    families: Mapping[str, str],
    seed: int,
    *,
    trained_baselines: Collection[str] = (),
    validation: Programs | None = None,
    groups: Mapping[str, str] | None = None,
    rooflines: Mapping[str, Roofline] | None = None,
) -> dict[str, pd.DataFrame]:
    """The tables of `schemas.evaluation_artifact.EvaluationArtifact`, by file name.

    `shards`: the test programs; `families`: family of each workload; `seed`: of the bootstrap; `trained_baselines`:
    names of the rows that the other learned models are compared with; `validation`: the validation programs;
    `groups`: group of each sampled hardware variant. A model with several seeds is scored once a seed in `programs`, by
    the mean over its seeds elsewhere, and shown with its lowest seed in `predictions` and `worst`. Raises ValueError
    for a learned model with a baseline's name and for predictions that don't fit their shard.
    """
    clashes = sorted({p.model for p in predictions} & set(BASELINES))
    if clashes:
        raise ValueError(f"a learned model may not be called {clashes[0]!r}: that is the name of a baseline")
    scores = list(scored(shards, predictions, rooflines))
    learned = {p.model for p in predictions} - set(trained_baselines)
    programs = _programs(scores, families)
    held_back = _programs(list(scored(*validation, rooflines)), families) if validation else programs.iloc[:0]
    return {
        "programs.parquet": programs,
        "overall.parquet": overall_table(programs, seed),
        "comparisons.parquet": _comparisons(programs, learned, (*COMPARED, *sorted(set(trained_baselines))), seed),
        "predictions.parquet": _predictions(scores),
        "classes.parquet": _classes(shards, predictions, families, seed, groups or {}, rooflines),
        "groups.parquet": _groups(programs, groups or {}, seed),
        "validation.parquet": overall_table(held_back, seed),
        "worst.parquet": worst_kernels(scores, learned),
    }


def overall_table(programs: pd.DataFrame, seed: int, by: tuple[str, ...] = ("task", "hardware")) -> pd.DataFrame:
    """Means over programs for each of `by`, model and metric, with intervals.

    `programs`: one row a program, model, seed and metric, as in `programs.parquet`. `seed_low` and `seed_high` are the
    least and the greatest mean over programs of a single seed; NaN for a model with one.
    """
    keys = [*by, "model", "metric"]
    rows = []
    for key, group in programs.groupby(keys, sort=False):
        error = is_error(str(key[-1]))
        by_program = group.groupby("workload", sort=False)["value"].mean().dropna().to_numpy()
        of_seeds = [mean_of(of_seed["value"].dropna().to_numpy(), error) for _, of_seed in group.groupby("seed")]
        spread = (np.min(of_seeds), np.max(of_seeds)) if len(of_seeds) > 1 else (np.nan, np.nan)
        interval = program_mean(by_program, error, seed)
        rows.append((*key, *interval, *spread, len(of_seeds), len(by_program)))
    measures = ["value", "low", "high", "seed_low", "seed_high", "seeds", "programs"]
    table = pd.DataFrame(rows, columns=[*keys, *measures])
    return table.astype({name: OVERALL_COLUMNS[name].dtype for name in measures})


def _programs(scores: list[Scored], families: Mapping[str, str]) -> pd.DataFrame:
    rows = [
        (s.shard.task, s.shard.hardware, s.shard.workload, families[s.shard.workload], s.model, s.seed, name, *metric)
        for s in scores
        for name, metric in s.outcome.metrics.items()
    ]
    return pd.DataFrame(rows, columns=list(PROGRAM_COLUMNS)).astype(
        {name: column.dtype for name, column in PROGRAM_COLUMNS.items() if column.dtype != "string"}
    )


def _classes(
    shards: list[Shard],
    predictions: list[Prediction],
    families: Mapping[str, str],
    seed: int,
    groups: Mapping[str, str],
    rooflines: Mapping[str, Roofline] | None,
) -> pd.DataFrame:
    """As `overall`, but over the kernels of one class; a program without kernels of the class has no say. Not of
    sampled variants, of which there are too many to look at one by one."""
    by_class: dict[str, list[Scored]] = {}
    for name, one in scored_by_class(shards, predictions, left_out=groups, rooflines=rooflines):
        by_class.setdefault(name, []).append(one)
    parts = [
        _programs(scores, families).dropna(subset=["value"]).assign(kernel_class=name)
        for name, scores in sorted(by_class.items())
    ]
    programs = pd.concat(parts) if parts else _programs([], families).assign(kernel_class="")
    programs = programs[programs["metric"] != "program_error_pct"]
    table = overall_table(programs, seed, by=("task", "hardware", "kernel_class"))
    kernels = (
        programs.drop_duplicates(["task", "hardware", "kernel_class", "model", "metric", "workload"])
        .groupby(["task", "hardware", "kernel_class", "model", "metric"])["kernels"].sum()
    )  # fmt: skip
    return table.join(kernels, on=kernels.index.names).astype({"kernels": "int32"})


def _groups(programs: pd.DataFrame, groups: Mapping[str, str], seed: int) -> pd.DataFrame:
    """As `overall`, but over the hardware variants of a group: a program's value is its mean over them."""
    grouped = programs.assign(group=programs["hardware"].map(groups)).dropna(subset=["group"])
    variants = grouped.groupby("group")["hardware"].nunique()
    keys = ["task", "group", "model", "seed", "metric", "workload"]
    means = grouped.groupby(keys, sort=False).agg(value=("value", "mean"), kernels=("kernels", "sum")).reset_index()
    table = overall_table(means, seed, by=("task", "group"))
    return table.assign(variants=table["group"].map(variants)).astype({"variants": "int32"})


def _comparisons(programs: pd.DataFrame, learned: set[str], baselines: tuple[str, ...], seed: int) -> pd.DataFrame:
    """Each learned model against each baseline, over the programs where both have a value."""
    key = ["task", "hardware", "metric"]
    by_program = programs.groupby([*key, "model", "workload"], sort=False)["value"].mean().reset_index()
    rows = []
    for (task, hardware, metric), group in by_program.groupby(key, sort=False):
        table = group.pivot(index="workload", columns="model", values="value")
        error = is_error(str(metric))
        for model in [name for name in table if name in learned]:
            for baseline in [name for name in baselines if name in table]:
                pairs = table[[model, baseline]].dropna()
                result = compare(pairs[model].to_numpy(), pairs[baseline].to_numpy(), error, seed)
                kind = "ratio" if error else "difference"
                rows.append((task, hardware, metric, model, baseline, kind, *result, len(pairs)))
    columns = [*key, "model", "baseline", "kind", "difference", "low", "high", "better", "programs"]
    types = {"difference": "float64", "low": "float64", "high": "float64", "better": "bool", "programs": "int32"}
    return pd.DataFrame(rows, columns=columns).astype(types)


def _predictions(scores: list[Scored]) -> pd.DataFrame:
    frames, seen = [], set()
    for shard, model, _, outcome in scores:
        key = (shard.task, shard.hardware, shard.workload, model)
        if key in seen:
            continue
        seen.add(key)
        runtime_s = best_tiles_s(shard) if shard.task == "tile" else shard.rows["runtime_s"].to_numpy()
        frames.append(
            shard.table[["kernel", "kernel_class", "root"]].assign(
                task=shard.task, hardware=shard.hardware, workload=shard.workload, model=model,
                executions=shard.table["default_executions"], runtime_s=runtime_s, predicted_s=outcome.predicted_s,
            )
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)[list(PREDICTION_COLUMNS)]
