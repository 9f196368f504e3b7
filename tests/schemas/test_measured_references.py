"""What a study may ask of hardware that is measured."""

import pytest

from schemas.study_file import StudyError, load_study

STUDY = """\
workloads:
  one: {{builder: "workflow.studies.builders:small_mlp", family: a, sizing: {sizing}}}
  two: {{builder: "workflow.studies.builders:small_mlp", family: b, sizing: {sizing}}}
  three: {{builder: "workflow.studies.builders:small_mlp", family: c, sizing: {sizing}}}
hardware:
  here: {{runtime: xla{base}}}
datasets:
  measured: {{hardware: [here], tasks: [fusion]}}
models:
  time: {{task: fusion, dataset: measured{knowledge}}}
autotune:
  fusion: {{hardware: here, task: fusion, fusion_models: [time]{costs}}}
"""


def load(tmp_path, sizing="as-traced", base=", base: local-cpu", knowledge="", costs=""):
    file = tmp_path / "study.yaml"
    file.write_text(STUDY.format(sizing=sizing, base=base, knowledge=knowledge, costs=costs))
    return load_study(file)


def test_a_described_device_is_tuned_at_what_compiling_truly_takes(tmp_path):
    study = load(tmp_path)
    assert study.resolved_autotune("fusion", "one")["compile_costs_s"] == [0.0]
    assert study.resolved_model("time")["origin"] == "measured"


def test_iree_takes_tiles_of_float32_products_alone(tmp_path):
    """XLA runs what it is given, which on a CPU is slow in bfloat16."""
    load(tmp_path, sizing="bfloat16")
    file = tmp_path / "study.yaml"
    file.write_text(
        STUDY.partition("models:")[0]
        .format(sizing="bfloat16", base="", knowledge="", costs="")
        .replace("xla", "iree")
        .replace("[fusion]", "[tile]")
    )
    with pytest.raises(StudyError, match=r"one, three, two: sizing: bfloat16 leaves no float32 product"):
        load_study(file)


def test_without_a_datapath_no_model_reads_estimates(tmp_path):
    with pytest.raises(StudyError, match=r"models.time.knowledge: got 'ratio'; allowed: off, or tile") as error:
        load(tmp_path, base="")
    assert "has no datapath, by which the strategy 'analytical' and the models judge" in str(error.value)


def test_the_cost_of_compiling_is_not_said_but_measured(tmp_path):
    with pytest.raises(StudyError, match=r"compile_costs_s: not allowed on hardware that is measured"):
        load(tmp_path, costs=", compile_costs_s: [1.0]")
