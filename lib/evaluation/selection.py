"""Which shards an evaluation scores: the test programs of its models' datasets, and nothing else."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lib.dataset.shards import Shard, load_shards
from schemas.split import families_on_both_sides

LOG = logging.getLogger("tilewright")


def held_out_shards(
    paths: Iterable[str],
    models: Sequence[Mapping[str, Any]],
    split: Mapping[str, Mapping[str, Sequence[str]]],
    families: Mapping[str, str],
) -> list[Shard]:
    """The shards among `paths` that hold test programs of the models' tasks.

    `models`: the evaluation's entries with `id`, `task`, `dataset`; `split`: workload ids by part ("test" and
    others) of each dataset; `families`: family of each workload. A family with test programs that was trained on
    too, which a split by name allows, is a warning in the log: errors are lower then.

    Raises ValueError where two models of one task come from different datasets: they would be scored on
    different rows, side by side in one table.
    """
    paths = list(paths)
    first: dict[str, Mapping[str, Any]] = {}
    for model in models:
        other = first.setdefault(model["task"], model)
        if other["dataset"] != model["dataset"]:
            raise ValueError(
                f"models {other['id']!r} and {model['id']!r} have the same task, {model['task']}, but different"
                f" datasets, {other['dataset']!r} and {model['dataset']!r}; give each dataset an evaluation of its own"
            )
    for dataset, parts in split.items():
        for family in families_on_both_sides(parts, families):
            LOG.warning("dataset %s: family %s is in test and also in training or validation", dataset, family)
    return [
        shard
        for task, model in first.items()
        for shard in load_shards(paths, dataset=model["dataset"], task=task, workloads=split[model["dataset"]]["test"])
    ]
