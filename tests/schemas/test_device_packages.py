"""Packages that a study's devices need."""

from pathlib import Path

import pytest

from schemas import device_packages
from schemas.device_packages import missing_packages
from tests.schemas.study_examples import SOUND, study_of
from tests.schemas.test_measure import STUDY


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of the packages that are there."""
    names = {"jax"}
    monkeypatch.setattr(device_packages, "_is_installed", names.__contains__)
    return names


def test_what_is_missing_is_told_with_its_remedy(tmp_path: Path, installed: set[str]):
    xla, iree = "hardware.kernels-here.runtime: xla needs ", "hardware.tiles-here.runtime: iree needs "
    assert missing_packages(study_of(tmp_path, STUDY)) == [
        f"{xla}jaxlib, which is not installed; {device_packages.INSTALL}",
        f"{iree}iree-base-compiler and iree-base-runtime, which are not installed; {device_packages.INSTALL}",
    ]
    assert "make devices" in device_packages.INSTALL
    assert "-r requirements-devices.lock" in device_packages.INSTALL
    installed |= {"jaxlib", "iree-base-compiler", "iree-base-runtime"}
    assert missing_packages(study_of(tmp_path, STUDY)) == []


def test_only_devices_that_something_is_measured_on_need_them(tmp_path: Path, installed: set[str]):
    entry = "hardware:\n  here: {base: tpu-v3, runtime: iree}\n"
    unused = SOUND.replace("hardware:\n", entry).replace("workloads: all", "")
    unused = unused.replace("keras: VGG16", "keras: VGG16, sizing: as-traced")
    assert missing_packages(study_of(tmp_path, SOUND)) == []
    assert missing_packages(study_of(tmp_path, unused)) == []
    tuned = "autotune:\n  here: {hardware: here, workloads: [vgg]}\n"
    assert len(missing_packages(study_of(tmp_path, unused + tuned))) == 1
