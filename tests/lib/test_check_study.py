"""`python -m lib.check_study` answers what Snakemake would answer with less."""

from pathlib import Path

import pytest

from lib.check_study import main
from schemas import device_packages
from tests.schemas.test_measure import STUDY

TINY = Path(__file__).parents[2] / "workflow" / "studies" / "tiny.yaml"


def test_a_good_study_passes_silently(capsys):
    assert main([str(TINY)]) == 0
    assert capsys.readouterr() == ("", "")


def test_packages_that_are_missing_are_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(device_packages, "_is_installed", lambda package: False)
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    assert main([str(study)]) == 1
    assert f"{study}: hardware.tiles-here.runtime: iree needs" in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, "hello", "- a\n", "workloads:\n\ta: {keras: VGG16}\n"])
def test_what_is_no_study_is_answered_with_its_path(tmp_path, capsys, content):
    study = tmp_path / "my study.yaml"
    if content is not None:
        study.write_text(content)
    assert main([str(study)]) == 1
    assert str(study) in capsys.readouterr().err
