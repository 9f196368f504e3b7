"""Scores: what every model and baseline comes to on every program."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from lib.dataset.shards import Shard, with_kernels
from lib.evaluation.baselines import fusion_baselines, tile_baselines
from lib.evaluation.outcomes import Outcome, checked_predictions, ranking_outcome, runtime_outcome
from lib.evaluation.roofline import Roofline


class Prediction(NamedTuple):
    """What a learned model says about one shard."""

    shard: int
    """Position of the shard."""
    model: str
    """Name of its row in the tables."""
    seed: int
    values: np.ndarray
    """float64[r], one a row of the shard: seconds, or for the tile task any score, lower is faster."""


class Scored(NamedTuple):
    """One model on one shard, or on some kernels of it."""

    shard: Shard
    model: str
    seed: int
    """0 for baselines."""
    outcome: Outcome


def scored(
    shards: list[Shard], predictions: list[Prediction], rooflines: Mapping[str, Roofline] | None = None
) -> Iterator[Scored]:
    """Baselines on every shard, then the learned models by name and seed. `rooflines`: of hardware variants that have
    one. Raises ValueError for predictions that don't fit their shard."""
    for shard in shards:
        if shard.task == "tile":
            baselines = tile_baselines(shard)
        else:
            baselines = fusion_baselines(shard, (rooflines or {}).get(shard.hardware))
        for name, outcome in baselines.items():
            yield Scored(shard, name, 0, outcome)
    for prediction in sorted(predictions, key=lambda p: (p.model, p.seed, p.shard)):
        shard = shards[prediction.shard]
        values = checked_predictions(prediction.values, len(shard.rows))
        outcome = ranking_outcome(shard, values) if shard.task == "tile" else runtime_outcome(shard, values)
        yield Scored(shard, prediction.model, prediction.seed, outcome)


def scored_by_class(
    shards: list[Shard],
    predictions: list[Prediction],
    left_out: Collection[str] = (),
    rooflines: Mapping[str, Roofline] | None = None,
) -> Iterator[tuple[str, Scored]]:
    """(kernel class, score of the class's kernels alone) of every model and baseline, but on hardware in `left_out`."""
    for number, shard in enumerate(shards):
        if shard.hardware in left_out:
            continue
        said = [prediction for prediction in predictions if prediction.shard == number]
        classes = shard.table["kernel_class"].to_numpy()
        kernel = shard.rows["kernel"].to_numpy()
        for name in sorted(set(classes)):
            keep = classes == name
            part = with_kernels(shard, keep)
            of_part = [p._replace(shard=0, values=np.asarray(p.values)[keep[kernel]]) for p in said]
            for one in scored([part], of_part, rooflines):
                yield name, one
