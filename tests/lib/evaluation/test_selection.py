"""Which shards are scored."""

import pytest

from lib.evaluation.selection import held_out_shards, origin_of, validation_shards
from tests.shard_examples import hand_made_shard, write_shard

SPLIT = {"default": {"train": ["a"], "validation": [], "test": ["b"]}}
FAMILIES = {"a": "first", "b": "second"}


def entry(id, task, dataset="default"):
    return {"id": id, "task": task, "dataset": dataset, "seeds": [1], "scored_on": ["edge"]}


def test_only_test_programs_of_the_models_tasks(tmp_path):
    paths = [
        write_shard(tmp_path / f"{dataset}-{task}-{workload}", hand_made_shard(
            [[1, 2]], [[1, 2]], workload=workload, task=task,
        ), dataset=dataset)
        for dataset in ("default", "other") for task in ("tile", "fusion") for workload in ("a", "b")
    ]  # fmt: skip
    shards = held_out_shards(paths, [entry("x", "tile"), entry("y", "tile")], SPLIT, FAMILIES)
    assert [(s.workload, s.task) for s in shards] == [("b", "tile")]
    shards = held_out_shards(paths, [entry("x", "tile"), entry("y", "fusion")], SPLIT, FAMILIES)
    assert [(s.workload, s.task) for s in shards] == [("b", "tile"), ("b", "fusion")]


def test_models_of_one_task_share_a_dataset():
    with pytest.raises(ValueError, match=r"'x' and 'y'.*'default' and 'other'"):
        held_out_shards([], [entry("x", "tile"), entry("y", "tile", "other")], SPLIT, FAMILIES)


def test_a_family_on_both_sides_of_the_split_is_a_warning(caplog):
    held_out_shards([], [entry("x", "tile")], SPLIT, FAMILIES)
    assert not caplog.records
    held_out_shards([], [entry("x", "tile")], SPLIT, {"a": "net", "b": "net"})
    assert caplog.messages == ["dataset default: family net is in test and also in training or validation"]


def test_validation_programs_lose_the_kernels_that_test_programs_have(tmp_path):
    """Kernel 0 is in both, kernel 1 in the validation program alone."""
    test, both = hand_made_shard([[1, 2]], [[1, 2]], workload="b"), hand_made_shard([[1, 2], [3, 4]], [[1, 2], [3, 4]])
    paths = [write_shard(tmp_path / "v", both._replace(workload="a")), write_shard(tmp_path / "t", test)]
    split = {"default": {"train": [], "validation": ["a"], "test": ["b"]}}
    (kept,) = validation_shards(paths, [entry("x", "tile")], split, [test])
    assert kept.kernels.fingerprint == [both.kernels.fingerprint[1]]


def test_other_hardware_is_not_scored(tmp_path):
    path = write_shard(tmp_path / "t", hand_made_shard([[1, 2]], [[1, 2]], workload="b", hardware="tpu-v3"))
    assert held_out_shards([path], [entry("x", "tile")], SPLIT, FAMILIES) == []


def test_labels_of_one_origin_keep_it():
    simulated = hand_made_shard([[1, 2]], [[1, 2]])
    recorded = simulated._replace(origin="recorded")
    assert origin_of([recorded, recorded]) == "recorded"
    assert origin_of([simulated, recorded]) == "measured"
