"""`make test-kill`: the tiny study twice from scratch and once killed in each of its rules; all are byte-identical.

`python -m tests.workflow.killed_runs [TARGET ...]`. Targets (default: all) are files or rules of the study, as
Snakemake takes them. A run is killed with all of its jobs (SIGKILL) as soon as a job of a rule has begun, and where the
rule keeps a journal once more when a job that has not ended has records in it. Then what the docs say: `--unlock`, and
the same command again, which continues from the records.
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

TINY = ROOT / "workflow" / "studies" / "tiny.yaml"
MORE_TRIALS = ("    trials: 8\n", "    trials: 1000\n")
"""So that a search has records, one a second, before it ends."""
RESULTS = Path("results") / "tiny"
WITH_A_JOURNAL = ("model", "autotune", "search")


def start(folder: Path, study: Path, targets: list[str]) -> subprocess.Popen:
    """One job at a time, in a process group of its own."""
    folder.mkdir(exist_ok=True)
    line = arguments(folder, study, *targets, "--cores", "1")
    with (folder / "printed.txt").open("a") as printed:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *line], cwd=ROOT, stdout=printed, stderr=printed, start_new_session=True
        )


def jobs_begun(results: Path, rule: str) -> dict[Path, bool]:
    """Logs of the rule's jobs that have begun, and whether each job's artifact is there."""
    logs = results / "log" / rule
    files = {file: results / rule / file.relative_to(logs).with_suffix("") for file in logs.rglob("*.log")}
    return {log: (artifact / "manifest.json").exists() for log, artifact in files.items()}


def begun(folder: Path) -> set[str]:
    """`RULE` of each rule that has begun a job, `RULE's journal` where one that has not ended has records."""
    results = folder / RESULTS
    rules = {log.stem for log in (results / "log").glob("*") if log.is_file() or jobs_begun(results, log.name)}
    journals = {
        f"{rule}'s journal"
        for rule in WITH_A_JOURNAL
        if not all(jobs_begun(results, rule).values()) and has_records(results / ".journal" / rule)
    }
    return rules | journals


def has_records(journals: Path) -> bool:
    """Whether any of the journals has; one may be removed meanwhile."""
    return any("records" in files for *_, files in os.walk(journals))


def kill_in_each(folder: Path, study: Path, targets: list[str]) -> list[str]:
    """Run, be killed and go on until the run ends by itself; where it was killed."""
    killed: list[str] = []
    running = start(folder, study, targets)
    while running.poll() is None:
        new = sorted(begun(folder) - set(killed))
        if not new:
            time.sleep(0.01)
            continue
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        killed += new
        print(f"killed: {', '.join(new)}", flush=True)
        assert_locked_until_unlocked(folder, study, targets)
        running = start(folder, study, targets)
    assert running.returncode == 0, (folder / "printed.txt").read_text()
    return killed


def continued(folder: Path) -> list[str]:
    """`RULE's journal` of each rule one of whose jobs says that it continued from records."""
    results = folder / RESULTS
    logs = {rule: "".join(log.read_text() for log in jobs_begun(results, rule)) for rule in WITH_A_JOURNAL}
    return [f"{rule}'s journal" for rule, text in logs.items() if "INFO continues from " in text]


def assert_locked_until_unlocked(folder: Path, study: Path, targets: list[str]) -> None:
    """The next run says what to do, and that helps."""
    refused = snakemake(folder, study, *targets)
    text = refused.stdout + refused.stderr
    assert refused.returncode == 1, text
    assert "Directory cannot be locked" in text, text
    assert "--unlock" in text, text
    unlocked = snakemake(folder, study, "--unlock")
    assert unlocked.returncode == 0, unlocked.stderr


def main(targets: list[str]) -> int:
    base = Path(tempfile.mkdtemp(prefix="tilewright-killed-"))
    study = base / "tiny.yaml"
    text = TINY.read_text()
    assert MORE_TRIALS[0] in text
    study.write_text(text.replace(*MORE_TRIALS))
    for name in ("first", "again"):
        print(f"run from scratch: {name}", flush=True)
        assert start(base / name, study, targets).wait() == 0, (base / name / "printed.txt").read_text()
    killed = kill_in_each(base / "killed", study, targets)
    first = base / "first" / RESULTS
    rules = begun(base / "first")
    journals = [f"{rule}'s journal" for rule in sorted(rules.intersection(WITH_A_JOURNAL))]
    unharmed = sorted({*rules, *journals} - set(killed))
    anew = sorted(set(journals) - set(continued(base / "killed")))
    different = {name: different_files(first, base / name / RESULTS) for name in ("again", "killed")}
    print("never killed in: " + ", ".join(unharmed) if unharmed else f"killed in each: {', '.join(sorted(killed))}")
    print("continued from: " + ", ".join(journals) if not anew else f"not continued from: {', '.join(anew)}")
    for name, files in different.items():
        print(f"{name}, different from the first: " + (", ".join(files) or "nothing"))
    if unharmed or anew or any(different.values()):
        print(f"left for a look: {base}")
        return 1
    shutil.rmtree(base)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
