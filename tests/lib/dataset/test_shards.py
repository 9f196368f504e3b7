"""Writing shards, reading them back and taking shared kernels out."""

import numpy as np
import pytest

from lib.dataset.shards import fingerprints, load_shards, remove_shared
from lib.program.kernels import take
from schemas.artifact import ArtifactError
from tests.shard_examples import hand_made_shard, write_shard


def test_a_shard_comes_back_as_it_was(tmp_path):
    shard = hand_made_shard([[1, 2, 3], [4, 5]], [[1, 1, 1], [2, 2]], executions=[2, 0])
    (read,) = load_shards([write_shard(tmp_path / "a", shard)])
    for name in ("table", "rows", "configurations"):
        assert getattr(read, name).equals(getattr(shard, name))
    assert read.kernels.fingerprint == shard.kernels.fingerprint
    assert read[4:] == shard[4:]
    assert read.row_offset.tolist() == [0, 3, 5]
    assert read.tiles.shape == (5, 8)


def test_shards_are_chosen_by_their_manifests(tmp_path):
    paths = [
        write_shard(tmp_path / f"{workload}-{hardware}-{task}", hand_made_shard(
            [[1, 2]], [[1, 2]], workload=workload, hardware=hardware, task=task,
        ))
        for workload in ("a", "b") for hardware in ("x", "y") for task in ("tile", "fusion")
    ]  # fmt: skip
    (tmp_path / "b-y-tile" / "rows.parquet").unlink()

    def found(**where):
        return [(s.workload, s.hardware, s.task) for s in load_shards(paths, **where)]

    assert found(workloads=["a"], hardware=["y"]) == [("a", "y", "tile"), ("a", "y", "fusion")]
    assert found(task="tile", hardware=["x"]) == [("a", "x", "tile"), ("b", "x", "tile")]
    assert found(dataset="other") == []
    with pytest.raises(ArtifactError, match="missing"):
        found(task="tile")


def test_shared_kernels_leave_training():
    train = hand_made_shard([[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 6]], executions=[1, 2, 3])
    kernel_1 = take(train.kernels, np.array([1]))
    test = hand_made_shard([[7, 8]], [[7, 8]], kernels=kernel_1)
    (kept,) = remove_shared([train], fingerprints([test]))
    assert kept.kernels.fingerprint == [train.kernels.fingerprint[0], train.kernels.fingerprint[2]]
    assert kept.table["kernel"].tolist() == [0, 1]
    assert kept.table["root"].tolist() == ["root-0", "root-2"]
    assert kept.rows["kernel"].tolist() == [0, 0, 1, 1]
    assert (kept.rows["runtime_s"] * 1e6).tolist() == pytest.approx([1, 2, 5, 6])
    assert kept.configurations[["kernel", "executions"]].to_numpy().tolist() == [[0, 1], [1, 3]]
    assert all(str(frame["kernel"].dtype) == "int32" for frame in (kept.table, kept.rows, kept.configurations))


def test_shards_without_shared_kernels_stay_and_empty_ones_go():
    train = hand_made_shard([[1, 2]], [[1, 2]])
    (same,) = remove_shared([train], frozenset(["0" * 32]))
    assert same is train
    assert remove_shared([train], fingerprints([train])) == []
