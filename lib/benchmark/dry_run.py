"""How long `snakemake -n` takes: reading the study, the fingerprints of all code, the graph of jobs."""

import subprocess
import sys

from lib.benchmark.measurement import Measurement, repeated_s
from lib.benchmark.setting import Setting
from lib.code_fingerprint import ROOT

STUDY = "workflow/studies/paper.yaml"


def dry_run_seconds(setting: Setting) -> list[Measurement]:
    """Seconds of a dry run of the paper study, from the command to its end."""
    command = [sys.executable, "-m", "snakemake", "-n", "--quiet", "--configfile", STUDY]

    def run() -> None:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[1:])} failed: {done.stderr.strip()[-500:]}")

    seconds = repeated_s(run, repetitions=setting.repetitions, budget_s=setting.budget_s)
    return [Measurement("bench.snakemake.dry_run.paper_s", "`snakemake -n` on the paper study", "s", tuple(seconds))]
