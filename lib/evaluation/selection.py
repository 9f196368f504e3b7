"""Which shards an evaluation scores: test programs, and apart from them validation programs; nothing else."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lib.dataset.shards import Shard, fingerprints, load_shards, remove_shared
from schemas.artifact import Origin
from schemas.split import families_on_both_sides

LOG = logging.getLogger("tilewright")


def held_out_shards(
    paths: Iterable[str],
    models: Sequence[Mapping[str, Any]],
    split: Mapping[str, Mapping[str, Sequence[str]]],
    families: Mapping[str, str],
) -> list[Shard]:
    """The shards among `paths` that hold test programs of the models' tasks.

    `models`: the evaluation's entries with `id`, `task`, `dataset`, `scored_on`; `split`: workload ids by part ("test"
    and others) of each dataset; `families`: family of each workload. A family with test programs that was trained on
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
        for shard in load_shards(
            paths,
            dataset=model["dataset"],
            task=task,
            workloads=split[model["dataset"]]["test"],
            hardware=_scored_on(models, task),
        )
    ]


def _scored_on(models: Sequence[Mapping[str, Any]], task: str) -> frozenset[str]:
    """The hardware variants that any model of the task is scored on."""
    return frozenset(variant for model in models if model["task"] == task for variant in model["scored_on"])


def training_shards(
    paths: Iterable[str],
    models: Sequence[Mapping[str, Any]],
    split: Mapping[str, Mapping[str, Sequence[str]]],
    test: Sequence[Shard],
) -> list[Shard]:
    """The fusion shards among `paths` that hold training programs, without the kernels that the `test` shards have too:
    what baselines with constants are fitted on."""
    paths = list(paths)
    return [
        shard
        for dataset in dict.fromkeys(model["dataset"] for model in models if model["task"] == "fusion")
        for shard in _shards_of(paths, dataset, "fusion", split[dataset]["train"], models, test)
    ]


def validation_shards(
    paths: Iterable[str],
    models: Sequence[Mapping[str, Any]],
    split: Mapping[str, Mapping[str, Sequence[str]]],
    test: Sequence[Shard],
) -> list[Shard]:
    """The shards among `paths` that hold validation programs of the models' tasks, without the kernels that the `test`
    shards have too, as in training: what is chosen on them must not have seen a runtime of a test kernel."""
    dataset_of_task = {model["task"]: model["dataset"] for model in models}
    paths = list(paths)
    return [
        shard
        for task, dataset in dataset_of_task.items()
        for shard in _shards_of(paths, dataset, task, split[dataset]["validation"], models, test)
    ]


def _shards_of(
    paths: Sequence[str],
    dataset: str,
    task: str,
    workloads: Sequence[str],
    models: Sequence[Mapping[str, Any]],
    test: Sequence[Shard],
) -> list[Shard]:
    """The shards of a dataset's task and workloads, without the kernels that the `test` shards of the task have too."""
    shards = load_shards(paths, dataset=dataset, task=task, workloads=workloads, hardware=_scored_on(models, task))
    return list(remove_shared(shards, fingerprints(shard for shard in test if shard.task == task)))


def origin_of(shards: Iterable[Shard]) -> Origin:
    """Where the labels of all of the shards come from; "measured" where they come from several places."""
    origins = {shard.origin for shard in shards}
    return origins.pop() if len(origins) == 1 else "measured"


def groups_of(models: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Group of each sampled hardware variant that a model is scored on: train, inside, outside."""
    return {variant: group for model in models for variant, group in model["hardware_groups"].items()}
