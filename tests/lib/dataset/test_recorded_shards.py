"""Shards of recorded tiles: rows as in the files, the default row by the compiler's own time, repeats kept."""

import numpy as np
import pandas as pd
import pytest

from lib.dataset.recorded_shards import make_recorded_shard, recorded_shard, repeat_spread_pct
from lib.hardware.datapath import datapath_from_spec
from schemas.dataset_artifact import DatasetArtifact
from tests.lib.targets.tpugraphs_examples import bounds, copy_file, node, write_file
from tests.shard_examples import DATAPATH_SPEC

DATAPATH = datapath_from_spec(DATAPATH_SPEC)


def transpose_file(path, runtimes, **replaced):
    """A copy of f32[16, 256] into the other layout: whole, whole again, and in blocks of 128 x 8."""
    nodes = [node("parameter", shape=(16, 256)), node("copy", shape=(16, 256), layout=(0, 1), root=True)]
    configurations = [bounds(output=(32, 1)), bounds(output=(32, 1)), bounds(output=(16, 1))]
    return write_file(path, nodes, [(1, 0)], configurations, runtimes, **replaced)


def test_a_shard_holds_what_the_files_say(tmp_path):
    paths = [copy_file(tmp_path / "a.npz"), transpose_file(tmp_path / "b.npz", [3000, 3030, 1500])]
    shard = recorded_shard(paths, DATAPATH)
    assert shard.table["root"].tolist() == ["a", "b"]
    assert shard.table["default_executions"].tolist() == [1, 1]
    rows = shard.rows
    assert rows["kernel"].tolist() == [0, 0, 1, 1, 1]
    assert (rows["runtime_s"] * 1e6).tolist() == pytest.approx([1, 2, 3, 3.03, 1.5])
    # the compiler's pick took 1.5 us: of 1 and 2 the first is as near as the second; in b it is the third row
    assert rows["is_default"].tolist() == [True, False, False, False, True]
    assert (rows["analytical_s"] > 0).all()
    DatasetArtifact.write(tmp_path / "s", id="x", origin="recorded", code="", spec={}, contents=shard.files())


def test_files_that_can_not_be_used_and_repeated_kernels_are_left_out_and_told(tmp_path, caplog):
    paths = [copy_file(tmp_path / "a.npz"), copy_file(tmp_path / "again.npz"), tmp_path / "broken.npz"]
    paths[2].write_bytes(b"no npz")
    with caplog.at_level("INFO", logger="tilewright"):
        shard = recorded_shard(paths, DATAPATH)
    assert shard.table["root"].tolist() == ["a"]
    assert "broken.npz" in caplog.text
    assert "1 kernels; 1 files refused, 1 kernels repeated, 0 rows without an estimate" in caplog.text


def test_rows_that_do_not_fit_on_chip_have_no_estimate_and_are_left_out(tmp_path):
    """Whole, the copy of 32 x 5 x 5 x 256 takes 32 x 5 x 8 x 256 x 4 B = 1.3 MB either way; its tile a 16th of it."""
    small = datapath_from_spec(DATAPATH_SPEC | {"global_buffer_bytes": 2**20})
    rows = recorded_shard([copy_file(tmp_path / "a.npz")], small).rows
    assert rows["tile_batch"].tolist() == [8]
    tiny = {"hardware": {"datapath": DATAPATH_SPEC | {"global_buffer_bytes": 2**10}}, "dataset": "d", "workload": "w"}
    with pytest.raises(ValueError, match="dataset 'd', recorded program 'w': none of the 1 files has a row"):
        make_recorded_shard([tmp_path / "a.npz"], tiny)


def test_spread_of_repeats():
    """3 and 5 lie 25 % from their mean 4; 2 and 2 nothing; 7 was measured once: (25 + 25 + 0 + 0) / 4."""
    rows = pd.DataFrame({
        "kernel": np.array([0, 0, 0, 1, 1], dtype=np.int32), "tile_batch": [1, 1, 2, 1, 1],
        "runtime_s": [3.0, 5.0, 7.0, 2.0, 2.0],
    })  # fmt: skip
    assert repeat_spread_pct(rows) == pytest.approx(12.5)
    assert np.isnan(repeat_spread_pct(rows[2:4]))
