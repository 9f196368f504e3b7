"""Labelled kernels of several shards as flat arrays: what training and inference read."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.dataset.shards import Shard
from lib.gnn.feature_set import feature_set
from lib.gnn.node_table import node_table
from lib.gnn.row_files import RowFiles
from lib.gnn.static_features import hardware_features, hardware_limits, kernel_features, node_features
from lib.gnn.tile_features import Geometry, geometry
from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels, concatenate
from lib.schedule.schedules import schedules_for_tiles
from lib.schedule.vector_tiles import vector_columns
from schemas.model_artifact import FeatureSet

TOTAL = "analytical_s"
PREFIX = "analytical_"
ROWS_READ_AT_ONCE = 1_000
"""Between two times that memory is given back: the system maps up to 64 KiB around each row that it reads."""


class NoShards(ValueError):
    """There is nothing to learn from."""


class Examples(NamedTuple):
    """k kernels with N nodes and e edges, r rows; a kernel that occurs in two shards is there twice."""

    features: FeatureSet
    geometry: Geometry
    node: np.ndarray
    """float32[N, node features], unscaled."""
    kernel: np.ndarray
    """float32[k, kernel and hardware features], unscaled."""
    edge_offset: np.ndarray
    """int64[k + 1]"""
    edge: np.ndarray
    """int32[e, 2] (source, target) within the kernel."""
    row_offset: np.ndarray
    """int64[k + 1] cuts the rows into kernels."""
    tile: np.ndarray
    """int32[r, 8]"""
    analytical: np.ndarray
    """float64[r, analytical parts] in their own units, the total first."""
    runtime_s: np.ndarray
    """float64[r] the label; NaN where there is none."""
    shard: np.ndarray
    """int32[k] which shard each kernel comes from."""
    executions: np.ndarray
    """int64[k] runs in the program's default fusion."""
    origin: tuple[tuple[str, str], ...] = ()
    """(workload, hardware variant) of each shard."""
    files: RowFiles | None = None
    """Where `tile`, `analytical` and `runtime_s` lie on disk, if they do."""

    @property
    def row_kernel(self) -> np.ndarray:
        """int64[r]"""
        return np.repeat(np.arange(len(self.kernel)), np.diff(self.row_offset))

    def kernel_of(self, rows: np.ndarray) -> np.ndarray:
        """int64[n] kernel of each of some rows (int[n]); needs no memory for the other rows."""
        return np.searchsorted(self.row_offset, rows, side="right") - 1

    def read(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`tile` and `analytical` of many rows (int[n], ascending), with little memory for what lies between them."""
        tile, analytical = [self.tile[:0]], [self.analytical[:0]]
        for first in range(0, len(rows), ROWS_READ_AT_ONCE):
            some = rows[first : first + ROWS_READ_AT_ONCE]
            tile.append(self.tile[some])
            analytical.append(self.analytical[some])
            self.forget()
        return np.concatenate(tile), np.concatenate(analytical)

    def forget(self) -> None:
        """Give back the memory of rows read from disk so far."""
        if self.files is not None:
            self.files.forget()


def analytical_names(columns: Sequence[str]) -> tuple[str, ...]:
    """The analytical columns among `columns`, the total first, the rest by name; none where there is no estimate."""
    if TOTAL not in columns:
        return ()
    parts = sorted(name for name in columns if name.startswith(PREFIX) and name != TOTAL)
    return (TOTAL, *parts)


def examples_of_shards(shards: Iterable[Shard], folder: Path | None = None) -> Examples:
    """All kernels and rows of `shards` (rows sorted by kernel, as shards have them), in order.

    With a `folder`, rows are written there and read from there as they are used, and of `shards` only one at a
    time is held: memory is needed for the kernels and the largest shard. The examples are the same either way.
    Raises NoShards where there are none, and ValueError where they know different analytical parts.
    """
    files = RowFiles(folder) if folder is not None else None
    parts: tuple[str, ...] = ()
    kernels: list[Kernels] = []
    datapaths: list[Datapath] = []
    origin: list[tuple[str, str]] = []
    rows_of: list[np.ndarray] = []
    executions: list[np.ndarray] = []
    columns: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for shard in shards:
        table = _with_vector_columns(shard)
        names = analytical_names(list(table.columns))
        if kernels and names != parts:
            raise ValueError(f"the shards have different analytical parts: {sorted({names, parts})}")
        parts = names
        kernels.append(shard.kernels)
        datapaths.append(shard.datapath)
        origin.append((shard.workload, shard.hardware))
        rows_of.append(np.bincount(shard.rows["kernel"].to_numpy(), minlength=shard.kernels.number))
        executions.append(shard.table["default_executions"].to_numpy(np.int64))
        rows = shard.tiles, table[list(parts)].to_numpy(np.float64), table["runtime_s"].to_numpy(np.float64)
        if files is None:
            columns.append(rows)
        else:
            files.append(*rows)
    if not kernels:
        raise NoShards("no shards: there is nothing to learn from")
    tile, analytical, runtime_s = (
        files.arrays(len(parts)) if files else (np.concatenate(column) for column in zip(*columns, strict=True))
    )
    return _examples(
        kernels=concatenate(kernels),
        datapaths=datapaths,
        shard=np.repeat(np.arange(len(kernels), dtype=np.int32), [one.number for one in kernels]),
        rows_per_kernel=np.concatenate(rows_of),
        tile=tile,
        parts=parts,
        analytical=analytical,
        runtime_s=runtime_s,
        executions=np.concatenate(executions),
    )._replace(origin=tuple(origin), files=files)


def _with_vector_columns(shard: Shard) -> pd.DataFrame:
    """The rows of a shard; of tiles that a CPU was measured with, also what becomes of each there."""
    if shard.task != "tile" or shard.origin != "measured" or TOTAL not in shard.rows:
        return shard.rows
    schedules = schedules_for_tiles(shard.rows["kernel"].to_numpy(), shard.tiles)
    return shard.rows.assign(**vector_columns(shard.kernels, schedules, shard.rows["is_default"].to_numpy()))


def examples_of_rows(
    kernels: Kernels,
    row_kernel: np.ndarray,
    tile: np.ndarray,
    datapath: Datapath,
    parts: tuple[str, ...],
    analytical: np.ndarray,
) -> Examples:
    """Unlabelled rows on one hardware variant. `row_kernel` (int[r]) must be sorted.

    `tile`: int32[r, 8]; `analytical`: float64[r, len(parts)] with `parts` as in :func:`analytical_names`.
    """
    rows_per_kernel = np.bincount(row_kernel, minlength=kernels.number)
    return _examples(
        kernels, [datapath], np.zeros(kernels.number, np.int32), rows_per_kernel, tile, parts, analytical,
        np.full(len(row_kernel), np.nan), np.ones(kernels.number, np.int64),
    )  # fmt: skip


def _examples(kernels, datapaths, shard, rows_per_kernel, tile, parts, analytical, runtime_s, executions) -> Examples:
    limits = np.stack([hardware_limits(datapath) for datapath in datapaths])[shard]
    hardware = np.stack([hardware_features(datapath) for datapath in datapaths])[shard]
    nodes = node_table(kernels)
    return Examples(
        features=feature_set(parts),
        geometry=geometry(kernels, nodes, limits),
        node=node_features(kernels, nodes, limits),
        kernel=np.concatenate([kernel_features(kernels), hardware], axis=1),
        edge_offset=kernels.edge_offset,
        edge=kernels.edge,
        row_offset=np.concatenate([[0], np.cumsum(rows_per_kernel)]).astype(np.int64),
        tile=np.ascontiguousarray(tile, np.int32),  # no copy of rows that lie on disk
        analytical=analytical,
        runtime_s=runtime_s,
        shard=shard,
        executions=executions,
    )
