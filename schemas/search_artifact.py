"""What a search hands on: all trials, the best design as YAML, and the best design against the baseline."""

from typing import Any, ClassVar

import pandas as pd

from schemas.artifact import Artifact
from schemas.artifact_files import Column, FileSpec, ModelSpec, TableSpec, TextSpec
from schemas.base import StrictModel
from schemas.search_space import DEFAULT_SPACE

STATES = ("ok", "area", "tdp", "latency", "infeasible", "bound")
"""Of a trial: run to its end within the limits; over the limit on area, power or latency; can't be built or can't run a
workload; stopped early, as it can't beat the best before it."""


class UnmetLimit(StrictModel):
    """A limit that no trial met."""

    limit: str
    """Its name in the study; `kernels`: every kernel has to run; `together`: each is met by some trial, all by none."""
    allowed: float
    """The limit."""
    nearest: float
    """What the nearest design has instead; of `kernels` the share that fits nowhere; of `together` the sum of
    doublings by which limits are exceeded."""
    trial: int
    """Number of the nearest design's trial."""
    text: str
    """The same in words."""


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
    latency_s: dict[str, float]
    """By workload: of a batch on a core (s)."""
    joules: dict[str, float]
    """By workload: energy of a query (J)."""
    dram_bytes: dict[str, float]
    """By workload: what a query moves to and from DRAM."""
    utilisation: dict[str, float]
    """By workload: FLOPs over what the peak rate would do in the same time."""
    perf_per_tdp_gain: dict[str, float]
    """Over the baseline, by power model; geometric mean over the workloads."""
    value: float = 1.0
    """Gain in the search's objective over the baseline, whose own is 1."""
    value_as_trial: float | None = None
    """The same of one of the paper's designs as a trial prices it, comparable to `best_so_far`; None where a trial
    refuses it."""


class SearchDesigns(StrictModel):
    """The two designs that a search compares."""

    space_size: int
    """Points of the space that was searched."""
    power_area_model: str
    """The model that limits and objective use."""
    baseline: DesignSummary
    """The reference: one of the next two."""
    compiled: DesignSummary
    """The baseline's chip as its compiler runs it."""
    scheduled: DesignSummary
    """The same with the schedules and the residency that designs get."""
    references: list[DesignSummary]
    """The paper's designs, FAST-Large and FAST-Small, as far as they can run the workloads."""
    best: DesignSummary | None
    """None if no trial met the limits and ran every workload."""
    unmet: list[UnmetLimit] = []
    """Without a best design, the limits that no trial met."""


def _parameter_column(name: str) -> Column:
    return Column("string") if isinstance(DEFAULT_SPACE[name][0], str) else Column("int64", minimum=0)


TRIALS = {
    "trial": Column("int32", minimum=0),
    "state": Column("string"),
    "reason": Column("string"),
    **{name: _parameter_column(name) for name in DEFAULT_SPACE},
    "area_mm2": Column("float64", minimum=0, unit="mm2"),
    "tdp_w": Column("float64", minimum=0, unit="W"),
    "area_ratio": Column("float64", minimum=0),
    "tdp_ratio": Column("float64", minimum=0),
    "queries_per_s": Column("float64", minimum=0, nullable=True),
    "latency_s": Column("float64", minimum=0, nullable=True, unit="s"),
    "joules": Column("float64", minimum=0, nullable=True, unit="J"),
    "perf_per_tdp_gain": Column("float64", minimum=0, nullable=True),
    "perf_per_tdp_gain_public": Column("float64", minimum=0, nullable=True),
    "value": Column("float64", minimum=0, nullable=True),
    "best_so_far": Column("float64", minimum=0, nullable=True),
    "pareto": Column("bool"),
}
"""A row a trial. `value`: gain in the objective over the baseline, of state `bound` what it can be at most."""

KERNELS = TableSpec(
    {
        "workload": Column("string"),
        "kernel": Column("int32", minimum=0),
        "root": Column("string"),
        "kernel_class": Column("string"),
        "executions": Column("int32", minimum=0),
        "baseline_s": Column("float64", minimum=0, unit="s"),
        "best_s": Column("float64", minimum=0, nullable=True, unit="s"),
        "baseline_dram_bytes": Column("float64", minimum=0),
        "best_dram_bytes": Column("float64", minimum=0, nullable=True),
        "input_resident": Column("float64", minimum=0, nullable=True),
        "weight_resident": Column("float64", minimum=0, nullable=True),
        "output_resident": Column("float64", minimum=0, nullable=True),
    }
)

EXPLAINED = TableSpec(
    {
        "group": Column("string"),
        "reference": Column("string"),
        "design": Column("string"),
        **{
            f"{kind}_{part}": Column("float64")
            for kind in ("ladder", "share")
            for part in ("gain", "performance", "power")
        },
    }
)
"""What makes the best design better than FAST-Large: a row a group of parameters, log2 of ratios
(:func:`lib.search.explained.explained`); no rows without a design, or where FAST-Large can't run the workloads."""


OF_THE_DESIGN: dict[str, FileSpec] = {
    "kernels.parquet": KERNELS,
    "explained.parquet": EXPLAINED,
    "schedules.txt": TextSpec(),
    "best.yaml": TextSpec(),
    "designs.json": ModelSpec(SearchDesigns),
}
"""What an island and the whole search say of their best design."""


class SearchArtifact(Artifact):
    """One island of a search."""

    files: ClassVar[dict[str, FileSpec]] = {
        "trials.parquet": TableSpec(TRIALS),
        **OF_THE_DESIGN,
    }

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """States are known, trials are numbered 0, 1, ..., exactly the ok ones have a gain."""
        return _trials_problem(contents["trials.parquet"])


class SearchSummaryArtifact(Artifact):
    """All islands of a search together; the best design is that of the best island."""

    files: ClassVar[dict[str, FileSpec]] = {
        "trials.parquet": TableSpec({"island": Column("int32", minimum=1), **TRIALS}),
        "progress.parquet": TableSpec(
            {
                "trial": Column("int32", minimum=0),
                "islands": Column("int32", minimum=0),
                "mean": Column("float64", minimum=0, nullable=True),
                "low": Column("float64", nullable=True),
                "high": Column("float64", minimum=0, nullable=True),
            }
        ),
        **OF_THE_DESIGN,
    }

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """Each island is one of a search, islands are numbered 1, 2, ..."""
        trials = contents["trials.parquet"]
        if sorted(set(trials["island"])) != list(range(1, trials["island"].max() + 1)):
            return "trials.parquet: island", "islands are not numbered 1, 2, ..."
        problems = [_trials_problem(rows) for _, rows in trials.groupby("island")]
        return next((problem for problem in problems if problem), None)


def _trials_problem(trials: pd.DataFrame) -> tuple[str, str] | None:
    unknown = sorted(set(trials["state"]) - set(STATES))
    if unknown:
        return "trials.parquet: state", f"{unknown[0]!r} is not one of {', '.join(STATES)}"
    if trials["trial"].tolist() != list(range(len(trials))):
        return "trials.parquet: trial", "trials are not numbered 0, 1, 2, ..."
    wrong = trials["perf_per_tdp_gain"].isna() == (trials["state"] == "ok")
    if wrong.any():
        first = trials[wrong].iloc[0]
        return "trials.parquet: perf_per_tdp_gain", f"trial {first['trial']} is {first['state']}"
    return None
