"""Which shards an evaluation scores: the test programs of its models' datasets, and nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lib.dataset.shards import Shard, load_shards


def held_out_shards(
    paths: Iterable[str], models: Sequence[Mapping[str, Any]], split: Mapping[str, Mapping[str, Sequence[str]]]
) -> list[Shard]:
    """The shards among `paths` that hold test programs of the models' tasks.

    `models`: the evaluation's entries with `id`, `task`, `dataset`; `split`: workload ids by part ("test" and
    others) of each dataset. Raises ValueError where two models of one task come from different datasets: they
    would be scored on different rows, side by side in one table.
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
    return [
        shard
        for task, model in first.items()
        for shard in load_shards(paths, dataset=model["dataset"], task=task, workloads=split[model["dataset"]]["test"])
    ]
