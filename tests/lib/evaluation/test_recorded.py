"""Recorded shards are scored like others, without a simulator; their noise shows."""

import pytest

from lib.dataset.recorded_shards import recorded_shard
from lib.dataset.shards import load_shards
from lib.evaluation.baselines import tile_baselines
from lib.evaluation.selection import origin_of
from lib.hardware.datapath import datapath_from_spec
from schemas.dataset_artifact import DatasetArtifact
from tests.lib.targets.tpugraphs_examples import bounds, node, write_file
from tests.shard_examples import DATAPATH_SPEC


@pytest.fixture
def shard(tmp_path):
    """A copy of f32[16, 256] into the other layout: whole in 1.5 and again in 1.8 us, in blocks in 3 us."""
    nodes = [node("parameter", shape=(16, 256)), node("copy", shape=(16, 256), layout=(0, 1), root=True)]
    configurations = [bounds(output=(32, 1)), bounds(output=(32, 1)), bounds(output=(16, 1))]
    file = write_file(tmp_path / "copy.npz", nodes, [(1, 0)], configurations, [1500, 1800, 3000])
    contents = recorded_shard([file], datapath_from_spec(DATAPATH_SPEC)).files()
    spec = {
        "dataset": "real", "task": "tile", "hardware": {"id": "tpu-v3", "datapath": DATAPATH_SPEC}, "workload": "net",
    }  # fmt: skip
    DatasetArtifact.write(tmp_path / "s", id="s", origin="recorded", code="", spec=spec, contents=contents)
    (read,) = load_shards([tmp_path / "s"])
    return read


def test_where_the_labels_come_from_is_kept(shard):
    assert origin_of([shard]) == "recorded"


def test_the_noise_floor_comes_from_tiles_that_were_timed_twice(shard):
    """The row of 1.8 us is predicted by the one of 1.5 us and the other way round, so the slower one is picked."""
    floor = tile_baselines(shard)["noise-floor"].metrics
    assert floor["ape_pct"].value == pytest.approx(20)
    assert floor["top5_regret_pct"].value == 0
    # 3 us is above both of the others and so predicted; the two are out of order
    assert floor["kendall_tau"].value == pytest.approx((2 - 1) / 3)


def test_estimates_are_scored_by_the_recorded_runtimes(shard):
    """The analytical model finds both rows of the whole copy equally fast, and the first of equals is picked."""
    assert tile_baselines(shard)["analytical"].metrics["ape_pct"].value == 0
