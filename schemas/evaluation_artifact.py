"""How well models predict test programs, beside baselines."""

from typing import Any, ClassVar

import pandas as pd

from schemas.artifact import Artifact
from schemas.artifact_files import Column, FileSpec, TableSpec

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
OVERALL_COLUMNS = {
    "task": Column("string"),
    "hardware": Column("string"),
    "model": Column("string"),
    "metric": Column("string"),
    "value": Column("float64", nullable=True),
    "low": Column("float64", nullable=True),
    "high": Column("float64", nullable=True),
    "programs": Column("int32", minimum=0),
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
    "runtime_s": Column("float64", minimum=0, unit="s"),
    "predicted_s": Column("float64", minimum=0, nullable=True, unit="s"),
}
KEYS = {
    "programs.parquet": ["task", "hardware", "workload", "model", "seed", "metric"],
    "overall.parquet": ["task", "hardware", "model", "metric"],
    "comparisons.parquet": ["task", "hardware", "metric", "model", "baseline"],
    "predictions.parquet": ["task", "hardware", "workload", "model", "kernel"],
}
"""What tells the rows of each table apart."""
KINDS = {"ratio", "difference"}


class EvaluationArtifact(Artifact):
    """Metrics by program, over programs, model against baseline, and the runtimes behind them.

    `model` is a model's id or a baseline (`analytical`, `calibrated-analytical`, `log-calibrated-analytical`,
    `default`, `random`; seed 0). `kernels` counts the kernels that a metric is made of, `left_out` those that
    should be and cannot. `low`, `high`: 90 % bootstrap interval over programs, null with fewer than two.
    `kind`: whether `difference` is the ratio of the means, model / baseline (errors), or their difference
    (rank correlations). `predictions.parquet`: fusion task: actual and predicted runtime of each kernel; tile
    task: `runtime_s` is that of the best tile, `predicted_s` the true runtime of the tile that the model picks.
    """

    version: ClassVar[int] = 1
    files: ClassVar[dict[str, FileSpec]] = {
        "programs.parquet": TableSpec(PROGRAM_COLUMNS),
        "overall.parquet": TableSpec(OVERALL_COLUMNS),
        "comparisons.parquet": TableSpec(COMPARISON_COLUMNS),
        "predictions.parquet": TableSpec(PREDICTION_COLUMNS),
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
        return _interval_problem("overall.parquet", overall) or _interval_problem("comparisons.parquet", comparisons)


def _interval_problem(name: str, table: pd.DataFrame) -> tuple[str, str] | None:
    reversed_rows = (table["low"] > table["high"]).to_numpy()
    if reversed_rows.any():
        return f"{name} low", f"row {int(reversed_rows.argmax())} is above high"
    return None
