"""Hardware by name, and what is said of variants that a model doesn't know."""

import pytest

from lib.prediction.asked_hardware import AskedHardware, hardware_named, training_note
from schemas.study_file import StudyError
from tests.datapath_examples import tpu_v3
from tests.lib.prediction.model_folders import RUNTIMES, twice_the_estimate

STUDY = """\
hardware:
  edge: {base: tpu-v3, datapath: {clock: 0.8 GHz, cores: 1}}
  tpu-v2: {base: tpu-v2, datapath: {clock: 0.5 GHz}}
  many: {base: tpu-v3, sample: {count: 2, ranges: {clock: [0.6 GHz, 1.2 GHz]}}}
"""


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(STUDY)
    return file


@pytest.fixture(scope="module")
def model():
    return twice_the_estimate(RUNTIMES)


def test_a_preset_or_a_variant_of_the_study(study):
    assert hardware_named("tpu-v3").datapath.clock_hz == 0.94e9
    assert hardware_named("edge", study).datapath.clock_hz == 0.8e9
    assert hardware_named("tpu-v2", study).datapath.clock_hz == 0.5e9  # the study's hides the preset
    assert hardware_named("fast-large", study).id == "fast-large"


def test_an_unknown_name_is_answered_with_the_nearest(study):
    with pytest.raises(ValueError, match=r"no preset is called 'tpuv3'.*did you mean 'tpu-v3'.*--study"):
        hardware_named("tpuv3")
    with pytest.raises(ValueError, match=r"neither .*study.yaml nor the presets have hardware 'edgy'.*'edge'"):
        hardware_named("edgy", study)


def test_sampled_variants_go_by_their_own_id(study):
    assert 0.6e9 <= hardware_named("many-1", study).datapath.clock_hz <= 1.2e9
    with pytest.raises(ValueError, match=r"'many'; allowed: .*many-1, many-2"):
        hardware_named("many", study)


def test_a_broken_study_says_where(study):
    study.write_text("hardware: {edge: {base: tpu-v33}}\n")
    with pytest.raises(StudyError, match=r"study.yaml:1: hardware.edge.base"):
        hardware_named("edge", study)


def test_nothing_is_said_of_hardware_of_the_training(model):
    assert training_note(model, AskedHardware("tpu-v3", tpu_v3())) is None


def test_another_variant_and_what_never_varied(model):
    note = training_note(model, AskedHardware("slow", tpu_v3(clock_hz=0.47e9)))
    assert "trained on tpu-v3, not on slow" in note
    assert "never varied and differ here: clock_hz, peak_flops_per_s" in note
    assert "dram_channels" not in note


def test_another_variant_of_the_same_name(model):
    note = training_note(model, AskedHardware("tpu-v3", tpu_v3(dram_channels=16)))
    assert note.startswith("model 'fusion-time' was trained on another hardware variant called tpu-v3; ")
    assert note.endswith("differ here: dram_channels")


def test_what_lies_far_from_training(model):
    mean, scale = (array.copy() for array in model.scaling.kernel)
    place = model.features.kernel.index("dram_channels")  # log2(1 + 32) = 5.04
    mean[place], scale[place] = 4.0, 10.0
    varied = twice_the_estimate(RUNTIMES)
    varied.scaling = varied.scaling._replace(kernel=(mean, scale))
    note = training_note(varied, AskedHardware("tpu-v3", tpu_v3()))
    assert note.endswith("far from all training values: dram_channels")
