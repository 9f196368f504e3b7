"""Labelled kernels of several shards as flat arrays: what training and inference read."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lib.dataset.shards import Shard
from lib.gnn.feature_set import feature_set
from lib.gnn.node_table import node_table
from lib.gnn.static_features import hardware_features, hardware_limits, kernel_features, node_features
from lib.gnn.tile_features import Geometry, geometry
from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels, concatenate
from schemas.model_artifact import FeatureSet

TOTAL = "analytical_s"
PREFIX = "analytical_"


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

    @property
    def row_kernel(self) -> np.ndarray:
        """int64[r]"""
        return np.repeat(np.arange(len(self.kernel)), np.diff(self.row_offset))


def analytical_names(columns: Sequence[str]) -> tuple[str, ...]:
    """The analytical columns among `columns`, the total first, the rest by name."""
    parts = sorted(name for name in columns if name.startswith(PREFIX) and name != TOTAL)
    return (TOTAL, *parts)


def examples_of_shards(shards: Sequence[Shard]) -> Examples:
    """All kernels and rows of `shards` (rows sorted by kernel, as shards have them), in order.

    Raises ValueError where there are none or they know different analytical parts.
    """
    if not shards:
        raise ValueError("no shards: there is nothing to learn from")
    names = {analytical_names(list(shard.rows.columns)) for shard in shards}
    if len(names) > 1:
        raise ValueError(f"the shards have different analytical parts: {sorted(names)}")
    (parts,) = names
    counts = [shard.kernels.number for shard in shards]
    rows_of = [np.bincount(shard.rows["kernel"].to_numpy(), minlength=shard.kernels.number) for shard in shards]
    return _examples(
        kernels=concatenate([shard.kernels for shard in shards]),
        datapaths=[shard.datapath for shard in shards],
        shard=np.repeat(np.arange(len(shards), dtype=np.int32), counts),
        rows_per_kernel=np.concatenate(rows_of),
        tile=np.concatenate([shard.tiles for shard in shards]),
        parts=parts,
        analytical=np.concatenate([shard.rows[list(parts)].to_numpy(np.float64) for shard in shards]),
        runtime_s=np.concatenate([shard.rows["runtime_s"].to_numpy(np.float64) for shard in shards]),
        executions=np.concatenate([shard.table["default_executions"].to_numpy(np.int64) for shard in shards]),
    )


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
        tile=np.ascontiguousarray(tile, np.int32),
        analytical=analytical,
        runtime_s=runtime_s,
        shard=shard,
        executions=executions,
    )
