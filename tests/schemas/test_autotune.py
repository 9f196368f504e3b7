"""The `autotune:` section: what is refused in words, and what the rule gets."""

from pathlib import Path

import pytest

from schemas.study_file import StudyError, load_study
from tests.schemas.study_examples import SOUND

MORE = """\
models:
  ranker: {task: tile, dataset: default}
  trees: {kind: boosted-trees, task: tile, dataset: default}
  tile-timer: {task: tile, dataset: default, loss: log-mse, hardware: [tpu-v3]}
  timer: {task: fusion, dataset: default}
  average: {average: [ranker, tile-timer]}
"""
WITH_MODELS = SOUND[: SOUND.index("models:\n")] + MORE + SOUND[SOUND.index("evaluations:\n") :]


def study_of(tmp_path: Path, autotune: str):
    file = tmp_path / "study.yaml"
    file.write_text(WITH_MODELS + f"autotune:\n  best: {autotune}\n")
    return load_study(file)


def problem_of(tmp_path: Path, autotune: str) -> str:
    with pytest.raises(StudyError) as error:
        study_of(tmp_path, autotune)
    return str(error.value)


@pytest.mark.parametrize(
    ("autotune", "message"),
    [
        ("{hardware: tpu-v4, tile_models: [ranker]}", "autotune.best.hardware: got 'tpu-v4'; allowed: tpu-v3, edge"),
        ("{hardware: tpu-v3, tile_models: [rankr]}", "autotune.best.tile_models.0: got 'rankr'"),
        ("{hardware: tpu-v3, tile_models: [rankr]}", "did you mean 'ranker'?"),
        ("{hardware: tpu-v3, tile_models: [timer]}", "'timer' learns the fusion task"),
        ("{hardware: tpu-v3, task: fusion, fusion_models: [ranker]}", "predicts no seconds"),
        ("{hardware: tpu-v3, task: fusion, fusion_models: [trees]}", "predicts no seconds"),
        ("{hardware: tpu-v3, task: fusion, fusion_models: [average]}", "predicts no seconds"),
        ("{hardware: tpu-v3, fusion_models: [timer]}", "autotune.best.fusion_models: not with task tiles"),
        ("{hardware: tpu-v3, task: fusion, tile_models: [ranker]}", "autotune.best.tile_models: not with task fusion"),
        ("{hardware: tpu-v3, tile_models: [ranker], budgets_s: []}", "autotune.best.budgets_s: got []"),
        ("{hardware: tpu-v3, tile_models: [ranker], budgets_s: [0]}", "autotune.best.budgets_s.0: got 0"),
        (
            "{hardware: tpu-v3, tile_models: [ranker], budgets_s: [60, 0.5]}",
            "autotune.best.budgets_s.1: got 0.5 is spent before one kernel is compiled, which takes 1 s",
        ),
        ("{hardware: tpu-v3, tile_models: [ranker], top: []}", "autotune.best.top: got []"),
        ("{hardware: tpu-v3, tile_models: [ranker], compile_costs_s: [-1]}", "autotune.best.compile_costs_s.0: got -1"),
        ("{hardware: tpu-v3}", "autotune.best.workloads: missing"),
        ("{hardware: tpu-v3, workloads: [vg], tile_models: [ranker]}", "did you mean 'vgg'?"),
    ],
)
def test_refused_in_words(tmp_path: Path, autotune: str, message: str):
    assert message in problem_of(tmp_path, autotune)


def test_a_model_of_seconds_may_steer_fusion(tmp_path: Path):
    study = study_of(tmp_path, "{hardware: edge, task: both, tile_models: [average], fusion_models: [tile-timer]}")
    (workload, *_) = study.autotuned_workloads("best")
    spec = study.resolved_autotune("best", workload)
    assert spec["hardware"]["id"] == "edge"
    assert spec["tile_models"][0]["members"] == ["ranker", "tile-timer"]
    assert spec["fusion_models"][0]["hardware"] == ["tpu-v3"]


def test_by_default_the_test_programs_of_the_models(tmp_path: Path):
    study = study_of(tmp_path, "{hardware: tpu-v3, tile_models: [ranker]}")
    assert study.autotuned_workloads("best") == study.split("default")["test"]


def test_workloads_alone_are_enough(tmp_path: Path):
    study = study_of(tmp_path, "{hardware: tpu-v3, workloads: [vgg]}")
    assert study.autotuned_workloads("best") == ["vgg"]
    assert study.resolved_autotune("best", "vgg")["tile_models"] == []
