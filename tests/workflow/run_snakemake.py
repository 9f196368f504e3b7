"""Runs Snakemake as a person does, and reads what a dry run would do."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def snakemake(folder: Path, study: Path | None, *options: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake on `study` with `folder` as working directory; never raises."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--workflow-profile", str(ROOT / "profiles" / "default"), "--cores", "2", *options]
    if study is not None:
        command += ["--configfile", str(study)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "200"}
    )


def planned_jobs(folder: Path, study: Path) -> list[str]:
    """Messages of the jobs that a run would do, sorted: 'Tracing network', 'Labelling tile rows of ...', ..."""
    done = snakemake(folder, study, "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE))
