"""Seeds by name."""

from lib.dataset.seeds import shard_seed


def test_seeds_differ_by_workload_and_study_seed():
    seeds = {shard_seed(seed, workload) for seed in (1, 2) for workload in ("a", "b", "resnet-50")}
    assert len(seeds) == 6
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_seeds_are_repeatable():
    assert shard_seed(1, "resnet-50") == shard_seed(1, "resnet-50")
