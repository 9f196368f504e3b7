"""Shards of recorded measurements: kernels by file, runtimes as recorded, estimates computed."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lib.cost.analytical import Analytical
from lib.cost.cost_model import Reason
from lib.dataset.labels import rows_of
from lib.dataset.tasks import NothingToLabel, ShardContents, configuration_table, kernel_table
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.program.kernels import take, unique
from lib.schedule.schedules import schedules_for_tiles
from lib.targets.recorded import RecordedTiles, read_recorded_files

LOG = logging.getLogger("tilewright")


def make_recorded_shard(paths: Sequence[Path], spec: Mapping[str, Any]) -> ShardContents:
    """The shard of a resolved entry `spec` of a dataset with a source. Raises ValueError naming dataset and program."""
    try:
        return recorded_shard(paths, datapath_from_spec(spec["hardware"]["datapath"]))
    except NothingToLabel as error:
        raise ValueError(f"dataset '{spec['dataset']}', recorded program '{spec['workload']}': {error}") from error


def recorded_shard(paths: Sequence[Path], datapath: Datapath) -> ShardContents:
    """The tile task of TpuGraphs files: all rows of each kernel as they are in its file, repeated ones included.

    The default row is the one whose runtime is the nearest to the compiler's own pick, whose time in the same run the
    file tells. Files that can't be represented, kernels that an earlier file has too and rows that the analytical model
    has no estimate for are left out and counted in the log. Every kernel counts as run once.

    Raises NothingToLabel where nothing is left.
    """
    recorded = read_recorded_files(paths)
    for message in recorded.refused:
        LOG.warning("left out: %s", message)
    kernels, place = unique(recorded.kernels)
    first = np.unique(place, return_index=True)[1]
    repeated = recorded.kernels.number - kernels.number
    rows = np.isin(recorded.schedules.kernel, first)
    analytical = Analytical()
    known = analytical.cost(recorded.kernels, recorded.schedules, datapath).reason == Reason.OK
    LOG.info(
        "%d kernels; %d files refused, %d kernels repeated, %d rows without an estimate",
        kernels.number, len(recorded.refused), repeated, int((rows & ~known).sum()),
    )  # fmt: skip
    kept = np.flatnonzero(rows & known)
    with_rows = np.unique(recorded.schedules.kernel[kept])
    if not len(with_rows):
        raise NothingToLabel(f"none of the {len(paths)} files has a row that can be used; see the log")
    kernels = take(recorded.kernels, with_rows)
    number = np.searchsorted(with_rows, recorded.schedules.kernel[kept]).astype(np.int32)
    schedules = schedules_for_tiles(number, recorded.schedules.tile[kept])
    executions = np.ones(len(with_rows), dtype=np.int32)
    return ShardContents(
        kernels=kernels,
        table=kernel_table(kernels, [recorded.names[index] for index in with_rows], executions),
        rows=rows_of(
            schedules,
            _default_rows(recorded, kept, number),
            recorded.runtime_s[kept],
            analytical.cost(kernels, schedules, datapath, parts=True),
            analytical.part_names,
        ),
        configurations=configuration_table([(np.arange(len(with_rows)), executions)]),
    )


def _default_rows(recorded: RecordedTiles, rows: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """bool[len(rows)]: of each kernel the row nearest in time to the compiler's own pick, the first of several."""
    apart_s = np.abs(recorded.runtime_s[rows] - recorded.default_runtime_s[rows])
    order = np.lexsort((np.arange(len(rows)), apart_s, kernel))
    first = order[np.flatnonzero(np.diff(kernel[order], prepend=-1))]
    return np.isin(np.arange(len(rows)), first)


def repeat_spread_pct(rows: pd.DataFrame) -> float:
    """How far repeated measurements lie from their mean, in per cent of it: the mean over all rows of `rows` whose
    kernel and tile occur more than once; NaN where none does. Labels of a simulator repeat exactly: 0."""
    key = ["kernel", *(name for name in rows if name.startswith("tile_"))]
    groups = rows.groupby(key)["runtime_s"]
    mean, count = groups.transform("mean"), groups.transform("size")
    apart = ((rows["runtime_s"] - mean).abs() / mean)[count > 1]
    return float(100.0 * apart.mean()) if len(apart) else float("nan")
