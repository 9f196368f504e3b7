"""Where the simulator and the analytical model differ: both on the same kernels and tiles, part by part."""

from itertools import pairwise

import numpy as np
import pandas as pd

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.cost.time_parts import TimeParts, analytical_parts, simulator_parts
from lib.dataset.shards import Shard
from lib.schedule.schedules import schedules_for_tiles
from schemas.dataset_artifact import TILE_COLUMNS
from schemas.difference_artifact import ADDING_UP, EXTENT_COLUMNS, KERNEL_COLUMNS, TILE_CHOICE_COLUMNS


def difference_tables(shards: list[Shard]) -> dict[str, pd.DataFrame]:
    """The tables of `schemas.difference_artifact.DifferenceArtifact` by file name, from the shards of one hardware
    variant, of either task.

    Kernels come from the shards of the fusion task, which have all of the default fusion; where a program has none,
    from its shard of the tile task, which has those with a choice of tiles.
    """
    fusion = {shard.workload: shard for shard in shards if shard.task == "fusion"}
    tile = {shard.workload: shard for shard in shards if shard.task == "tile"}
    return {
        "kernels.parquet": _stacked([kernel_differences(s) for s in (tile | fusion).values()], KERNEL_COLUMNS),
        "tiles.parquet": _stacked([tile_differences(s) for s in tile.values()], TILE_CHOICE_COLUMNS),
    }


def kernel_differences(shard: Shard) -> pd.DataFrame:
    """One row a kernel of the default fusion, under its default tile."""
    row = np.flatnonzero(shard.rows["is_default"].to_numpy())
    simulated, estimated = _both(shard, row)
    columns = _tile_columns(shard, row)
    for name in TimeParts._fields:
        columns[f"simulator_{name}"] = getattr(simulated, name)
        columns[f"analytical_{name}"] = getattr(estimated, name)
    return _of_default_fusion(shard, columns)


def tile_differences(shard: Shard) -> pd.DataFrame:
    """One row a kernel of the default fusion: the analytical model's pick and the simulator's best of its tiles."""
    offset = shard.row_offset
    every_row = np.arange(len(shard.rows))
    simulated, estimated = _both(shard, every_row)
    columns = {"tiles": np.diff(offset).astype(np.int32)}
    for choice, by_s in (("picked", estimated.total_s), ("best", simulated.total_s)):
        row = np.array([start + by_s[start:end].argmin() for start, end in pairwise(offset)])
        columns |= {f"{choice}_{name}": value for name, value in _tile_columns(shard, row).items()}
        for name in (*ADDING_UP, "total_s"):
            columns[f"{choice}_simulator_{name}"] = getattr(simulated, name)[row]
            columns[f"{choice}_analytical_{name}"] = getattr(estimated, name)[row]
    return _of_default_fusion(shard, columns)


def _both(shard: Shard, row: np.ndarray) -> tuple[TimeParts, TimeParts]:
    """What the two models say of rows of the shard."""
    schedules = schedules_for_tiles(shard.rows["kernel"].to_numpy()[row].astype(np.int32), shard.tiles[row])
    simulated = Simulator().cost(shard.kernels, schedules, shard.datapath, parts=True)
    estimated = Analytical().cost(shard.kernels, schedules, shard.datapath, parts=True)
    return simulator_parts(simulated), analytical_parts(estimated, shard.datapath)


def _tile_columns(shard: Shard, row: np.ndarray) -> dict[str, np.ndarray]:
    return {name: shard.rows[name].to_numpy(np.int32)[row] for name in TILE_COLUMNS}


def _of_default_fusion(shard: Shard, columns: dict[str, np.ndarray]) -> pd.DataFrame:
    """`columns`: one entry a kernel of the shard. Kernels that only random fusions have are left out."""
    table = shard.table[["kernel", "kernel_class", "root"]].assign(
        workload=shard.workload, executions=shard.table["default_executions"]
    )
    for slot, name in enumerate(EXTENT_COLUMNS):
        table[name] = shard.kernels.loops[:, slot].astype(np.int32)
    table = pd.concat([table, pd.DataFrame(columns, index=table.index)], axis=1)
    return table[table["executions"] > 0]


def _stacked(frames: list[pd.DataFrame], columns: dict) -> pd.DataFrame:
    if not frames:
        types = {name: "object" if column.dtype == "string" else column.dtype for name, column in columns.items()}
        return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in types.items()})
    return pd.concat(frames, ignore_index=True)[list(columns)]
