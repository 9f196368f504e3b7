"""The figures by which training is stopped: the evaluation's metrics, over validation programs only."""

import numpy as np

from lib.evaluation.metrics import SHORT_S, best_of_top, geometric_mean_pct, mape_pct, tile_ape_pct
from lib.gnn.examples import Examples


def validation_ape_pct(examples: Examples, score: np.ndarray) -> float:
    """Geometric mean over shards of tile-size APE. `score`: [r], lower means faster."""
    runtime_s, offset = examples.runtime_s, examples.row_offset
    picked_s = best_of_top(offset, runtime_s, np.asarray(score, np.float64), 1)
    best_s = np.minimum.reduceat(runtime_s, offset[:-1])
    shards = [examples.shard == shard for shard in np.unique(examples.shard)]
    return geometric_mean_pct([tile_ape_pct(picked_s[s], best_s[s], examples.executions[s]) for s in shards])


def validation_mape_pct(examples: Examples, predicted_s: np.ndarray) -> float:
    """Geometric mean over shards of MAPE of kernels of `SHORT_S` and more (of all kernels, if none is that long).

    `predicted_s`: float64[r].
    """
    runtime_s, shard = examples.runtime_s, examples.shard[examples.row_kernel]
    counts = runtime_s >= SHORT_S
    if not counts.any():
        counts[:] = True
    shards = [counts & (shard == number) for number in np.unique(shard[counts])]
    return geometric_mean_pct([mape_pct(runtime_s[s], predicted_s[s]) for s in shards])
