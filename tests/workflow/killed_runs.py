"""`make test-kill`: the tiny study twice from scratch and once killed in each of its rules; all are byte-identical.

`python -m tests.workflow.killed_runs [TARGET ...]`. Targets (default: all) are files or rules of the study, as
Snakemake takes them. A run is killed with all of its jobs (SIGKILL) as soon as a job of a rule has begun, and where the
rule keeps a journal once more when records are in it. Then what the docs say: `--unlock`, and the same command again.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.workflow.artifact_files import different_files
from tests.workflow.run_snakemake import ROOT, arguments, snakemake

STUDY = ROOT / "workflow" / "studies" / "tiny.yaml"
RESULTS = Path("results") / "tiny"
WITH_A_JOURNAL = ("model", "autotune", "search")


def start(folder: Path, targets: list[str]) -> subprocess.Popen:
    """One job at a time, in a process group of its own."""
    folder.mkdir(exist_ok=True)
    line = arguments(folder, STUDY, *targets, "--cores", "1")
    with (folder / "printed.txt").open("a") as printed:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *line], cwd=ROOT, stdout=printed, stderr=printed, start_new_session=True
        )


def begun(folder: Path) -> set[str]:
    """`RULE` of each rule that has begun a job, `RULE's journal` where records are in one."""
    results = folder / RESULTS
    rules = {log.name for log in (results / "log").glob("*") if any(file.is_file() for file in log.rglob("*.log"))}
    journals = {records.relative_to(results).parts[1] for records in (results / ".journal").rglob("records")}
    return rules | {f"{rule}'s journal" for rule in journals}


def kill_in_each(folder: Path, targets: list[str]) -> list[str]:
    """Run, be killed and go on until the run ends by itself; where it was killed."""
    killed: list[str] = []
    running = start(folder, targets)
    while running.poll() is None:
        new = sorted(begun(folder) - set(killed))
        if not new:
            time.sleep(0.01)
            continue
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        killed += new
        print(f"killed: {', '.join(new)}", flush=True)
        assert_locked_until_unlocked(folder, targets)
        running = start(folder, targets)
    assert running.returncode == 0, (folder / "printed.txt").read_text()
    return killed


def assert_locked_until_unlocked(folder: Path, targets: list[str]) -> None:
    """The next run says what to do, and that helps."""
    refused = snakemake(folder, STUDY, *targets)
    text = refused.stdout + refused.stderr
    assert refused.returncode == 1, text
    assert "Directory cannot be locked" in text, text
    assert "--unlock" in text, text
    unlocked = snakemake(folder, STUDY, "--unlock")
    assert unlocked.returncode == 0, unlocked.stderr


def main(targets: list[str]) -> int:
    base = Path(tempfile.mkdtemp(prefix="tilewright-killed-"))
    for name in ("first", "again"):
        print(f"run from scratch: {name}", flush=True)
        assert start(base / name, targets).wait() == 0, (base / name / "printed.txt").read_text()
    killed = kill_in_each(base / "killed", targets)
    first = base / "first" / RESULTS
    rules = {log.name for log in (first / "log").iterdir()}
    unharmed = sorted({*rules, *(f"{rule}'s journal" for rule in rules.intersection(WITH_A_JOURNAL))} - set(killed))
    different = {name: different_files(first, base / name / RESULTS) for name in ("again", "killed")}
    print("never killed in: " + ", ".join(unharmed) if unharmed else f"killed in each: {', '.join(sorted(killed))}")
    for name, files in different.items():
        print(f"{name}, different from the first: " + (", ".join(files) or "nothing"))
    if unharmed or any(different.values()):
        print(f"left for a look: {base}")
        return 1
    shutil.rmtree(base)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
