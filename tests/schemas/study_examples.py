"""A small sound study as text, for tests that change it."""

from pathlib import Path

import pytest

from schemas.study import Study
from schemas.study_file import StudyError, load_study

SOUND = """\
workloads:
  mobilenet-v2: {keras: MobileNetV2, batch: 16}
  resnet: {keras: ResNet50V2}
  vgg: {keras: VGG16}
hardware:
  tpu-v3: {base: tpu-v3}
  edge: {base: tpu-v3, datapath: {cores: 1, global_buffer: 4 MiB}}
datasets:
  default: {workloads: all}
models:
  ranker: {task: tile, dataset: default}
  timer: {task: fusion, dataset: default}
evaluations:
  accuracy: {models: [ranker, timer]}
searches:
  mobile: {workloads: [mobilenet-v2], baseline: tpu-v3}
"""


def study_of(folder: Path, text: str) -> Study:
    """The study that `text` says."""
    file = folder / "study.yaml"
    file.write_text(text, encoding="utf-8")
    return load_study(file)


def messages_of(folder: Path, text: str, overrides: dict | None = None) -> list[str]:
    """The problems of a study, a line each, without the file's folder."""
    file = folder / "study.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        load_study(file, overrides)
    return [line.replace(str(file), "study.yaml") for line in str(caught.value).splitlines()]
