"""Many quick runs of Snakemake in one process of its own, and results that no job has computed."""

import json
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, Self

from tests.workflow.run_snakemake import ROOT, arguments

FORKED = get_context("forkserver")
FORKED.set_forkserver_preload(["pandas", "snakemake.cli"])


class ManyRuns:
    """Snakemake's command line on one checkout: a first run takes seconds, further ones tenths of them.

    The code of the checkout is read once, so an edit of it needs a new object.
    """

    def __init__(self, checkout: Path = ROOT):
        self.checkout = checkout
        self._process = ProcessPoolExecutor(1, FORKED, initializer=_use, initargs=(checkout,))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.shutdown()

    def run(self, folder: Path, study: Path, *options: str) -> str:
        """What Snakemake prints; fails if it does."""
        line = arguments(folder, study, *options, checkout=self.checkout)
        status, text = self._process.submit(_command_line, folder, line).result()
        assert status == 0, text
        return text

    def jobs(self, folder: Path, study: Path) -> dict[str, bool]:
        """All jobs of the study, by the folder that each writes (`program/network`), and whether it would run."""
        would_run = set(re.findall(r"^Job \d+: (.*)$", self.run(folder, study, "--dry-run"), re.MULTILINE))
        return {job.folder: job.message in would_run for job in self._all_jobs(folder, study)}

    def fabricate(self, folder: Path, study: Path) -> None:
        """Make every job look done: manifests say what they should, all else is empty, Snakemake has its records."""
        for job in self._all_jobs(folder, study):
            for output in job.outputs:
                (folder / output).parent.mkdir(parents=True, exist_ok=True)
                (folder / output).write_text(json.dumps({"spec": job.spec, "code": job.code}))
        self.run(folder, study, "--touch", "--forceall")

    def _all_jobs(self, folder: Path, study: Path) -> list["Job"]:
        return self._process.submit(_jobs, self.checkout, folder, study).result()


class Job(NamedTuple):
    """A job of a study, whether it has to run or not."""

    message: str
    outputs: list[str]
    spec: dict
    code: str

    @property
    def folder(self) -> str:
        """Below the results, which are two levels deep: `results/study/program/network` gives `program/network`."""
        return str(Path(*Path(self.outputs[0]).parts[2:-1]))


def _use(checkout: Path) -> None:
    """The checkout's packages in place of this one's, in the process of the runs."""
    sys.path[:] = [str(checkout), *(entry for entry in sys.path if Path(entry).resolve() != ROOT)]
    from snakemake.executors import touch

    touch.Executor.SLEEPING_TIME = 0.002  # a tenth of a second between files, where file systems count in nanoseconds


def _command_line(folder: Path, line: list[str]) -> tuple[int, str]:
    """Exit status and all that is printed."""
    from snakemake.cli import main

    printed, terminal, status = folder / "printed.txt", (os.dup(1), os.dup(2)), 0
    with printed.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    sys.argv = ["snakemake", *line]  # profiles look at it
    try:
        main(line)
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for stream, former in zip((1, 2), terminal, strict=True):
            os.dup2(former, stream)
            os.close(former)
    return status, printed.read_text(encoding="utf-8", errors="replace")


def _jobs(checkout: Path, folder: Path, study: Path) -> list[Job]:
    """All jobs that write something."""
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, OutputSettings, ResourceSettings

    with SnakemakeApi(OutputSettings(dryrun=True)) as api:
        loaded = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[study]),
            snakefile=checkout / "Snakefile",
            workdir=folder,
        )
        loaded.dag()
        workflow = loaded._workflow  # no public way leads to the jobs
        workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True)
        workflow._build_dag()
        jobs = [job for job in workflow.dag.jobs if job.output]
        return [Job(job.message, [str(file) for file in job.output], job.params.spec, job.params.code) for job in jobs]
