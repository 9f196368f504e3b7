"""Resolved entries: what rules get, and that the way a study is written doesn't show in it."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from schemas.search_space import DEFAULT_SPACE
from schemas.study import Study
from tests.schemas.study_examples import SOUND, messages_of, study_of


def everything(study: Study) -> str:
    """All resolved entries as JSON, key order included."""
    shards = [
        study.resolved_shard(dataset, task, hardware, workload)
        for dataset in sorted(study.datasets)
        for task in ("tile", "fusion")
        for hardware in study.hardware_ids(dataset)
        for workload in study.workload_ids(dataset)
    ]
    return json.dumps([
        [study.resolved_workload(id) for id in sorted(study.workloads)],
        [study.resolved_hardware(id) for id in sorted(study.hardware)],
        shards,
        [study.resolved_model(id) for id in sorted(study.models)],
        [study.resolved_evaluation(id) for id in sorted(study.evaluations)],
        [study.resolved_search(id, 1) for id in sorted(study.searches)],
    ])  # fmt: skip


def test_the_order_of_keys_does_not_matter(tmp_path: Path):
    reordered = """\
searches:
  mobile: {baseline: tpu-v3, workloads: [mobilenet-v2]}
evaluations:
  accuracy: {models: [ranker, timer]}
models:
  timer: {dataset: default, task: fusion}
  ranker: {dataset: default, task: tile}
datasets: {default: {}}
hardware:
  edge: {datapath: {global_buffer: 4 MiB, cores: 1}, base: tpu-v3}
  tpu-v3: {base: tpu-v3}
workloads:
  vgg: {keras: VGG16}
  resnet: {keras: ResNet50V2}
  mobilenet-v2: {batch: 16, keras: MobileNetV2}
"""
    assert everything(study_of(tmp_path, reordered)) == everything(study_of(tmp_path, SOUND))


def test_a_default_that_is_written_out_or_left_empty_changes_nothing(tmp_path: Path):
    spelled = """\
seed: 1
results:
workloads:
  mobilenet-v2: {keras: MobileNetV2, batch: 16, mode: inference, family: mobilenet, sizing: bfloat16, arguments: {}}
  resnet: {keras: ResNet50V2, input_shape: null, batch: }
  vgg: {keras: VGG16}
hardware:
  tpu-v3: {base: tpu-v3, runtime: simulated, datapath: {clock: 940 MHz, l1_input: 16 KiB}}
  edge: {base: tpu-v3, datapath: {cores: 1, global_buffer: 4 MiB}}
datasets:
  default:
    workloads: [vgg, mobilenet-v2, resnet]
    hardware: all
    tasks: [tile, fusion]
    split: {by: family, test: 0.3, validation: 0.2}
    tile: {tiles_per_kernel: 64}
    fusion:
models:
  ranker: {task: tile, dataset: default, hardware: [tpu-v3, edge], seeds: [1], join: late, tiles_per_kernel: 16,
    loss: pairwise-logistic, knowledge: analytical, learning_rate: 2e-3, graph_network: graphsage, steps: 3000}
  timer: {task: fusion, dataset: default, join: middle, loss: log-mse, knowledge: ratio}
evaluations:
  accuracy: {models: [ranker, timer]}
autotune:
searches:
  mobile: {workloads: [mobilenet-v2], baseline: tpu-v3, optimiser: tpe, limits: {tdp_ratio: 2}, space: {pes_x:
    [256, 128, 64, 32, 16, 8, 4, 2, 1], l1_input_bytes: }}
"""
    assert everything(study_of(tmp_path, spelled)) == everything(study_of(tmp_path, SOUND))


def test_resolved_entries_are_plain_json(tmp_path: Path):
    text = everything(study_of(tmp_path, SOUND))
    assert json.dumps(json.loads(text)) == text


def test_resolved_workload(tmp_path: Path):
    assert study_of(tmp_path, SOUND).resolved_workload("mobilenet-v2") == {
        "id": "mobilenet-v2",
        "family": "mobilenet",
        "source": {"kind": "keras", "name": "MobileNetV2"},
        "arguments": {},
        "input_shape": None,
        "mode": "inference",
        "batch": 16,
        "sizing": "bfloat16",
        "trip_count": None,
    }


def test_the_family_of_other_sources_is_the_id():
    study = Study.model_validate({"workloads": {"own": {"builder": "a.b:c"}, "file": {"hlo": "x.pb", "family": "f"}}})
    assert study.families(["own", "file"]) == {"file": "f", "own": "own"}


def test_resolved_shards_have_the_keys_of_their_task(tmp_path: Path):
    study = study_of(tmp_path, SOUND)
    tile = study.resolved_shard("default", "tile", "edge", "vgg")
    fusion = study.resolved_shard("default", "fusion", "edge", "vgg")
    assert set(tile) - set(fusion) == {"tiles_per_kernel"}
    assert set(fusion) - set(tile) == {"configurations"}
    assert tile["hardware"]["datapath"]["global_buffer_bytes"] == 4 * 1024 * 1024


def test_resolved_model_names_its_programs(tmp_path: Path):
    model = study_of(tmp_path, SOUND).resolved_model("timer")
    assert sorted(model["split"]) == ["test", "train", "validation"]
    assert model["families"] == {"mobilenet-v2": "mobilenet", "resnet": "resnet", "vgg": "vgg"}
    assert model["hardware"] == ["edge", "tpu-v3"]
    assert (model["join"], model["loss"], model["knowledge"]) == ("middle", "log-mse", "ratio")


def test_the_first_model_of_an_evaluation_stays_first(tmp_path: Path):
    study = study_of(tmp_path, SOUND.replace("[ranker, timer]", "[timer, ranker]"))
    assert [model["id"] for model in study.resolved_evaluation("accuracy")["models"]] == ["timer", "ranker"]


def test_a_search_keeps_the_whole_table_where_it_says_nothing(tmp_path: Path):
    """The table has 4.83e13 points (the product of its counts, 9^5 x 5 x 2 x 11^3 x 3 x 8^3 x 10 x 4)."""
    space = study_of(tmp_path, SOUND).resolved_search("mobile", 1)["space"]
    assert space == DEFAULT_SPACE
    assert list(space) == list(DEFAULT_SPACE)
    points = 1
    for values in space.values():
        points *= len(values)
    assert points == 9**5 * 5 * 2 * 11**3 * 3 * 8**3 * 10 * 4


def test_a_restricted_space_is_in_the_order_of_the_table(tmp_path: Path):
    text = SOUND.replace("baseline: tpu-v3", "baseline: tpu-v3, space: {l1_input_bytes: [8 KiB, 1024]}")
    assert study_of(tmp_path, text).resolved_search("mobile", 2)["space"]["l1_input_bytes"] == [1024, 8192]


def test_a_named_split_is_kept(tmp_path: Path):
    split = "split: {train: [vgg], validation: [resnet], test: [mobilenet-v2]}"
    study = study_of(tmp_path, SOUND.replace("workloads: all", split))
    assert study.split("default") == {"train": ["vgg"], "validation": ["resnet"], "test": ["mobilenet-v2"]}


def test_a_split_by_program_keeps_an_architecture_together(tmp_path: Path):
    """Five programs of three architectures, two families: batches and modes of one network go together, relatives may
    part."""
    text = """\
workloads:
  small: {keras: VGG16}
  large: {keras: VGG16, batch: 64}
  training: {keras: VGG16, mode: training}
  deep: {keras: VGG19}
  own: {keras: ResNet50, architecture: mine}
hardware: {tpu-v3: {base: tpu-v3}}
datasets: {default: {split: {by: program, test: 0.2, validation: 0.2}}}
"""
    split = study_of(tmp_path, text).split("default")
    assert split["train"] == ["large", "small", "training"]
    assert sorted(split["validation"] + split["test"]) == ["deep", "own"]


SPLITS = "default: {splits: {swapped: {train: [resnet], validation: [vgg], test: [mobilenet-v2]}}}"


def test_models_and_evaluations_of_another_split_share_the_dataset(tmp_path: Path):
    text = SOUND.replace("default: {workloads: all}", SPLITS).replace(
        "dataset: default}", "dataset: default, split: swapped}"
    )
    study = study_of(tmp_path, text)
    expected = {"train": ["resnet"], "validation": ["vgg"], "test": ["mobilenet-v2"]}
    assert study.resolved_model("ranker")["split"] == expected
    assert study.resolved_evaluation("accuracy")["split"] == {"default": expected}
    plain = study_of(tmp_path, SOUND)
    assert study.resolved_shard("default", "tile", "edge", "vgg") == plain.resolved_shard(
        "default", "tile", "edge", "vgg"
    )


def test_an_unknown_split_is_answered_with_the_nearest(tmp_path: Path):
    wrong = SOUND.replace("dataset: default}\n  timer", "dataset: default, split: swaped}\n  timer")
    (message,) = messages_of(tmp_path, wrong)
    assert message.endswith("got 'swaped'; dataset 'default' has no splits beside its split; leave the key out")
    found = messages_of(tmp_path, wrong.replace("default: {workloads: all}", SPLITS))
    assert found[0].split(": ", 1)[1].startswith("models.ranker.split: got 'swaped'; allowed: swapped")


def test_an_evaluation_has_one_split_a_dataset(tmp_path: Path):
    text = SOUND.replace("default: {workloads: all}", SPLITS).replace(
        "dataset: default}\nevaluations", "dataset: default, split: swapped}\nevaluations"
    )
    (message,) = messages_of(tmp_path, text)
    assert (
        "evaluations.accuracy.models.1: got 'timer' has split 'swapped', the models before it the dataset's" in message
    )


def test_the_parts_of_each_split_are_checked(tmp_path: Path):
    (message,) = messages_of(
        tmp_path, SOUND.replace("default: {workloads: all}", SPLITS.replace("[mobilenet-v2]", "[mobilnet]"))
    )[:1]
    assert "datasets.default.splits.swapped" in message


def test_a_study_made_in_python_is_checked_too():
    with pytest.raises(ValidationError, match="got 'nowhere'"):
        Study.model_validate({"searches": {"s": {"workloads": ["nowhere"], "baseline": "nowhere"}}})


def test_a_study_is_immutable(tmp_path: Path):
    with pytest.raises(ValidationError):
        study_of(tmp_path, SOUND).seed = 3


def test_fewer_training_programs_change_nothing_else(tmp_path: Path):
    text = SOUND.replace(
        "vgg: {keras: VGG16}", "vgg: {keras: VGG16}\n  vgg19: {keras: VGG19}\n  xception: {keras: Xception}"
    )
    fewer = text.replace("ranker: {task: tile,", "ranker: {task: tile, train_programs: 1, train_rows: 0.5,")
    whole, part = (study_of(tmp_path, one).resolved_model("ranker") for one in (text, fewer))
    assert len(part["split"]["train"]) == 1
    assert set(part["split"]["train"]) < set(whole["split"]["train"])
    assert (part["split"]["validation"], part["split"]["test"]) == (
        whole["split"]["validation"],
        whole["split"]["test"],
    )
    assert part["train_rows"] == 0.5
    assert "train_rows" not in whole


def test_more_training_programs_than_there_are_is_answered_in_words(tmp_path: Path):
    text = SOUND.replace("ranker: {task: tile,", "ranker: {task: tile, train_programs: 9,")
    (message,) = messages_of(tmp_path, text)
    assert "models.ranker.train_programs: got 9; allowed: 1 to 1, the programs of the split's training part" in message
