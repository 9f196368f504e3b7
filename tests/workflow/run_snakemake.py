"""Runs Snakemake as a person does, and reads what a dry run would do."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def arguments(
    folder: Path, study: Path | None, *options: str, checkout: Path = ROOT, profile: str = "default"
) -> list[str]:
    """Snakemake's command line for `study` with `folder` as working directory."""
    line = ["--snakefile", str(checkout / "Snakefile"), "--directory", str(folder)]
    line += ["--workflow-profile", str(checkout / "profiles" / profile), "--cores", "2", *options]
    return line if study is None else [*line, "--configfile", str(study)]


def snakemake(
    folder: Path, study: Path | None, *options: str, profile: str = "default"
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake on `study` with `folder` as working directory; never raises."""
    return subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments(folder, study, *options, profile=profile)],
        cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip


def planned_jobs(folder: Path, study: Path) -> list[str]:
    """Messages of the jobs that a run would do, sorted: 'Tracing network', 'Labelling tile rows of ...', ..."""
    done = snakemake(folder, study, "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE))
