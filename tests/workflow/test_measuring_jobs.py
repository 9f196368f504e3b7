"""Jobs that measure: one at a time, with nothing beside them, and none without the packages that it needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.device_packages import INSTALL, missing_packages
from schemas.study_file import load_study
from tests.workflow.run_snakemake import ROOT, snakemake

STUDY = """\
workloads: {a: {keras: VGG16}, b: {keras: ResNet50}, c: {keras: MobileNet}}
hardware: {here: {runtime: xla}}
datasets:
  kernels: {hardware: [here], tasks: [fusion], split: {train: [a], validation: [b], test: [c]}}
"""
JOBS = """
include: "{root}/rules/common.smk"

rule all:
    input: expand("done-{{number}}", number=range(3))

rule measure:
    output: "done-{{number}}"
    resources: measuring=1
    shell: "mkdir alone && sleep 0.3 && rmdir alone && touch {{output}}"
"""


def test_one_job_measures_at_a_time_without_a_profile_too(tmp_path: Path):
    """Each job makes a folder that may not be there."""
    (tmp_path / "Snakefile").write_text(JOBS.format(root=ROOT))
    (tmp_path / "study.yaml").write_text("seed: 1\n")
    command = [sys.executable, "-m", "snakemake", "--cores", "3", "--configfile", "study.yaml"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("done-*"))) == 3


def test_missing_packages_are_told_before_any_job_starts(tmp_path: Path):
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    missing = missing_packages(load_study(study))
    if not missing:
        pytest.skip("the packages are installed")
    done = snakemake(tmp_path, study, "datasets")
    assert done.returncode == 1
    assert (
        f"{study}: hardware.here.runtime: xla needs jax and jaxlib, which are not installed; {INSTALL}" in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()
    assert snakemake(tmp_path, study, "datasets", "--dry-run").returncode == 0
