"""Tilewright as a module of another workflow, in another directory."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.fidelity_artifact import FidelityArtifact
from tests.workflow.run_snakemake import ROOT

THEIRS = f"""\
module tilewright:
    snakefile: {str(ROOT / "Snakefile")!r}
    config: config["tilewright"]


use rule * from tilewright as tilewright_*


rule all:
    default_target: True
    input: "gain.txt"


rule gain:
    input: summary=rules.tilewright_report.output.summary
    output: "gain.txt"
    shell: "cp {{input}} {{output}}"
"""


RULES_OF_ROWS = """\
rule all:
    default_target: True
    input: "rows.txt"


rule rows:
    input: "results/ours/fidelity/peers/figures.parquet"
    output: "rows.txt"
    script: "rows.py"
"""


def plan(folder: Path, before: str = "", config: str = "tilewright: {study: our studies/tiny.yaml}") -> str:
    """What Snakemake says to a dry run of a workflow that imports Tilewright."""
    (folder / "our studies").mkdir(parents=True)
    shutil.copy(ROOT / "workflow" / "studies" / "tiny.yaml", folder / "our studies")
    (folder / "Snakefile").write_text(before + 'configfile: "config.yaml"\n' + THEIRS)
    (folder / "config.yaml").write_text(config + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "host"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_its_rules_come_before_theirs(tmp_path):
    text = plan(
        tmp_path / "another work flow", config="tilewright: {study: our studies/tiny.yaml, results: results/ours}"
    )
    counts = dict(re.findall(r"^(tilewright_\w+|gain) +(\d+)$", text, re.MULTILINE))
    assert counts["tilewright_program"] == "3", text
    assert counts["tilewright_dataset"] == "6"
    assert counts["tilewright_report"] == counts["gain"] == "1"
    assert "input: results/ours/report/summary.json" in text


def test_its_jobs_run(tmp_path):
    """One job of a few seconds and theirs after it, whose script has no Tilewright in its path."""
    folder = tmp_path / "another work flow"
    (folder / "our studies").mkdir(parents=True)
    (folder / "our studies" / "peers.yaml").write_text("fidelity: {peers: {sources: [scalesim]}}\n")
    (folder / "config.yaml").write_text("tilewright: {study: our studies/peers.yaml, results: results/ours}\n")
    (folder / "rows.py").write_text(
        "import pandas\n\nrows = len(pandas.read_parquet(snakemake.input[0]))\n"
        "open(snakemake.output[0], 'w').write(str(rows))\n"
    )
    theirs = THEIRS.partition("rule all:")[0] + RULES_OF_ROWS
    (folder / "Snakefile").write_text('configfile: "config.yaml"\n' + theirs)
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "host"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = FidelityArtifact.read(folder / "results" / "ours" / "fidelity" / "peers")["figures.parquet"]
    assert int((folder / "rows.txt").read_text()) == len(figures) > 0


@pytest.mark.parametrize(
    ("before", "config", "message"),
    [
        ("", "tilewright: {}", 'A module of Tilewright needs its study: config: {"study": "path/to/study.yaml"}'),
        ("", "tilewright: {study: none.yaml}", "none.yaml: there is no such study file"),
        ("import lib\n", "tilewright: {study: our studies/tiny.yaml}", "a workflow that uses Tilewright as a module "
         "can't have a package `lib`"),
    ],
    ids=["no study", "a study that isn't there", "a package lib of theirs"],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path, before, config, message):
    folder = tmp_path / "another work flow"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "__init__.py").touch()
    assert message in " ".join(plan(folder, before, config).split())
