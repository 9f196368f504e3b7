"""Broken studies: every kind of error in words, with line, key, value, what is allowed, and the nearest name."""

from pathlib import Path

import pytest

from tests.schemas.study_examples import SOUND, messages_of, study_of

EVERYTHING_WRONG = """\
seeed: 1
workloads:
  mobilenet-v2: {keras: MobilNetV2, batch: 16}
  resnet: {keras: ResNet50V2, batch: many}
  vgg: {keras: VGG16}
  vgg: {keras: VGG19}
hardware:
  edge: {base: tpuv3, datapath: {clock: 0.9 GH}}
datasets:
  default: {workloads: [vgg, resnt], split: {by: family, tst: 0.2}}
models:
  ranker: {dataset: defalt, task: tiles}
evaluations:
  accuracy: {models: [rnker]}
searches:
  mobile: {workloads: [vgg], baseline: tpu-v3, space: {pes_x: [2.5]}}
"""


def test_all_problems_at_once_sorted_by_line(tmp_path: Path):
    messages = messages_of(tmp_path, EVERYTHING_WRONG)
    places = [message.split(": ")[:2] for message in messages]
    assert places == [
        ["study.yaml:1", "seeed"],
        ["study.yaml:3", "workloads.mobilenet-v2.keras"],
        ["study.yaml:4", "workloads.resnet.batch"],
        ["study.yaml:6", "workloads.vgg"],
        ["study.yaml:8", "hardware.edge.base"],
        ["study.yaml:8", "hardware.edge.datapath.clock"],
        ["study.yaml:10", "datasets.default.workloads.1"],
        ["study.yaml:10", "datasets.default.split.tst"],
        ["study.yaml:12", "models.ranker.dataset"],
        ["study.yaml:12", "models.ranker.task"],
        ["study.yaml:14", "evaluations.accuracy.models.0"],
        ["study.yaml:16", "searches.mobile.baseline"],
        ["study.yaml:16", "searches.mobile.space.pes_x.0"],
    ]
    text = "\n".join(messages)
    assert "pydantic" not in text
    assert "Input should" not in text


def replaced(old: str, new: str) -> str:
    assert old in SOUND
    return SOUND.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            replaced("global_buffer: 4 MiB", "clock: 0.9 GH"),
            "study.yaml:7: hardware.edge.datapath.clock: got '0.9 GH'; allowed: a frequency such as 0.94 "
            "GHz, in Hz, kHz, MHz, GHz",
            id="unit",
        ),
        pytest.param(
            replaced("global_buffer: 4 MiB", "clock: 0.94"),
            "study.yaml:7: hardware.edge.datapath.clock: got 0.94; allowed: a frequency such as 0.94 GHz, in Hz, "
            "kHz, MHz, GHz; the unit is missing",
            id="forgotten unit",
        ),
        pytest.param(
            replaced("keras: VGG16}", "keras: VGG16, modus: training}"),
            "study.yaml:4: workloads.vgg.modus: unknown key; allowed: keras, builder, saved_model, "
            "keras_file, hlo, stablehlo, arguments, "
            "input_shape, mode, batch, batches, family, architecture, trip_count, sizing; did you mean 'mode'?",
            id="unknown key",
        ),
        pytest.param(
            replaced("task: tile, ", ""),
            "study.yaml:11: models.ranker.task: missing; allowed: tile, fusion (What it predicts: `tile` "
            "ranks the tiles of a kernel, `fusion` predicts a kernel's runtime)",
            id="missing key",
        ),
        pytest.param(
            replaced("keras: VGG16}", "keras: VGG16, mode: train}"),
            "study.yaml:4: workloads.vgg.mode: got 'train'; allowed: inference, training; did you mean 'training'?",
            id="literal",
        ),
        pytest.param(
            replaced("batch: 16", "batch: '16'"),
            "study.yaml:2: workloads.mobilenet-v2.batch: got '16'; allowed: a whole number",
            id="number as text",
        ),
        pytest.param(
            replaced("batch: 16", "batch: 0"),
            "study.yaml:2: workloads.mobilenet-v2.batch: got 0; allowed: at least 1",
            id="range",
        ),
        pytest.param(
            replaced("batch: 16", "batch: true"),
            "study.yaml:2: workloads.mobilenet-v2.batch: got true; allowed: a whole number",
            id="boolean as number",
        ),
        pytest.param(
            replaced("task: tile, dataset", "learning_rate: .inf, task: tile, dataset"),
            "study.yaml:11: models.ranker.learning_rate: got Infinity; allowed: a finite number",
            id="infinite",
        ),
        pytest.param(
            replaced("  vgg:", "  VGG_16:"),
            "study.yaml:4: workloads.VGG_16: got 'VGG_16'; allowed: an id of lower-case letters, digits "
            "and hyphens that starts with a letter",
            id="id",
        ),
        pytest.param(
            replaced("  vgg:", "  all:"),
            "study.yaml:4: workloads.all: got 'all'; allowed: an id other than all, which means every entry",
            id="id all",
        ),
        pytest.param(
            replaced("task: tile, dataset: default", "task: tile, dataset: all"),
            "study.yaml:11: models.ranker.dataset: got 'all'; allowed: default",
            id="all where one is meant",
        ),
        pytest.param(
            replaced("workloads: all", "split: 0.3"),
            "study.yaml:9: datasets.default.split: got 0.3; allowed: a mapping with the keys by, test, validation",
            id="split that is no mapping",
        ),
        pytest.param(
            replaced("keras: VGG16", "keras: vgg16"),
            "study.yaml:4: workloads.vgg.keras: got 'vgg16'; allowed: a model of keras.applications, one "
            "of 40 names, among them VGG16, VGG19; did you mean 'VGG16'?",
            id="keras name",
        ),
        pytest.param(
            replaced("keras: VGG16", "batch: 2"),
            "study.yaml:4: workloads.vgg: no source given; allowed: exactly one of keras, builder, "
            "saved_model, keras_file, hlo, stablehlo",
            id="no source",
        ),
        pytest.param(
            replaced("keras: VGG16", "keras: VGG16, hlo: vgg.pb"),
            "study.yaml:4: workloads.vgg: keras and hlo given; allowed: exactly one of keras, builder, "
            "saved_model, keras_file, hlo, stablehlo",
            id="two sources",
        ),
        pytest.param(
            replaced("keras: VGG16", "keras: VGG16, arguments: {weights: imagenet}"),
            "study.yaml:4: workloads.vgg.arguments.weights: not allowed: models are built without "
            "weights, as costs don't depend on them",
            id="weights",
        ),
        pytest.param(
            replaced("keras: VGG16", "builder: lambda"),
            "study.yaml:4: workloads.vgg.builder: got 'lambda'; allowed: package.module:function, a "
            "Python function that returns a Keras model or (callable, list of tf.TensorSpec)",
            id="builder",
        ),
        pytest.param(
            replaced("keras: VGG16", "builder: 'no_such_package.module:function'"),
            "study.yaml:4: workloads.vgg.builder: got 'no_such_package.module:function'; allowed: a "
            "module in the repository or beside the study file",
            id="builder's module",
        ),
        pytest.param(
            replaced("  tpu-v3: {base: tpu-v3}", "  tpu-v3: {base: tpu-v4}"),
            "study.yaml:6: hardware.tpu-v3.base: got 'tpu-v4'; allowed: tpu-v2, tpu-v3, fast-large, "
            "fast-small, local-cpu, edge; did you mean 'tpu-v3'?",
            id="base",
        ),
        pytest.param(
            replaced("  tpu-v3: {base: tpu-v3}", "  tpu-v3: {base: other}\n  other: {base: tpu-v3}").replace(
                "edge: {base: tpu-v3", "edge: {base: tpu-v2"
            ),
            "study.yaml:6: hardware.tpu-v3.base: the bases go in a circle: tpu-v3 -> other -> tpu-v3; "
            "allowed: a chain that ends at a preset (tpu-v2, tpu-v3, fast-large, fast-small, local-cpu)",
            id="circle",
        ),
        pytest.param(
            replaced("default: {workloads: all}", "default: {workloads: [mobilenet, vgg]}"),
            "study.yaml:9: datasets.default.workloads.0: got 'mobilenet'; allowed: mobilenet-v2, resnet, "
            "vgg; did you mean 'mobilenet-v2'?",
            id="workload of a dataset",
        ),
        pytest.param(
            replaced("default: {workloads: all}", "default: {hardware: [tpu-v3, tpu-v3]}"),
            'study.yaml:9: datasets.default.hardware: got ["tpu-v3", "tpu-v3"]; allowed: each id once '
            "(tpu-v3 is listed more than once)",
            id="listed twice",
        ),
        pytest.param(
            replaced("default: {workloads: all}", "default: {workloads: [resnet, vgg]}"),
            "study.yaml:9: datasets.default.split: a split by family needs at least 3 families, there are"
            " 2: resnet, vgg; add workloads of other families, or name train, validation and test",
            id="too few families",
        ),
        pytest.param(
            replaced("workloads: all", "split: {test: 0.6, validation: 0.5}"),
            "study.yaml:9: datasets.default.split: test and validation together are 1.1; allowed: less than 1",
            id="shares",
        ),
        pytest.param(
            replaced("workloads: all", "split: {train: [vgg], validation: [resnet], test: [vgg, mobilenet-v2]}"),
            "study.yaml:9: datasets.default.split.test: 'vgg' is in train already; allowed: one place a workload",
            id="two places",
        ),
        pytest.param(
            replaced("workloads: all", "split: {train: [vgg], validation: [resnet], test: [mobilenet]}"),
            "study.yaml:9: datasets.default.split.test.0: got 'mobilenet' is no workload of the dataset; "
            "allowed: mobilenet-v2, resnet, vgg; did you mean 'mobilenet-v2'?",
            id="unknown in split",
        ),
        pytest.param(
            replaced("workloads: all", "split: {train: [vgg], validation: [resnet]}"),
            "study.yaml:9: datasets.default.split.test: missing; Workloads that are scored once",
            id="part of a split missing",
        ),
        pytest.param(
            replaced("task: tile, dataset: default", "task: tile, dataset: defaults"),
            "study.yaml:11: models.ranker.dataset: got 'defaults'; allowed: default; did you mean 'default'?",
            id="dataset of a model",
        ),
        pytest.param(
            replaced("workloads: all", "tasks: [tile]"),
            "study.yaml:12: models.timer.task: got 'fusion'; allowed: tile (the tasks of dataset 'default')",
            id="task",
        ),
        pytest.param(
            replaced("workloads: all", "hardware: [tpu-v3]").replace("task: tile,", "task: tile, hardware: [edge],"),
            "study.yaml:11: models.ranker.hardware.0: got 'edge' is not in dataset 'default'; allowed: tpu-v3",
            id="hardware of a model",
        ),
        pytest.param(
            replaced("task: fusion,", "task: fusion, knowledge: off, join: late,"),
            "study.yaml:12: models.timer.join: got 'late'; allowed: leave it out, since knowledge: off gives the model "
            "no tile",
            id="join without a tile",
        ),
        pytest.param(
            replaced("task: fusion,", "task: fusion, knowledge: off, tile_features: raw,"),
            "study.yaml:12: models.timer.tile_features: got 'raw'; allowed: leave it out, since knowledge: off gives "
            "the model no tile",
            id="raw without a tile",
        ),
        pytest.param(
            replaced("task: fusion,", "task: fusion, loss: {log-mse: 1, listmle: 0.1},"),
            "study.yaml:12: models.timer.loss: got 'listmle'; allowed: log-mse (a rank loss compares the tiles of a "
            "kernel, and the fusion task has one tile a kernel)",
            id="rank loss in the fusion task",
        ),
        pytest.param(
            replaced("task: tile,", "task: tile, loss: pairwise-logstic,"),
            "study.yaml:11: models.ranker.loss: got 'pairwise-logstic'; allowed: pairwise-logistic, pairwise-hinge, "
            "listmle, centred-log-mse, log-mse; did you mean 'pairwise-logistic'?",
            id="unknown loss",
        ),
        pytest.param(
            replaced("task: tile,", "task: tile, loss: {listmle: 0},"),
            'study.yaml:11: models.ranker.loss: got {"listmle": 0}; allowed: weights that are numbers above 0',
            id="weight of a loss",
        ),
        pytest.param(
            replaced("task: tile,", "task: tile, loss: {},"),
            "study.yaml:11: models.ranker.loss: got {}; allowed: the name of a loss, or a mapping of names to weights",
            id="no loss",
        ),
        pytest.param(
            replaced("task: tile,", "task: tile, graph_network: none, edges: directed,"),
            "study.yaml:11: models.ranker.edges: only for graph_network graphsage or gat: without messages there is "
            "nothing to send along edges",
            id="edges without messages",
        ),
        pytest.param(
            replaced("task: tile,", "task: tile, knowledge: ratio,"),
            "study.yaml:11: models.ranker.knowledge: got 'ratio'; allowed: off, tile, analytical (a "
            "rank loss has no target to take the ratio of; loss: log-mse has)",
            id="ratio with a rank loss",
        ),
        pytest.param(
            replaced("[ranker, timer]", "[ranker, tmer]"),
            "study.yaml:14: evaluations.accuracy.models.1: got 'tmer'; allowed: ranker, timer; did you mean 'timer'?",
            id="model of an evaluation",
        ),
        pytest.param(
            replaced("baseline: tpu-v3", "baseline: tpu"),
            "study.yaml:16: searches.mobile.baseline: got 'tpu'; allowed: tpu-v3, edge; did you mean 'tpu-v3'?",
            id="baseline",
        ),
        pytest.param(
            replaced("baseline: tpu-v3", "baseline: tpu-v3, space: {global_buffer_bytes: [3 KiB]}"),
            "study.yaml:16: searches.mobile.space.global_buffer_bytes.0: got '3 KiB'; allowed: 0 or a size "
            "from 64 KiB to 4 GiB",
            id="space",
        ),
        pytest.param(
            SOUND + "autotune:\n  tile: {}\n",
            "study.yaml:18: autotune.tile.hardware: missing; The target: a hardware variant. Models that were not "
            "trained on it may be used, which the report says",
            id="autotune",
        ),
        pytest.param(
            SOUND + "results: 'a{b}'\n",
            "study.yaml:17: results: got 'a{b}'; allowed: text without braces and control characters, at "
            "least one character",
            id="results",
        ),
        pytest.param(
            SOUND + "seed: 1\nseed: 2\n",
            "study.yaml:18: seed: written twice, first on line 17; keep one",
            id="duplicate",
        ),
        pytest.param(
            replaced("  edge: {base: tpu-v3, datapath: {cores: 1, global_buffer: 4 MiB}}", "  edge: 5"),
            "study.yaml:7: hardware.edge: got 5; allowed: a mapping with the keys base, runtime, measure, datapath, "
            "sample",
            id="not a mapping",
        ),
    ],
)
def test_one_problem(tmp_path: Path, text: str, message: str):
    assert message in messages_of(tmp_path, text)


def test_several_combinations_of_one_entry(tmp_path: Path):
    messages = messages_of(
        tmp_path, replaced("task: fusion,", "task: fusion, tiles_per_kernel: 4, loss: pairwise-hinge,")
    )
    assert [message.split(": ")[1] for message in messages] == [
        "models.timer.loss",
        "models.timer.tiles_per_kernel",
    ]


def test_a_broken_entry_is_no_unknown_id_elsewhere(tmp_path: Path):
    messages = messages_of(tmp_path, replaced("keras: VGG16", "keras: VGG16, batch: 0"))
    assert messages == ["study.yaml:4: workloads.vgg.batch: got 0; allowed: at least 1"]


def test_a_broken_section_is_one_problem(tmp_path: Path):
    start = SOUND.index("hardware:")
    text = SOUND[:start] + "hardware: [tpu-v3]\n" + SOUND[SOUND.index("datasets:") :]
    messages = messages_of(tmp_path, text)
    assert messages == ['study.yaml:5: hardware: got ["tpu-v3"]; allowed: a mapping of keys and values']


def test_entries_without_what_they_need(tmp_path: Path):
    messages = messages_of(tmp_path, "datasets: {default: }\nsearches: {x: {workloads: all, baseline: tpu-v3}}\n")
    assert messages == [
        "study.yaml:1: datasets.default.workloads: the study has no workloads",
        "study.yaml:1: datasets.default.hardware: the study has no hardware",
        "study.yaml:2: searches.x.workloads: the study has no workloads",
        "study.yaml:2: searches.x.baseline: got 'tpu-v3'; the study has no hardware",
    ]


def test_a_datapath_without_base_needs_every_key(tmp_path: Path):
    messages = messages_of(tmp_path, "hardware:\n  own:\n    datapath: {clock: 1 GHz, cores: 1}\n")
    assert len(messages) == 1
    assert messages[0].startswith("study.yaml:3: hardware.own.datapath: missing pes_x, pes_y, systolic_rows, ")
    allowed = "tpu-v2, tpu-v3, fast-large, fast-small, local-cpu"
    assert messages[0].endswith(f"give every key, or a base (allowed: {allowed})")


def test_a_workload_file_must_exist_and_is_found_beside_the_study(tmp_path: Path):
    text = "workloads:\n  own: {hlo: module.pb}\n"
    (message,) = messages_of(tmp_path, text)
    assert message.startswith("study.yaml:2: workloads.own.hlo: got 'module.pb'; there is no file ")
    (tmp_path / "module.pb").touch()
    assert study_of(tmp_path, text).workloads["own"].hlo == "module.pb"


def test_an_hlo_file_is_of_no_use_for_a_search(tmp_path: Path):
    (tmp_path / "module.pb").touch()
    text = replaced("keras: MobileNetV2, batch: 16", "hlo: module.pb, family: mobilenet")
    assert messages_of(tmp_path, text) == [
        "study.yaml:16: searches.mobile.workloads.0: 'mobilenet-v2' is an HLO or StableHLO file; "
        "allowed: workloads of other sources (as designs differ in batch, and such a file has its own)"
    ]


def test_a_builder_is_found_beside_the_study(tmp_path: Path):
    (tmp_path / "own_models.py").write_text("def make(): ...\n")
    study_of(tmp_path, "workloads:\n  own: {builder: 'own_models:make'}\n")


def test_models_of_one_task_in_an_evaluation_share_a_dataset(tmp_path: Path):
    text = SOUND.replace("datasets:\n", "datasets:\n  other: {workloads: all}\n").replace(
        "models:\n", "models:\n  further: {dataset: other, task: tile}\n", 1
    )
    text = text.replace("models: [ranker, timer]", "models: [ranker, timer, further]")
    (message,) = [line for line in messages_of(tmp_path, text) if "study.yaml:" in line]
    assert "evaluations.accuracy.models[2]" in message or "evaluations.accuracy.models.2" in message
    assert "from dataset 'other', the models before it from 'default'" in message


def test_a_model_may_not_be_called_like_a_baseline(tmp_path: Path):
    text = SOUND.replace("ranker", "analytical")
    (message,) = [line for line in messages_of(tmp_path, text) if "study.yaml:" in line]
    assert "models.analytical" in message
    assert "allowed: any other id" in message
