"""Both models side by side: parts add up, and picks are what the shard says."""

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.dataset.shards import Shard
from lib.dataset.tasks import tile_shard
from lib.evaluation.differences import difference_tables, kernel_differences, tile_differences
from lib.evaluation.outcomes import ranking_outcome
from lib.fusion.default_kernels import default_kernels
from lib.hardware.datapath import datapath_from_spec
from schemas.difference_artifact import ADDING_UP, DifferenceArtifact
from tests.program_examples import Sketch
from tests.shard_examples import DATAPATH_SPEC


@pytest.fixture(scope="module")
def shard() -> Shard:
    sketch = Sketch()
    value = sketch.swish(sketch.pointwise(sketch.input(4, 28, 28, 64), 256), name="first")
    program = sketch.program(sketch.depthwise(value, name="window"))
    datapath = datapath_from_spec(DATAPATH_SPEC)
    contents = tile_shard(default_kernels(program), {"edge": datapath}, Simulator(), Analytical(), 30, 1)
    table, rows, configurations = contents.table, contents.rows, contents.configurations
    return Shard(contents.kernels, table, rows, configurations, "net", "edge", datapath, "tile")


def test_default_tiles_cost_what_the_shard_says(shard):
    table = kernel_differences(shard)
    default = shard.rows[shard.rows["is_default"]]
    assert table["simulator_total_s"].to_numpy() == pytest.approx(default["runtime_s"].to_numpy(), rel=1e-12)
    assert table["analytical_total_s"].to_numpy() == pytest.approx(default["analytical_s"].to_numpy(), rel=1e-12)
    for model in ("simulator", "analytical"):
        parts = table[[f"{model}_{part}" for part in ADDING_UP]].sum(axis=1)
        assert parts.to_numpy() == pytest.approx(table[f"{model}_total_s"].to_numpy(), rel=1e-12)
    assert (table["simulator_launch_s"] == 2e-6).all()
    assert (table["analytical_launch_s"] == 0).all()
    assert (table[["extent_batch", "extent_out_h"]].to_numpy() == [4, 28]).all()


def test_picks_are_those_of_the_evaluation(shard):
    table = tile_differences(shard)
    outcome = ranking_outcome(shard, shard.rows["analytical_s"].to_numpy())
    assert table["picked_simulator_total_s"].to_numpy() == pytest.approx(outcome.predicted_s, rel=1e-12)
    best = shard.rows.groupby("kernel")["runtime_s"].min()
    assert table["best_simulator_total_s"].to_numpy() == pytest.approx(best.to_numpy(), rel=1e-12)
    assert (table["picked_analytical_total_s"] <= table["best_analytical_total_s"]).all()
    assert table["tiles"].tolist() == np.diff(shard.row_offset).tolist()


def test_kernels_come_from_the_fusion_task_where_there_is_one(shard):
    both = difference_tables([shard, shard._replace(task="fusion", rows=shard.rows[shard.rows["is_default"]])])
    assert len(both["kernels.parquet"]) == len(both["tiles.parquet"]) == shard.kernels.number
    fusion_only = difference_tables([shard._replace(task="fusion", rows=shard.rows[shard.rows["is_default"]])])
    assert len(fusion_only["kernels.parquet"]) == shard.kernels.number
    assert len(fusion_only["tiles.parquet"]) == 0


def test_kernels_of_random_fusions_are_left_out(shard):
    rare = shard._replace(table=shard.table.assign(default_executions=np.array([0, 1], dtype=np.int32)))
    tables = difference_tables([rare])
    assert [len(table) for table in tables.values()] == [1, 1]


def test_the_artifact_takes_both_tables(shard, tmp_path):
    for shards in ([shard], [shard._replace(task="fusion", rows=shard.rows[shard.rows["is_default"]])]):
        contents = difference_tables(shards)
        DifferenceArtifact.write(tmp_path / "d", id="d", origin="simulated", code="", spec={}, contents=contents)
        assert len(DifferenceArtifact.read(tmp_path / "d")["kernels.parquet"]) == 2
