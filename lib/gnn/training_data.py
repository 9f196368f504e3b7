"""What a model learns from: the training and validation rows of its split, on disk."""

import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lib.dataset.shards import Shard, fingerprints, with_kernels, with_rows, without_kernels_of
from lib.gnn.examples import Examples, NoShards, examples_of_shards

LOG = logging.getLogger("tilewright")

ReadShards = Callable[[list[str]], Iterable[Shard]]
"""Gives the shards of some workloads, one at a time."""

VALIDATION_ROWS = 100_000
"""Rows that validation looks at, or a little more, so that a look takes seconds whatever the dataset's size."""


class TrainingData(NamedTuple):
    """The examples of a model entry."""

    train: Examples
    groups: np.ndarray
    """int32[k, 3] family, workload and hardware variant of each training kernel, as numbers."""
    validation: Examples | None


def training_data(
    spec: dict[str, Any], seed: int, read: ReadShards, folder: Path | None, validation_rows: int = VALIDATION_ROWS
) -> TrainingData:
    """The training and validation examples of a study entry.

    `spec["split"]` names the workloads of train, validation and test, `spec["families"]` each workload's
    family. Kernels that occur in a test program are removed from training, and from validation too, since
    their runtimes would choose the weights that the test then scores. Kernels that training and validation
    share stay in both. `train_rows` keeps some of the training rows, drawn by the seed. With a `folder`, rows
    lie there and only one shard is in memory at a time. Raises ValueError where nothing is left to train on.
    """
    split, families = spec["split"], spec["families"]
    test = fingerprints(read(split["test"]))
    drawn = _with_share_of_rows(_without_test("train", read(split["train"]), test), spec.get("train_rows"), seed)
    try:
        train = examples_of_shards(drawn, folder and folder / "train")
    except NoShards:
        raise ValueError(
            f"model {spec['id']}: every training kernel occurs in a test program; change the dataset's split"
        ) from None
    looked_at = _fewer_kernels(
        _without_test("validation", read(split["validation"]), test), spec, validation_rows, seed
    )
    try:
        validation = examples_of_shards(looked_at, folder and folder / "validation")
    except NoShards:
        validation = None
    return TrainingData(train, _groups(train, families), validation)


def _groups(train: Examples, families: dict[str, str]) -> np.ndarray:
    names = [(families[workload], workload, hardware) for workload, hardware in train.origin]
    numbers = [sorted(set(level)) for level in zip(*names, strict=True)]
    of_shard = [[numbers[level].index(name) for level, name in enumerate(group)] for group in names]
    return np.array(of_shard, np.int32)[train.shard]


def _without_test(part: str, shards: Iterable[Shard], test: frozenset[str]) -> Iterator[Shard]:
    before = after = 0
    for shard in shards:
        kept = without_kernels_of(shard, test)
        before, after = before + shard.kernels.number, after + kept.kernels.number
        if kept.kernels.number:
            yield kept
    LOG.info("%s: %d kernels, %d removed because test programs have them", part, after, before - after)


def _with_share_of_rows(shards: Iterable[Shard], share: float | None, seed: int) -> Iterator[Shard]:
    """Each row stays with probability `share`; those of a smaller share are among those of a larger one."""
    for number, shard in enumerate(shards):
        if share is None:
            yield shard
            continue
        kept = with_rows(shard, np.random.default_rng((seed, number)).random(len(shard.rows)) < share)
        if kept.kernels.number:
            yield kept


def _fewer_kernels(shards: Iterable[Shard], spec: dict[str, Any], most_rows: int, seed: int) -> Iterator[Shard]:
    """About `most_rows` rows, whole kernels, equally many of each shard.

    In the tile task the kernels that take most of a program's time, since they decide its tile-size APE; in the
    fusion task, where all kernels count alike, drawn ones.
    """
    rows_of_shard = most_rows // max(1, len(spec["split"]["validation"]) * len(spec["hardware"]))
    rng = np.random.default_rng(seed)
    for shard in shards:
        offset = shard.row_offset
        if spec["task"] == "tile":
            best_s = np.minimum.reduceat(shard.rows["runtime_s"].to_numpy(), offset[:-1])
            order = np.argsort(-best_s * shard.table["default_executions"].to_numpy(), kind="stable")
        else:
            order = rng.permutation(shard.kernels.number)
        rows_before = np.concatenate([[0], np.cumsum(np.diff(offset)[order])[:-1]])
        keep = np.zeros(shard.kernels.number, bool)
        keep[order[rows_before < max(1, rows_of_shard)]] = True
        yield with_kernels(shard, keep)
