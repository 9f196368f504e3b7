"""How well models predict test programs, beside baselines."""

from typing import Any, ClassVar

import pandas as pd

from schemas.artifact import Artifact
from schemas.artifact_files import Column, FileSpec, TableSpec
from schemas.dataset_artifact import ANALYTICAL_PARTS

PROGRAM_COLUMNS = {
    "task": Column("string"),
    "hardware": Column("string"),
    "workload": Column("string"),
    "family": Column("string"),
    "model": Column("string"),
    "seed": Column("int32", minimum=0),
    "metric": Column("string"),
    "value": Column("float64", nullable=True),
    "kernels": Column("int32", minimum=0),
    "left_out": Column("int32", minimum=0),
}
MEANS = {
    "model": Column("string"),
    "metric": Column("string"),
    "value": Column("float64", nullable=True),
    "low": Column("float64", nullable=True),
    "high": Column("float64", nullable=True),
    "seed_low": Column("float64", nullable=True),
    "seed_high": Column("float64", nullable=True),
    "seeds": Column("int32", minimum=1),
    "programs": Column("int32", minimum=0),
}
"""A mean over programs."""
OVERALL_COLUMNS = {"task": Column("string"), "hardware": Column("string"), **MEANS}
CLASS_COLUMNS = {
    "task": Column("string"),
    "hardware": Column("string"),
    "kernel_class": Column("string"),
    **MEANS,
    "kernels": Column("int32", minimum=0),
}
GROUP_COLUMNS = {
    "task": Column("string"),
    "group": Column("string"),
    **MEANS,
    "variants": Column("int32", minimum=1),
}
COMPARISON_COLUMNS = {
    "task": Column("string"),
    "hardware": Column("string"),
    "metric": Column("string"),
    "model": Column("string"),
    "baseline": Column("string"),
    "kind": Column("string"),
    "difference": Column("float64", nullable=True),
    "low": Column("float64", nullable=True),
    "high": Column("float64", nullable=True),
    "better": Column("bool"),
    "programs": Column("int32", minimum=0),
}
PREDICTION_COLUMNS = {
    "task": Column("string"),
    "hardware": Column("string"),
    "workload": Column("string"),
    "model": Column("string"),
    "kernel": Column("int32", minimum=0),
    "kernel_class": Column("string"),
    "root": Column("string"),
    "executions": Column("int32", minimum=0),
    "runtime_s": Column("float64", minimum=0, unit="s"),
    "predicted_s": Column("float64", minimum=0, nullable=True, unit="s"),
}
WORST_COLUMNS = {
    **PREDICTION_COLUMNS,
    "share_pct": Column("float64", minimum=0, unit="%"),
    "error_pct": Column("float64", minimum=0, unit="%"),
    "description": Column("string"),
    "best_tile": Column("string"),
    "shown_tile": Column("string"),
    "analytical_s": Column("float64", minimum=0, nullable=True, unit="s"),
    **{f"analytical_{part}": Column("float64", minimum=0, nullable=True) for part in ANALYTICAL_PARTS},
}
KEYS = {
    "programs.parquet": ["task", "hardware", "workload", "model", "seed", "metric"],
    "overall.parquet": ["task", "hardware", "model", "metric"],
    "comparisons.parquet": ["task", "hardware", "metric", "model", "baseline"],
    "predictions.parquet": ["task", "hardware", "workload", "model", "kernel"],
    "classes.parquet": ["task", "hardware", "kernel_class", "model", "metric"],
    "groups.parquet": ["task", "group", "model", "metric"],
    "validation.parquet": ["task", "hardware", "model", "metric"],
    "worst.parquet": ["task", "hardware", "workload", "model", "kernel"],
}
"""What tells the rows of each table apart."""
KINDS = {"ratio", "difference"}


class EvaluationArtifact(Artifact):
    """Metrics by program, over programs, model against baseline, and the runtimes behind them.

    `model` is a row's name: a model's id, a trained baseline's name or one of `schemas.evaluation.BASELINES` (seed 0).
    `kernels` counts the kernels that a metric is made of, `left_out` those that should be and cannot. `low`, `high`:
    90 % bootstrap interval over programs, null with fewer than two. `seed_low`, `seed_high`: least and greatest mean of
    a single seed, null with one seed. `kind`: whether `difference` is the ratio of the means, model / baseline
    (errors), or their difference (rank correlations).

    `classes.parquet`: over the kernels of one class alone. `groups.parquet`: over the variants of a group of sampled
    hardware. `validation.parquet`: as `overall.parquet`, but of the validation programs, to choose models by.
    `predictions.parquet`: fusion task: actual and predicted runtime of each kernel; tile task: `runtime_s` is that
    of the best tile, `predicted_s` the true runtime of the tile that the model picks. `worst.parquet`: the kernels
    with the largest `error_pct`; `share_pct`: of the program's time under the default fusion; analytical parts and
    `shown_tile` are those of the picked tile (tile task) or of the kernel's tile (fusion task).
    """

    version: ClassVar[int] = 2
    files: ClassVar[dict[str, FileSpec]] = {
        "programs.parquet": TableSpec(PROGRAM_COLUMNS),
        "overall.parquet": TableSpec(OVERALL_COLUMNS),
        "comparisons.parquet": TableSpec(COMPARISON_COLUMNS),
        "predictions.parquet": TableSpec(PREDICTION_COLUMNS),
        "classes.parquet": TableSpec(CLASS_COLUMNS),
        "groups.parquet": TableSpec(GROUP_COLUMNS),
        "validation.parquet": TableSpec(OVERALL_COLUMNS),
        "worst.parquet": TableSpec(WORST_COLUMNS),
    }

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """Rows are distinct, intervals are in order, `overall` and `programs` tell of the same models."""
        for name, key in KEYS.items():
            repeated = contents[name].duplicated(key)
            if repeated.any():
                return name, f"row {int(repeated.to_numpy().argmax())} repeats its {', '.join(key)}"
        programs, overall = contents["programs.parquet"], contents["overall.parquet"]
        comparisons = contents["comparisons.parquet"]
        key = KEYS["overall.parquet"]
        if set(programs[key].itertuples(index=False)) != set(overall[key].itertuples(index=False)):
            return "overall.parquet", "its models and metrics are not those of programs.parquet"
        unknown = set(comparisons["kind"]) - KINDS
        if unknown:
            return "comparisons.parquet kind", f"{sorted(unknown)[0]!r} is not one of {sorted(KINDS)}"
        intervals = (
            "overall.parquet",
            "comparisons.parquet",
            "classes.parquet",
            "groups.parquet",
            "validation.parquet",
        )
        return next(filter(None, (_interval_problem(name, contents[name]) for name in intervals)), None)


def _interval_problem(name: str, table: pd.DataFrame) -> tuple[str, str] | None:
    reversed_rows = (table["low"] > table["high"]).to_numpy()
    if reversed_rows.any():
        return f"{name} low", f"row {int(reversed_rows.argmax())} is above high"
    return None
