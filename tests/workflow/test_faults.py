"""Full disks, read-only results, two runs at once: words, nothing half-written, and the run goes on afterwards."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schemas.fidelity_artifact import FidelityArtifact
from tests.workflow.run_snakemake import ROOT, arguments, snakemake

STUDY = "results: results/faults\nfidelity: {peers: {sources: [scalesim]}}\n"
"""One job of a few seconds."""
ARTIFACT = Path("results") / "faults" / "fidelity" / "peers"
OWN_MOUNTS = ["unshare", "--map-root-user", "--mount"]
ON_A_SMALL_DISK = """
cd "$1"; shift
mkdir results
mount -t tmpfs -o size=64k,mode=755 tmpfs results
again() {
  "$@" >"$state.txt" 2>&1 && echo 0 >"$state.status" || echo 1 >"$state.status"
  find results | sort >"$state.files"
}
mount -o remount,ro results; state=read-only; again "$@"
mount -o remount,rw,size=8k results; state=full; again "$@"
mount -o remount,rw,size=1m results; state=roomy; again "$@"
cp -r results kept
"""


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = [*OWN_MOUNTS, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.fixture
def study(tmp_path) -> Path:
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


def test_results_that_are_read_only_then_on_a_full_disk_then_on_one_with_room(tmp_path, study):
    if not can_mount():
        pytest.skip("no file system of one's own may be mounted here")
    command = [sys.executable, "-m", "snakemake", *arguments(tmp_path, study, "outside_figures")]
    script = [*OWN_MOUNTS, "bash", "-euc", ON_A_SMALL_DISK, "bash", str(tmp_path), *command]
    subprocess.run(script, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})

    def after(state: str) -> tuple[str, str, list[str]]:
        text, status, files = (tmp_path / f"{state}.{kind}" for kind in ("txt", "status", "files"))
        return status.read_text().strip(), text.read_text(), files.read_text().split()

    status, text, files = after("read-only")
    assert status == "1"
    assert "nothing can be written there; give the results another folder" in text
    assert "Traceback" not in text
    assert files == ["results"]

    status, text, files = after("full")
    assert status == "1", text
    assert "No space left on device" in text
    assert "the disk is full; make room and run the same command again: nothing that was finished is lost" in text
    assert "Traceback" not in text
    assert not [file for file in files if file.startswith(f"{ARTIFACT}/") or f".{ARTIFACT.name}-" in file]

    status, text, files = after("roomy")
    assert status == "0", text
    assert len(FidelityArtifact.read(tmp_path / "kept" / ARTIFACT.relative_to("results"))["figures.parquet"])


def test_two_runs_at_once_and_a_lock_that_a_killed_run_left(tmp_path, study):
    command = [sys.executable, "-m", "snakemake", *arguments(tmp_path, study, "outside_figures")]
    first = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        while not list((tmp_path / ".snakemake" / "locks").glob("*")):
            assert first.poll() is None, "the first run ended before it took its lock"
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGSTOP)
        assert_locked(tmp_path, study)
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    assert_locked(tmp_path, study)
    assert snakemake(tmp_path, study, "--unlock").returncode == 0
    done = snakemake(tmp_path, study, "outside_figures")
    assert done.returncode == 0, done.stdout + done.stderr
    FidelityArtifact.read(tmp_path / ARTIFACT)


def assert_locked(folder: Path, study: Path) -> None:
    done = snakemake(folder, study, "outside_figures")
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert "Directory cannot be locked" in text
    assert "--unlock" in text
    assert "Traceback" not in text
