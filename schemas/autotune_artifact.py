"""What an autotuner hands on for one program: results, progress, and the configuration that it chose."""

from typing import Any, ClassVar

import pandas as pd

from schemas.artifact import Artifact
from schemas.artifact_files import Column, FileSpec, ModelSpec, TableSpec, TextSpec
from schemas.autotune_configuration import ChosenConfiguration
from schemas.base import StrictModel
from schemas.dataset_artifact import TILE_COLUMNS

STAGES = ("tiles", "fusion")
"""What a row is about: the tiles of given kernels, or the fusion configuration (each kernel with its default tile).
Task `both` has rows of both: `tiles` then means tiles after fusion."""
STARTS = ("default", "random")
"""The configuration that a strategy starts from."""

RUN = {
    "stage": Column("string"),
    "strategy": Column("string"),
    "start": Column("string"),
    "seed": Column("int32", minimum=0),
    "compile_cost_s": Column("float64", minimum=0, unit="s"),
    "budget_s": Column("float64", minimum=0, nullable=True, unit="s"),
}
"""What tells one run of a strategy from another."""
RESULT_COLUMNS = {
    **RUN,
    "top": Column("int32", minimum=0),
    "runtime_s": Column("float64", minimum=0, unit="s"),
    "speedup": Column("float64", minimum=0),
    "regret_pct": Column("float64", minimum=0, unit="%"),
    "ranked_regret_pct": Column("float64", minimum=0, nullable=True, unit="%"),
    "configurations": Column("int64", minimum=0),
    "target_runs": Column("int64", minimum=0),
    "target_s": Column("float64", minimum=0, unit="s"),
    "failed": Column("int64", minimum=0),
    "timed_out": Column("int64", minimum=0),
    "moves": Column("int64", minimum=0),
}
TRACE_COLUMNS = {
    **RUN,
    "target_s": Column("float64", minimum=0, unit="s"),
    "runtime_s": Column("float64", minimum=0, unit="s"),
    "speedup": Column("float64", minimum=0),
}
CHOSEN_COLUMNS = {
    "kernel": Column("int32", minimum=0),
    "name": Column("string"),
    "root": Column("string"),
    "kernel_class": Column("string"),
    "fingerprint": Column("string"),
    "executions": Column("int32", minimum=1),
    "tiles": Column("int64", minimum=1),
    "in_default_fusion": Column("bool"),
    **{f"default_{name}": Column("int32", minimum=1) for name in TILE_COLUMNS},
    **{f"chosen_{name}": Column("int32", minimum=1) for name in TILE_COLUMNS},
    "default_s": Column("float64", minimum=0, unit="s"),
    "chosen_s": Column("float64", minimum=0, unit="s"),
}
INSTRUCTION_COLUMNS = {
    "instruction": Column("int32", minimum=0),
    "name": Column("string"),
    "opcode": Column("string"),
    "kernel": Column("string"),
    "default_kernel": Column("string"),
}
SKIPPED_COLUMNS = {
    "root": Column("string"),
    "kernel_class": Column("string"),
    "fingerprint": Column("string"),
    **{name: Column("int32", minimum=1) for name in TILE_COLUMNS},
    "reason": Column("string"),
}
KEYS = {
    "results.parquet": [*RUN, "top"],
    "chosen.parquet": ["kernel"],
    "instructions.parquet": ["instruction"],
}
"""What tells the rows of each table apart."""


class Remeasured(StrictModel):
    """Default and chosen configuration, measured anew on the device after the tuning, in both orders. Kernels that the
    two share have the seconds of the tuning in both."""

    default_s: list[float]
    """Runtime of the program under the default configuration: measured first, and measured last (seconds)."""
    chosen_s: list[float]
    """Under the chosen one: measured last, and measured first (seconds)."""
    kernels: int
    """Configurations that were measured anew: kernels with tiles that only one of the two has."""

    @property
    def speedups(self) -> list[float]:
        """Of each order."""
        return [default / chosen for default, chosen in zip(self.default_s, self.chosen_s, strict=True)]


class AutotuneSummary(StrictModel):
    """The program, what was found, and what a person must know of it."""

    workload: str
    """Id of the program."""
    hardware: str
    """The target's hardware variant."""
    default_s: float
    """Runtime of the program under the default configuration, by the target (seconds)."""
    best_known_s: float
    """Least runtime that any strategy found, the exhaustive one included (seconds)."""
    kernels: int
    """Distinct kernels of the default fusion."""
    one_tile_kernels: int
    """Those of them that have a single tile, so nothing to choose."""
    sampled_kernels: int
    """Those of them whose tile space is larger than `tiles_per_kernel`: a sample of it was ranked."""
    headline: str
    """The strategy whose configuration is handed on."""
    chosen_runtime_s: float
    """Runtime of that configuration, by the target (seconds)."""
    chosen_target_s: float
    """Target seconds that finding it took."""
    best_known_by: str
    """The strategy that found `best_known_s` first."""
    remeasured: Remeasured | None = None
    """The true speedup on a device; null of a simulated target, which repeats exactly."""
    notes: list[str]
    """In words: hardware unlike a model's training, configurations skipped and the like."""


class AutotuneArtifact(Artifact):
    """The autotuners of one entry on one program.

    `results.parquet`: where each run of a strategy ended. Its `top` is the number of tiles a kernel that were run
    (0: not limited that way), `budget_s` the target seconds that it was given (null: not limited). `regret_pct`: above
    the least runtime that any strategy of the stage found; `ranked_regret_pct`: the same of the ranked tiles alone,
    without falling back on the default tile (null where that means nothing). `configurations`: kernels with tiles
    compiled for the target, once by fingerprint and tile; `target_runs` their runs, `target_s` the seconds of both:
    `compile_cost_s` each and the repeats. The default configuration has been run before and costs nothing. `failed`
    and `timed_out` count configurations that were skipped: they cost target seconds and are never chosen. `moves`: of
    annealing, on the model.

    `trace.parquet`: best program runtime so far against target seconds, a row wherever it improves, the first at the
    start and the last at the end of each run; the kernels of a random start have been run before too.

    `chosen.parquet`: kernels of the chosen configuration; `default_s` is of the kernel under its default tile, both
    seconds of one execution. `instructions.parquet`: the kernel of each instruction before and after, by name (empty:
    computed by no kernel). `configuration.json`: every kernel at every place with its instructions and its tile, for
    compilers. `listing.txt`: the program as HLO with its kernels named; `difference.txt`: against the default.
    `skipped.parquet`: configurations that the target could not run.
    """

    version: ClassVar[int] = 2
    files: ClassVar[dict[str, FileSpec]] = {
        "results.parquet": TableSpec(RESULT_COLUMNS),
        "trace.parquet": TableSpec(TRACE_COLUMNS),
        "chosen.parquet": TableSpec(CHOSEN_COLUMNS),
        "instructions.parquet": TableSpec(INSTRUCTION_COLUMNS),
        "skipped.parquet": TableSpec(SKIPPED_COLUMNS),
        "summary.json": ModelSpec(AutotuneSummary),
        "configuration.json": ModelSpec(ChosenConfiguration),
        "listing.txt": TextSpec(),
        "difference.txt": TextSpec(),
    }

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """Rows are distinct, stages and starts are known, no trace ever gets slower."""
        for name, key in KEYS.items():
            repeated = contents[name].duplicated(key)
            if repeated.any():
                return name, f"row {int(repeated.to_numpy().argmax())} repeats its {', '.join(key)}"
        for name in ("results.parquet", "trace.parquet"):
            for column, known in (("stage", STAGES), ("start", STARTS)):
                unknown = sorted(set(contents[name][column]) - set(known))
                if unknown:
                    return f"{name}: {column}", f"{unknown[0]!r} is not one of {', '.join(known)}"
        return _trace_problem(contents["trace.parquet"])


def _trace_problem(trace: pd.DataFrame) -> tuple[str, str] | None:
    for key, rows in trace.groupby(list(RUN), dropna=False, sort=False):
        for column, falls in (("target_s", True), ("runtime_s", False)):
            step = rows[column].diff().dropna()
            if (step < 0 if falls else step > 0).any():
                way = "falls" if falls else "rises"
                return f"trace.parquet: {column}", f"{way} within the run {', '.join(map(str, key))}"
    return None
