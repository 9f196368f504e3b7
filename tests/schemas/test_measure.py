"""Hardware that is measured: its settings, what goes with them, and where it may stand in a study."""

from pathlib import Path

import pytest

from tests.schemas.study_examples import messages_of, study_of

STUDY = """\
workloads:
  vgg: {keras: VGG16, sizing: as-traced}
  resnet: {keras: ResNet50, sizing: as-traced}
  mobilenet: {keras: MobileNet, sizing: as-traced}
hardware:
  v3: {base: tpu-v3}
  kernels-here: {runtime: xla, measure: {cores: [1, 0], batch: 8 ms}}
  tiles-here: {base: tpu-v3, runtime: iree, datapath: {cores: 1}}
datasets:
  kernels: {hardware: [kernels-here], tasks: [fusion]}
  tiles: {hardware: [tiles-here], tasks: [tile]}
  made: {}
models:
  timer: {task: fusion, dataset: kernels, knowledge: "off"}
  ranker: {task: tile, dataset: tiles}
  simulated: {task: tile, dataset: made}
evaluations:
  measured: {models: [timer, ranker]}
autotune:
  here: {hardware: tiles-here, tile_models: [ranker, simulated], workloads: [vgg]}
searches:
  chip: {workloads: [vgg], baseline: v3}
"""


def test_a_measured_entry_is_resolved_with_every_setting(tmp_path: Path):
    study = study_of(tmp_path, STUDY)
    assert study.resolved_hardware("kernels-here") == {
        "id": "kernels-here",
        "runtime": "xla",
        "datapath": None,
        "measure": {
            "platform": "cpu", "cores": [0, 1], "threads": 2, "batches": 20, "batch_s": 0.008, "visits": 4,
            "passes": 2,
            "timeout_s": 30.0, "noise_limit_pct": 3.0,
        },
    }  # fmt: skip
    tiles = study.resolved_hardware("tiles-here")
    assert (tiles["runtime"], tiles["datapath"]["cores"], tiles["measure"]["threads"]) == ("iree", 1, 1)
    assert study.measured_hardware() == ["kernels-here", "tiles-here"]
    assert set(study.resolved_hardware("v3")) == {"id", "runtime", "datapath"}


def test_measured_labels_have_datasets_of_their_own(tmp_path: Path):
    study = study_of(tmp_path, STUDY)
    assert [study.hardware_ids(id) for id in ("kernels", "tiles", "made")] == [["kernels-here"], ["tiles-here"], ["v3"]]
    assert [study.origin(id) for id in ("kernels", "tiles", "made")] == ["measured", "measured", "simulated"]
    assert study.resolved_model("timer")["origin"] == "measured"
    assert "origin" not in study.resolved_model("simulated")
    assert study.resolved_shard("tiles", "tile", "tiles-here", "vgg")["hardware"]["measure"]["platform"] == "cpu"


def test_studies_share_a_folder_of_measurements(tmp_path: Path):
    assert study_of(tmp_path, STUDY).measurements == "results/.measured"
    assert study_of(tmp_path, STUDY + "measurements: /fast/disk\n").measurements == "/fast/disk"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("runtime: xla", "runtime: xlaa"),
         "hardware.kernels-here.runtime: got 'xlaa'; allowed: simulated, recorded, xla, iree; did you mean 'xla'?"),
        (("batch: 8 ms", "batches: 0"), "hardware.kernels-here.measure.batches: got 0; allowed: at least 1"),
        (("batch: 8 ms", "batchs: 5"),
         "hardware.kernels-here.measure.batchs: unknown key; allowed: platform, cores, threads, batches, batch, "
         "visits, passes, timeout, noise_limit_pct; did you mean 'batches'?"),
        (("batch: 8 ms", "batch: 8"),
         "hardware.kernels-here.measure.batch: got 8; allowed: a time such as 5 us, in ns, µs, us, ms, s; the unit"),
        (("batch: 8 ms", "passes: 1"), "hardware.kernels-here.measure.passes: got 1; allowed: at least 2"),
        (("cores: [1, 0]", "cores: [1, 1]"),
         "hardware.kernels-here.measure.cores: got [1, 1]; allowed: a list of at least one item, each once"),
        (("batch: 8 ms", "threads: 3"),
         "hardware.kernels-here.measure.threads: got 3; allowed: at most 2, one a core of `cores`"),
        (("v3: {base: tpu-v3}", "v3: {base: tpu-v3, measure: {cores: [1]}}"),
         "hardware.v3.measure: not allowed with runtime: simulated, where nothing is measured; allowed with xla, iree"),
        (("runtime: xla", "runtime: xla, sample: {count: 2, ranges: {pes_x: [1, 4]}}"),
         "hardware.kernels-here.sample: not allowed with runtime: xla: a device that is really there can't be varied"),
        (("runtime: iree", "runtime: iree, measure: {platform: gpu}"),
         "hardware.tiles-here.measure.platform: got 'gpu'; allowed with runtime: iree: cpu"),
        (("runtime: xla", "runtime: xla, datapath: {pes_x: 1}"), ", or no key and no base"),
        (("tasks: [fusion]", "tasks: [tile, fusion]"),
         "datasets.kernels.tasks: got tile, fusion; allowed: [fusion] (hardware with runtime: xla measures no other)"),
        ((", tasks: [tile]", ""), "datasets.tiles.tasks: got tile, fusion; allowed: [tile]"),
        (("[kernels-here], tasks", "[kernels-here, v3], tasks"),
         "datasets.kernels.hardware.1: got 'v3' is simulated, the dataset xla; leave it out: the two never mix"),
        (("models: [timer, ranker]", "models: [timer, simulated]"),
         "evaluations.measured.models.1: got 'simulated' learns simulated runtimes, the models before it measured"),
        (("baseline: v3", "baseline: tiles-here"),
         "searches.chip.baseline: got 'tiles-here' is measured; allowed: a simulated one"),
        (("baseline: v3", "baseline: v3, surrogate: timer"),
         "searches.chip.surrogate: got 'timer', which learns measured runtimes, of devices that are there; allowed: "),
        (("hardware: tiles-here, tile_models: [ranker, simulated]", "hardware: kernels-here, tile_models: [ranker]"),
         "autotune.here.task: got 'tiles'; allowed on 'kernels-here': fusion, which is all that it measures"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_a_device_is_refused_in_words(change: tuple[str, str], message: str, tmp_path: Path):
    assert STUDY.replace(*change) != STUDY
    messages = messages_of(tmp_path, STUDY.replace(*change))
    assert any(message in line for line in messages), messages
