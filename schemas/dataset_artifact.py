"""One shard of a dataset: the labelled kernels of a workload on a hardware variant for one task."""

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from schemas.artifact import Artifact
from schemas.artifact_files import ArraysSpec, Column, FileSpec, TableSpec
from schemas.kernel_arrays import KERNEL_ARRAYS

TILE_COLUMNS = (
    "tile_batch", "tile_out_h", "tile_out_w", "tile_out_c", "tile_in_c", "tile_kernel_h", "tile_kernel_w", "tile_group",
)  # fmt: skip
"""Tile extents in the order of the canonical loops (`lib.program.kernels.LOOPS`)."""

ANALYTICAL_PARTS = (
    "compute_s", "transfer_s", "matrix_s", "vector_s", "exposed_s", "steps", "bytes_in", "bytes_weight", "bytes_out",
)  # fmt: skip
"""What the analytical model tells about a row besides its total (`lib.cost.analytical.PART_NAMES`)."""

KERNEL_COLUMNS = {
    "kernel": Column("int32", minimum=0),
    "kernel_class": Column("string"),
    "root": Column("string"),
    "default_executions": Column("int32", minimum=0),
}
ROW_COLUMNS = {
    "variant": Column("int32", minimum=0, optional=True),
    "kernel": Column("int32", minimum=0),
    **{name: Column("int32", minimum=1) for name in TILE_COLUMNS},
    "is_default": Column("bool"),
    "runtime_s": Column("float64", minimum=0, unit="s"),
    "analytical_s": Column("float64", minimum=0, unit="s", optional=True),
    **{f"analytical_{part}": Column("float64", minimum=0, optional=True) for part in ANALYTICAL_PARTS},
    "repeat_s": Column("float64", minimum=0, unit="s", optional=True),
    "xla_flops": Column("float64", minimum=0, optional=True),
    "xla_bytes": Column("float64", minimum=0, unit="B", optional=True),
}
CONFIGURATION_COLUMNS = {
    "configuration": Column("int32", minimum=0),
    "kernel": Column("int32", minimum=0),
    "executions": Column("int32", minimum=1),
}


class DatasetArtifact(Artifact):
    """Kernels, their labelled rows and the fusion configurations that they come from.

    `kernels.parquet`: `root` is the name of the root instruction where the kernel first occurs,
    `default_executions` how often one run of the program under the default fusion runs it (0: it occurs in
    other configurations only). `rows.parquet`: sorted by variant, if there are several, and kernel; `variant` is the
    place of a sampled hardware variant among the ids of the entry's, `runtime_s` the label. The analytical columns are
    missing where the variant has no datapath. Measured rows have `repeat_s`, the slowest of the passes of which the
    label is the fastest, and XLA's `xla_flops` and `xla_bytes`, its own cost analysis of the kernel.
    `configurations.parquet`: how often each kernel runs in each fusion configuration, 0 being the default.
    """

    version: ClassVar[int] = 2
    files: ClassVar[dict[str, FileSpec]] = {
        "kernels.npz": ArraysSpec(KERNEL_ARRAYS),
        "kernels.parquet": TableSpec(KERNEL_COLUMNS),
        "rows.parquet": TableSpec(ROW_COLUMNS),
        "configurations.parquet": TableSpec(CONFIGURATION_COLUMNS),
    }

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """Kernel indices resolve, offsets end where the arrays do, rows are in order, labels are positive."""
        arrays, table = contents["kernels.npz"], contents["kernels.parquet"]
        rows, configurations = contents["rows.parquet"], contents["configurations.parquet"]
        kernels = len(arrays["loops"])
        return (
            _offsets_problem(arrays)
            or _table_problem(table, kernels)
            or _rows_problem(rows, arrays["loops"])
            or _configurations_problem(configurations, table)
        )


OFFSET_ENDS = {"operand_offset": "operand_role", "op_offset": "op_kind", "edge_offset": "edge"}


def _offsets_problem(arrays: dict[str, np.ndarray]) -> tuple[str, str] | None:
    for offset, name in OFFSET_ENDS.items():
        if arrays[offset][-1] != len(arrays[name]):
            return f"kernels.npz {offset}", f"ends at {arrays[offset][-1]}, but {name} has {len(arrays[name])} entries"
    hero, op_offset = arrays["hero"], arrays["op_offset"]
    outside = (hero < op_offset[:-1]) | (hero >= op_offset[1:])
    if outside.any():
        return "kernels.npz hero", f"of kernel {int(outside.argmax())} is not one of its ops"
    if len(np.unique(arrays["fingerprint"])) != len(arrays["fingerprint"]):
        return "kernels.npz fingerprint", "the kernels of a shard must be distinct"
    return None


def _table_problem(table: pd.DataFrame, kernels: int) -> tuple[str, str] | None:
    if not np.array_equal(table["kernel"].to_numpy(), np.arange(kernels)):
        return "kernels.parquet kernel", f"must number the {kernels} kernels of kernels.npz in order"
    return None


def _rows_problem(rows: pd.DataFrame, loops: np.ndarray) -> tuple[str, str] | None:
    kernel = rows["kernel"].to_numpy()
    if len(kernel) and kernel.max() >= len(loops):
        return "rows.parquet kernel", f"{kernel.max()} is not one of the {len(loops)} kernels"
    several = "variant" in rows
    place = kernel + (rows["variant"].to_numpy().astype(np.int64) * len(loops) if several else 0)
    if (np.diff(place) < 0).any():
        return "rows.parquet kernel", f"row {int((np.diff(place) < 0).argmax()) + 1} is out of order"
    for name in [name for name in ("runtime_s", "analytical_s", "repeat_s") if name in rows]:
        zero = rows[name].to_numpy() <= 0
        if zero.any():
            return f"rows.parquet {name}", f"row {int(zero.argmax())} is 0, and nothing takes no time"
    estimates = {"analytical_s", *(f"analytical_{part}" for part in ANALYTICAL_PARTS)}
    if estimates & set(rows) not in (set(), estimates):
        return "rows.parquet columns", f"{sorted(estimates - set(rows))[0]} is missing beside other analytical columns"
    tiles = rows[list(TILE_COLUMNS)].to_numpy()
    larger = (tiles > loops[kernel]).any(axis=1)
    if larger.any():
        return "rows.parquet tile", f"row {int(larger.argmax())} is larger than its kernel's loops"
    defaults = np.bincount(place, weights=rows["is_default"].to_numpy(), minlength=len(loops))
    wrong = defaults != 1
    if several:  # a kernel may have no rows on some variants
        wrong &= np.bincount(place, minlength=len(loops)) > 0
    if wrong.any():
        which = int(wrong.argmax()) % len(loops)
        return "rows.parquet is_default", f"kernel {which} has {int(defaults[which])} default rows, expected one"
    return None


def _configurations_problem(configurations: pd.DataFrame, table: pd.DataFrame) -> tuple[str, str] | None:
    kernel = configurations["kernel"].to_numpy()
    if len(kernel) and kernel.max() >= len(table):
        return "configurations.parquet kernel", f"{kernel.max()} is not one of the {len(table)} kernels"
    if configurations.duplicated(["configuration", "kernel"]).any():
        return "configurations.parquet kernel", "occurs twice in one configuration"
    default = configurations[configurations["configuration"] == 0]
    executions = np.zeros(len(table), dtype=np.int64)
    executions[default["kernel"].to_numpy()] = default["executions"].to_numpy()
    if not np.array_equal(executions, table["default_executions"].to_numpy()):
        which = int((executions != table["default_executions"].to_numpy()).argmax())
        return "kernels.parquet default_executions", f"kernel {which} contradicts configuration 0"
    return None
