"""Every profile that ships plans a study, and says of rules only what is true of them."""

import re

import pytest
import yaml

from tests.workflow.run_snakemake import ROOT, snakemake

TINY = ROOT / "workflow" / "studies" / "tiny.yaml"
PROFILES = sorted(folder.name for folder in (ROOT / "profiles").iterdir())
RULES = set(re.findall(r"^rule (\w+):", "\n".join(f.read_text() for f in (ROOT / "rules").glob("*.smk")), re.MULTILINE))


def profile(name: str) -> dict:
    (file,) = (ROOT / "profiles" / name).iterdir()
    return yaml.safe_load(file.read_text())


@pytest.mark.parametrize("name", PROFILES)
def test_a_dry_run(tmp_path, name):
    if profile(name).get("executor") == "slurm":
        pytest.importorskip("snakemake_executor_plugin_slurm", reason="`make` installs what requirements.lock says")
    done = snakemake(tmp_path, TINY, "--dry-run", "--quiet", "reason", profile=name)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert "Writing the report" in text


def test_progress_by_rule(tmp_path):
    pytest.importorskip("snakemake_logger_plugin_rich", reason="`make` installs what requirements.lock says")
    done = snakemake(tmp_path, TINY, "--dry-run", "--logger", "rich")
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert re.search(r"^ dataset +6 *$", text, re.MULTILINE)


def test_slurms_profile_names_rules_that_are_there_and_asks_for_memory_and_time_of_each():
    slurm = profile("slurm")
    assert set(slurm["set-resources"]) | set(slurm["set-threads"]) <= RULES
    for rule, resources in {"default": slurm["default-resources"], **slurm["set-resources"]}.items():
        assert {"mem_mb", "runtime"} <= set(resources), rule
    assert [rule for rule, resources in slurm["set-resources"].items() if "gpu" in resources] == ["model"]
    assert slurm["slurm-status-command"] == "squeue"


def test_every_profile_judges_staleness_alike():
    """One that lacks these lines reruns copied results, or stops at a job that was killed."""
    default = profile("default")
    for name in PROFILES:
        for key in ("rerun-triggers", "rerun-incomplete", "scheduler"):
            assert profile(name)[key] == default[key], f"{name}: {key}"
