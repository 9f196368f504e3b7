"""Measured shards with a fake device: labels as measured, what fails left out and told, estimates with a datapath."""

import numpy as np
import pytest

from lib.dataset import measured_shards
from lib.dataset.measured_shards import make_measured_shard
from lib.dataset.shards import load_shards
from lib.evaluation.baselines import fusion_baselines, tile_baselines
from lib.evaluation.roofline import fitted_rooflines
from lib.targets import measured_tiles
from lib.targets.module import Module
from schemas.dataset_artifact import DatasetArtifact
from tests.lib.targets.fake_measurer import SECOND_PASS, FakeMeasurer, NamedKernels
from tests.program_examples import convolution_block, squeeze_excite
from tests.shard_examples import DATAPATH_SPEC

PROGRAM = squeeze_excite()
WHOLE = "the whole program"


def spec(task="fusion", datapath=DATAPATH_SPEC, **changes):
    runtime = {"fusion": "xla", "tile": "iree"}[task]
    settings = {"fusion": {"configurations": 2}, "tile": {"tiles_per_kernel": 4}}[task]
    hardware = {"id": "local", "runtime": runtime, "datapath": datapath, "measure": {}}
    return (
        {"dataset": "d", "task": task, "hardware": hardware, "workload": "net", "batch": 1, "seed": 1}
        | settings
        | changes
    )


def microseconds(text: str) -> float:
    """10 us and one more an instruction; the whole program 25 us."""
    return 25e-6 if text == WHOLE else (10 + len(text.split())) * 1e-6


@pytest.fixture(autouse=True)
def devices(monkeypatch):
    """Modules of tiles name the matrix op and the tile; of two tiles one is the compiler's own."""
    monkeypatch.setattr(measured_shards, "KernelModules", NamedKernels)
    monkeypatch.setattr(measured_shards, "program_module", lambda _: Module("xla", WHOLE))
    monkeypatch.setattr(
        measured_shards, "tile_module",
        lambda _, index, tile: Module("iree", f"{index} " + ("own" if tile is None else "x".join(map(str, tile)))),
    )  # fmt: skip
    one = np.ones(8, dtype=np.int32)
    others = np.stack([one, one * np.array([2, 1, 1, 1, 1, 1, 1, 1])])
    monkeypatch.setattr(measured_tiles, "tunable", lambda program, i: program.instructions[i].opcode == "convolution")
    monkeypatch.setattr(measured_tiles, "own_tile", lambda program, i: one)
    monkeypatch.setattr(measured_tiles, "tile_candidates", lambda program, i, limit, seed: others[:limit])


def written(shard, folder, of):
    DatasetArtifact.write(
        folder, id="x", origin="measured", code="", spec=of, contents=shard.contents.files(), device=shard.device
    )
    (read,) = load_shards([str(folder)])
    return read


def test_labels_are_the_fastest_pass_and_the_other_is_kept(tmp_path):
    read = written(make_measured_shard(PROGRAM, spec(), FakeMeasurer(microseconds)), tmp_path / "s", spec())
    assert read.origin == "measured"
    assert (read.rows["runtime_s"] >= 11e-6).all()
    assert read.rows["repeat_s"].to_numpy() == pytest.approx(SECOND_PASS * read.rows["runtime_s"].to_numpy())
    assert (read.rows["xla_bytes"] == 8).all()
    assert read.has_estimate
    floor = fusion_baselines(read)["noise-floor"].metrics
    assert floor["mape_pct"].value == pytest.approx(2.0)


def test_the_sum_of_the_default_fusion_stands_beside_the_whole_program():
    shard = make_measured_shard(PROGRAM, spec(), FakeMeasurer(microseconds))
    rows, table = shard.contents.rows, shard.contents.table
    executions = table["default_executions"].to_numpy()[rows["kernel"]]
    assert shard.device["default_sum_s"] == pytest.approx((rows["runtime_s"] * executions).sum())
    assert shard.device["whole_program_s"] == pytest.approx(25e-6)


def test_a_kernel_that_fails_is_left_out_and_told_and_no_sum_is_made_without_it():
    root = make_measured_shard(PROGRAM, spec(), FakeMeasurer(microseconds)).contents.table["root"][0]
    device = FakeMeasurer(lambda text: None if text.split()[-1] == root else microseconds(text))
    shard = make_measured_shard(PROGRAM, spec(), device)
    assert root not in set(shard.contents.table["root"])
    assert {"kernel": root, "tile": None, "message": "does not compile"} in shard.device["failures"]
    assert shard.device["default_sum_s"] is None


def test_where_nothing_can_be_measured_the_error_names_program_and_hardware():
    with pytest.raises(ValueError, match=r"workload 'net' on hardware 'local', fusion task: none of its \d+ kernels"):
        make_measured_shard(PROGRAM, spec(), FakeMeasurer(lambda text: None))


def test_of_more_kernels_than_asked_for_those_of_the_default_fusion_are_kept():
    everything = make_measured_shard(PROGRAM, spec(), FakeMeasurer(microseconds)).contents.table
    some = make_measured_shard(PROGRAM, spec(kernels_per_program=1), FakeMeasurer(microseconds)).contents.table
    assert set(some["root"]) == set(everything.loc[everything["default_executions"] > 0, "root"])
    assert len(some) < len(everything)


def test_without_a_datapath_there_are_labels_and_no_estimates(tmp_path):
    bare = spec(datapath=None)
    read = written(make_measured_shard(PROGRAM, bare, FakeMeasurer(microseconds)), tmp_path / "s", bare)
    assert not read.has_estimate
    rooflines = fitted_rooflines([read])
    assert set(fusion_baselines(read, rooflines["local"])) == {"roofline", "noise-floor"}


def test_tiles_stand_beside_the_compilers_own_pick(tmp_path):
    device = FakeMeasurer(lambda text: 5e-6 if text.endswith("own") else 4e-6)
    read = written(make_measured_shard(PROGRAM, spec("tile", None), device), tmp_path / "s", spec("tile", None))
    kernels = read.kernels.number
    assert kernels
    assert [text.endswith("own") for text in device.asked].count(True) == kernels
    assert np.diff(read.row_offset).tolist() == [2] * kernels  # one of the two others is the compiler's own
    default = tile_baselines(read)["default"].metrics
    assert default["ape_pct"].value == pytest.approx(25.0)


def test_a_program_without_a_matrix_op_has_no_tiles():
    program = convolution_block()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured_tiles, "tunable", lambda program, i: False)
        with pytest.raises(ValueError, match="no matrix op that this device takes tiles of"):
            make_measured_shard(program, spec("tile"), FakeMeasurer(microseconds))
