"""Where the simulator and the analytical model differ, kernel by kernel."""

from typing import Any, ClassVar

import pandas as pd

from schemas.artifact import Artifact
from schemas.artifact_files import Column, FileSpec, TableSpec
from schemas.dataset_artifact import TILE_COLUMNS

EXTENT_COLUMNS = tuple(name.replace("tile_", "extent_") for name in TILE_COLUMNS)
"""Extents of the canonical loops."""
MODELS = ("simulator", "analytical")
PARTS = (
    "compute_s",
    "control_s",
    "exposed_s",
    "launch_s",
    "total_s",
    "matrix_s",
    "vector_s",
    "mesh_s",
    "load_s",
    "store_s",
)
"""As in `lib.cost.time_parts.TimeParts`."""
ADDING_UP = PARTS[:4]
"""Parts that add up to the total; those after the total overlap."""

KERNEL_KEY = ["workload", "kernel"]
_KERNEL = {
    "workload": Column("string"),
    "kernel": Column("int32", minimum=0),
    "kernel_class": Column("string"),
    "root": Column("string"),
    "executions": Column("int32", minimum=1),
    **{name: Column("int32", minimum=1) for name in EXTENT_COLUMNS},
}
KERNEL_COLUMNS = {
    **_KERNEL,
    **{name: Column("int32", minimum=1) for name in TILE_COLUMNS},
    **{f"{model}_{part}": Column("float64", unit="s") for model in MODELS for part in PARTS},
}
CHOICES = ("picked", "best")
"""The analytical model's cheapest tile, and the simulator's fastest one."""
TILE_CHOICE_COLUMNS = {
    **_KERNEL,
    "tiles": Column("int32", minimum=2),
    **{f"{choice}_{name}": Column("int32", minimum=1) for choice in CHOICES for name in TILE_COLUMNS},
    **{
        f"{choice}_{model}_{part}": Column("float64", unit="s")
        for choice in CHOICES
        for model in MODELS
        for part in (*ADDING_UP, "total_s")
    },
}


class DifferenceArtifact(Artifact):
    """Both models' times and parts on the kernels of a dataset's programs on one hardware variant.

    `kernels.parquet`: every kernel of each program's default fusion under its default tile. `tiles.parquet`: every such
    kernel with a choice of tiles: the tile that the analytical model picks and the one that the simulator finds best
    among the `tiles` rows of the dataset; without rows where the dataset has no tile task.
    """

    version: ClassVar[int] = 1
    files: ClassVar[dict[str, FileSpec]] = {
        "kernels.parquet": TableSpec(KERNEL_COLUMNS),
        "tiles.parquet": TableSpec(TILE_CHOICE_COLUMNS),
    }

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """Kernels are distinct, parts add up, no best tile is slower than the picked one."""
        for name, table in contents.items():
            repeated = table.duplicated(KERNEL_KEY)
            if repeated.any():
                return name, f"row {int(repeated.to_numpy().argmax())} repeats its workload and kernel"
        kernels, tiles = contents["kernels.parquet"], contents["tiles.parquet"]
        for model in MODELS:
            problem = _sum_problem(kernels, model)
            if problem:
                return f"kernels.parquet {model}_total_s", problem
        slower = tiles["best_simulator_total_s"] > tiles["picked_simulator_total_s"]
        if slower.any():
            return (
                "tiles.parquet best_simulator_total_s",
                f"row {int(slower.to_numpy().argmax())} is above the picked one",
            )
        return None


def _sum_problem(kernels: pd.DataFrame, model: str) -> str | None:
    total = kernels[f"{model}_total_s"]
    parts = kernels[[f"{model}_{part}" for part in ADDING_UP]].sum(axis=1)
    wrong = (total <= 0) | ((parts - total).abs() > 1e-9 * total)
    return f"row {int(wrong.to_numpy().argmax())} is not the sum of its parts" if wrong.any() else None
