"""The kernels that a model gets most wrong, with what is known about them."""

from itertools import pairwise

import numpy as np
import pandas as pd

from lib.dataset.shards import Shard
from lib.evaluation.metrics import SHORT_S
from lib.evaluation.outcomes import best_tiles_s
from lib.evaluation.scoring import Scored
from lib.program.kernels import LOOPS, Kernels
from lib.program.op_kinds import op_kind_table
from schemas.dataset_artifact import ANALYTICAL_PARTS, TILE_COLUMNS
from schemas.evaluation_artifact import WORST_COLUMNS

MOST = 20
"""Kernels for each model and hardware variant."""
MOST_OPS = 8
"""Kinds of op that a description names."""


def worst_kernels(scores: list[Scored], learned: set[str]) -> pd.DataFrame:
    """The `MOST` kernels of all test programs with the largest error, for each learned model (lowest seed), task and
    hardware variant, the worst first; columns of `worst.parquet`.

    Tile: how much slower the picked tile is than the best; fusion: absolute error of the runtime of kernels of
    `SHORT_S` and longer, as shorter ones are not in MAPE.
    """
    frames: dict[tuple[str, str, str], list[pd.DataFrame]] = {}
    seen = set()
    for one in scores:
        program = (one.shard.task, one.shard.hardware, one.shard.workload, one.model)
        if one.model in learned and program not in seen:
            seen.add(program)
            frames.setdefault((one.shard.task, one.shard.hardware, one.model), []).append(_candidates(one))
    worst = [
        pd.concat(parts).nlargest(MOST, "error_pct").assign(task=task, hardware=hardware, model=model)
        for (task, hardware, model), parts in frames.items()
    ]
    if not worst:
        types = {name: "object" if c.dtype == "string" else c.dtype for name, c in WORST_COLUMNS.items()}
        return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in types.items()})
    return pd.concat(worst, ignore_index=True)[list(WORST_COLUMNS)]


def _candidates(one: Scored) -> pd.DataFrame:
    """The MOST worst kernels of one program."""
    shard, predicted_s = one.shard, one.outcome.predicted_s
    tile = shard.task == "tile"
    runtime_s = best_tiles_s(shard) if tile else shard.rows["runtime_s"].to_numpy()
    error_pct = 100 * np.abs(predicted_s - runtime_s) / runtime_s
    counts = np.ones(len(runtime_s), bool) if tile else runtime_s >= SHORT_S
    kernels = np.flatnonzero(counts)
    kernels = kernels[np.argsort(-error_pct[kernels], kind="stable")[:MOST]]
    executions = shard.table["default_executions"].to_numpy()
    spent_s = executions * runtime_s
    best, shown = _rows(shard, predicted_s)
    columns = {
        "workload": shard.workload,
        "executions": executions[kernels],
        "share_pct": 100 * spent_s[kernels] / max(spent_s.sum(), np.finfo(float).tiny),
        "runtime_s": runtime_s[kernels],
        "predicted_s": predicted_s[kernels],
        "error_pct": error_pct[kernels],
        "description": [kernel_description(shard.kernels, int(kernel)) for kernel in kernels],
        "best_tile": [_tile(shard, row) for row in best[kernels]],
        "shown_tile": [_tile(shard, row) for row in shown[kernels]],
    }
    table = shard.table.iloc[kernels][["kernel", "kernel_class", "root"]].assign(**columns)
    for name in ("analytical_s", *(f"analytical_{part}" for part in ANALYTICAL_PARTS)):
        table[name] = shard.rows[name].to_numpy()[shown[kernels]] if shard.has_estimate else np.nan
    return table


def _rows(shard: Shard, predicted_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int64[k] each: the row of each kernel's best tile, and the one that the table shows: the picked tile in the tile
    task, the kernel's only row in the fusion task."""
    offset, runtime_s = shard.row_offset, shard.rows["runtime_s"].to_numpy()
    best = np.array([start + runtime_s[start:end].argmin() for start, end in pairwise(offset)])
    if shard.task == "fusion":
        return best, best
    picked = [
        start + np.abs(runtime_s[start:end] - predicted_s[kernel]).argmin()
        for kernel, (start, end) in enumerate(pairwise(offset))
    ]
    return best, np.array(picked)


def _tile(shard: Shard, row: int) -> str:
    """The tile along the loops longer than one, which the description names."""
    tile = shard.rows[list(TILE_COLUMNS)].iloc[row]
    loops = shard.kernels.loops[int(shard.rows["kernel"].iloc[row])]
    return " x ".join(str(size) for size, extent in zip(tile, loops, strict=True) if extent > 1) or "1"


def kernel_description(kernels: Kernels, kernel: int) -> str:
    """What a kernel is, in one line: its loops longer than one, and its ops by kind, the most frequent first."""
    long = [(name, extent) for name, extent in zip(LOOPS, kernels.loops[kernel], strict=True) if extent > 1]
    names, extents = zip(*long, strict=True) if long else (("scalar",), (1,))
    ops = kernels.op_kind[kernels.op_offset[kernel] : kernels.op_offset[kernel + 1]]
    kinds, counts = np.unique(ops, return_counts=True)
    kind_names = [name for name, _ in op_kind_table()]
    order = np.argsort(-counts, kind="stable")
    words = [f"{counts[i]} {kind_names[kinds[i]]}" if counts[i] > 1 else kind_names[kinds[i]] for i in order[:MOST_OPS]]
    more = f" and {len(order) - MOST_OPS} other kinds" if len(order) > MOST_OPS else ""
    return f"{' x '.join(map(str, extents))} ({', '.join(names)}); {', '.join(words)}{more}"
