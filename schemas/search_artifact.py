"""What a search hands on: all trials, the best design as YAML, and the best design against the baseline."""

import math
from typing import Any, ClassVar

from schemas.artifact import Artifact
from schemas.artifact_files import Column, FileSpec, ModelSpec, TableSpec, TextSpec
from schemas.base import StrictModel
from schemas.search_space import DEFAULT_SPACE

STATES = ("ok", "area", "tdp", "infeasible")
"""Of a trial: simulated; over the area limit; over the power limit; can't be built or can't run a workload."""


class DesignSummary(StrictModel):
    """A design with what it takes and does, whole chip."""

    name: str
    """The baseline's id, or `trial 17`."""
    hardware: dict[str, Any]
    """Resolved datapath."""
    area_mm2: dict[str, dict[str, float]]
    """By power and area model and component."""
    power_w: dict[str, dict[str, float]]
    """Power-virus watts by power and area model and component."""
    queries_per_s: dict[str, float]
    """By workload."""
    utilisation: dict[str, float]
    """By workload: FLOPs over what the peak rate would do in the same time."""
    perf_per_tdp_gain: dict[str, float]
    """Over the baseline, by power model; geometric mean over the workloads."""


class SearchDesigns(StrictModel):
    """The two designs that a search compares."""

    space_size: int
    """Points of the space that was searched."""
    power_area_model: str
    """The model that limits and objective use."""
    baseline: DesignSummary
    """The reference."""
    best: DesignSummary | None
    """None if no trial met the limits and ran every workload."""


def _parameter_column(name: str) -> Column:
    return Column("string") if isinstance(DEFAULT_SPACE[name][0], str) else Column("int64", minimum=0)


class SearchArtifact(Artifact):
    """One island of a search."""

    files: ClassVar[dict[str, FileSpec]] = {
        "trials.parquet": TableSpec(
            {
                "trial": Column("int32", minimum=0),
                "state": Column("string"),
                "reason": Column("string"),
                **{name: _parameter_column(name) for name in DEFAULT_SPACE},
                "area_mm2": Column("float64", minimum=0, unit="mm2"),
                "tdp_w": Column("float64", minimum=0, unit="W"),
                "area_ratio": Column("float64", minimum=0),
                "tdp_ratio": Column("float64", minimum=0),
                "queries_per_s": Column("float64", minimum=0, nullable=True),
                "perf_per_tdp_gain": Column("float64", minimum=0, nullable=True),
                "perf_per_tdp_gain_public": Column("float64", minimum=0, nullable=True),
                "best_so_far": Column("float64", minimum=0, nullable=True),
                "pareto": Column("bool"),
            }
        ),
        "kernels.parquet": TableSpec(
            {
                "workload": Column("string"),
                "kernel": Column("int32", minimum=0),
                "root": Column("string"),
                "kernel_class": Column("string"),
                "executions": Column("int32", minimum=0),
                "baseline_s": Column("float64", minimum=0, unit="s"),
                "best_s": Column("float64", minimum=0, nullable=True, unit="s"),
            }
        ),
        "best.yaml": TextSpec(),
        "designs.json": ModelSpec(SearchDesigns),
    }

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """States are known, trials are numbered 0, 1, ..., exactly the ok ones have a gain."""
        trials = contents["trials.parquet"]
        unknown = sorted(set(trials["state"]) - set(STATES))
        if unknown:
            return "trials.parquet: state", f"{unknown[0]!r} is not one of {', '.join(STATES)}"
        if trials["trial"].tolist() != list(range(len(trials))):
            return "trials.parquet: trial", "trials are not numbered 0, 1, 2, ..."
        for row in trials.itertuples():
            if math.isnan(row.perf_per_tdp_gain) == (row.state == "ok"):
                return "trials.parquet: perf_per_tdp_gain", f"trial {row.trial} is {row.state}"
        return None
