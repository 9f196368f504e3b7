"""Several batches of one program."""

from pathlib import Path

import pytest

from tests.schemas.study_examples import messages_of, study_of

TEXT = """\
workloads:
  mlp: {builder: "workflow.studies.builders:small_mlp", batches: [16, 1]}
  vgg: {keras: VGG16, batch: 4}
  mobile: {keras: MobileNet, batches: [2]}
  mobile-training: {keras: MobileNet, mode: training, batch: 2}
hardware:
  tpu-v3: {base: tpu-v3}
datasets:
  named: {split: {train: [mlp], validation: [vgg], test: [mobile-b2, mobile-training]}}
  one: {workloads: [mlp-b16, vgg, mobile], split: {by: program}}
searches:
  both: {workloads: [mlp, vgg], baseline: tpu-v3}
  one-batch: {workloads: [mlp-b16], baseline: tpu-v3}
"""


def test_a_workload_a_batch_and_one_program(tmp_path: Path):
    study = study_of(tmp_path, TEXT)
    assert list(study.workloads) == ["mlp-b16", "mlp-b1", "vgg", "mobile-b2", "mobile-training"]
    assert study.programs(study.workloads) == ["mlp", "mobile", "mobile-training", "vgg"]
    assert study.resolved_shard("named", "tile", "tpu-v3", "mlp-b16")["batch"] == 16
    program = study.resolved_program("mlp")
    assert (program["id"], program["batch"]) == ("mlp", 1)
    assert study.families(["mlp-b1", "mlp-b16"]) == {"mlp-b1": "mlp", "mlp-b16": "mlp"}


def test_the_name_means_all_batches(tmp_path: Path):
    study = study_of(tmp_path, TEXT)
    assert study.split("named") == {
        "train": ["mlp-b1", "mlp-b16"], "validation": ["vgg"], "test": ["mobile-b2", "mobile-training"],
    }  # fmt: skip
    assert study.workload_ids("one") == ["mlp-b16", "mobile-b2", "vgg"]
    # Designs have batches of their own, so a search gets the program once.
    assert study.resolved_search("both", 1)["workloads"] == ["mlp", "vgg"]
    assert study.resolved_search("one-batch", 1)["workloads"] == ["mlp"]


def test_batches_and_modes_of_an_architecture_stay_together(tmp_path: Path):
    text = TEXT.replace("workloads: [mlp-b16, vgg, mobile], ", "")
    for by in ("program", "family"):
        for seed in range(1, 9):
            study = study_of(tmp_path, f"seed: {seed}\n" + text.replace("by: program", f"by: {by}"))
            for part in study.split("one").values():
                assert len({"mlp-b1", "mlp-b16"} & set(part)) in (0, 2)
                assert len({"mobile-b2", "mobile-training"} & set(part)) in (0, 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[16, 1]", "[16, 16]", "study.yaml:2: workloads.mlp.batches: got [16, 16]; allowed: a list of at least one"),
        ("[16, 1]", "[0]", "study.yaml:2: workloads.mlp.batches.0: got 0; allowed: at least 1"),
        ("batch: 4", "batch: 4, batches: [4]", "study.yaml:3: workloads.vgg.batches: not allowed beside batch"),
        ("vgg:", "mlp-b1:", "study.yaml:2: workloads.mlp.batches: a workload of the study is called 'mlp-b1' already"),
        ("[vgg]", "[vgg, mlp-b1]", "split.validation.1: 'mlp-b1' is in train already"),
        ("train: [mlp]", "train: [mlp-b4]", "split.train.0: got 'mlp-b4' is no workload of the dataset; allowed: "),
        ("[mobile-b2,", "[", "datasets.named.split: has no place for mobile-b2"),
        ("keras: VGG16, batch: 4", "hlo: x.pb, batches: [4]", "workloads.vgg.batches: not allowed beside hlo"),
    ],
)
def test_what_is_wrong_is_said(old, new, message, tmp_path: Path):
    assert TEXT.replace(old, new) != TEXT
    assert any(message in line for line in messages_of(tmp_path, TEXT.replace(old, new)))
