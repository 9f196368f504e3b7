"""Recorded measurements as the source of a dataset: programs by folder and name, the folders' split, nothing mixed."""

from pathlib import Path

import pytest

from tests.schemas.study_examples import messages_of, study_of

FILES = (
    "train/resnet_v1_50_official_batch_128_-1a2b3c4d5e6f.npz",
    "train/resnet_v1_50_official_batch_128_7a2b3c4d5e6f.npz",
    "train/mlp_0123456789ab.npz",
    "valid/bert_-00ff00ff00ff.npz",
    "test/resnet_v1_50_official_batch_128_99ff00ff00ff.npz",
)
STUDY = """\
hardware:
  chip: {base: tpu-v3, runtime: recorded}
datasets:
  real: {source: {tpugraphs: tiles}}
models:
  ranker: {task: tile, dataset: real}
evaluations:
  accuracy: {models: [ranker]}
"""
RESNET = "resnet-v1-50-official-batch-128"
SIMULATED = """\
  v3: {base: tpu-v3}
workloads: {vgg: {keras: VGG16}, resnet: {keras: ResNet50}, mobilenet: {keras: MobileNet}}
datasets:
  made: {}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / "tiles" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tiles" / name).touch()
    return tmp_path


def test_kernels_of_a_program_go_together_and_the_folders_say_the_split(folder: Path):
    study = study_of(folder, STUDY)
    expected = {"train": ["train-mlp", f"train-{RESNET}"], "validation": ["valid-bert"], "test": [f"test-{RESNET}"]}
    assert study.split("real") == expected
    assert study.resolved_model("ranker")["split"] == expected
    assert study.resolved_model("ranker")["origin"] == "recorded"
    assert study.resolved_model("ranker")["families"][f"test-{RESNET}"] == RESNET
    shard = study.resolved_shard("real", "tile", "chip", f"train-{RESNET}")
    assert shard["recorded"] == {"format": "tpugraphs", "files": list(FILES[:2])}
    assert study.datasets["real"].tasks == ["tile"]
    assert study.split_kind("accuracy") == "folder"


def test_programs_may_be_placed_by_name(folder: Path):
    split = f"split: {{train: [train-{RESNET}], validation: [train-mlp, valid-bert], test: [test-{RESNET}]}}"
    study = study_of(folder, STUDY.replace("{tpugraphs: tiles}", "{tpugraphs: tiles}, " + split))
    assert study.split("real")["validation"] == ["train-mlp", "valid-bert"]


def test_all_hardware_is_what_fits_the_labels(folder: Path):
    study = study_of(folder, STUDY.replace("datasets:\n", SIMULATED))
    assert study.hardware_ids("made") == ["v3"]
    assert study.hardware_ids("real") == ["chip"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("tpugraphs: tiles", "tpugraphs: nowhere"),
         "datasets.real.source.tpugraphs: got 'nowhere'; allowed: a folder whose subfolders (train, valid, test) hold"),
        (("tpugraphs: tiles}", "tpugraphs: tiles}, tile: {tiles_per_kernel: 4}"),
         "datasets.real.tile: not allowed beside source: a source has its own, and recorded and simulated"),
        (("tpugraphs: tiles}", "tpugraphs: tiles}, tasks: [tile, fusion]"),
         "datasets.real.tasks: got a fusion task; allowed: [tile]"),
        (("runtime: recorded", "runtime: simulated"),
         "datasets.real.hardware: 0 hardware variants have runtime: recorded; allowed: one, the chip of the source's"),
        (("datasets:\n", SIMULATED.replace("{}", "{hardware: [v3, chip]}")),
         "datasets.made.hardware.1: got 'chip' is recorded, the dataset simulated; leave it out: the two never mix"),
        (("real: {", "real: {hardware: [chip, tpu], "), "datasets.real.hardware.1: got 'tpu'; allowed: chip"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_said(folder: Path, change: tuple[str, str], message: str):
    text = STUDY.replace(*change)
    assert text != STUDY
    assert any(message in line for line in messages_of(folder, text))


def test_tables_never_mix_recorded_and_simulated_runtimes(folder: Path):
    text = STUDY.replace("datasets:\n", SIMULATED).replace(
        "models:\n", "models:\n  timer: {task: fusion, dataset: made}\n"
    )
    messages = messages_of(folder, text.replace("[ranker]", "[ranker, timer]"))
    assert len(messages) == 1
    assert "evaluations.accuracy.models.1: got 'timer' learns simulated runtimes, the models before" in messages[0]


def test_folders_of_other_names_need_a_split_by_name(folder: Path):
    (folder / "tiles" / "valid").rename(folder / "tiles" / "calibration")
    (message,) = messages_of(folder, STUDY)
    assert "datasets.real.split: the source's folders are not train, valid and test; name the programs" in message
    assert "calibration-bert" in message
