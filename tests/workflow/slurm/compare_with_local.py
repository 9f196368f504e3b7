"""`make test-slurm`: the tiny study, with two islands, through SLURM and without it; artifacts must be byte-identical.

`python -m tests.workflow.slurm.compare_with_local [TARGET ...]` starts a SLURM of one node on this machine and stops it
again. Short jobs are grouped. Targets (default: all) are files or rules of the study, as Snakemake takes them.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.workflow.artifact_files import artifact_files, different_files
from tests.workflow.run_snakemake import ROOT, arguments

ONE_NODE = Path(__file__).with_name("one_node.sh")
STUDY = ROOT / "workflow" / "studies" / "tiny.yaml"
ONE_THREAD = ["--set-threads", "model=1", "boosted_trees=1", "evaluation=1"]
GROUPS = [
    "--groups", "program=programs", "dataset=shards", "difference=shards", "boosted_trees=trees",
    "--group-components", "programs=10", "shards=10", "trees=10",
]  # fmt: skip
"""As docs/how-to/cluster.md does it; islands and networks stay SLURM jobs of their own."""
SHORT_WAITS = ["--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "10"]


def run(folder: Path, study: Path, profile: str, *options: str) -> float:
    """Run the study in `folder`; the seconds that it took."""
    started = time.monotonic()
    line = arguments(folder, study, *options, profile=profile)
    if profile == "slurm":
        line[line.index("--cores") : line.index("--cores") + 2] = []
    subprocess.run([sys.executable, "-m", "snakemake", *line], cwd=ROOT, check=True)
    return time.monotonic() - started


def main(targets: list[str]) -> int:
    if any(shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") is None for program in ("slurmctld", "munged")):
        print("SLURM is not here; on Debian, as root: apt-get install --no-install-recommends slurm-wlm munge")
        return 1
    with tempfile.TemporaryDirectory(prefix="tilewright-slurm-") as scratch:
        base = Path(scratch)
        base.chmod(0o755)
        study = base / "tiny.yaml"
        text = STUDY.read_text()
        assert "    trials: 8\n" in text
        study.write_text(text.replace("    trials: 8\n", "    trials: 8\n    islands: 2\n"))
        for name in ("slurm", "local"):
            (base / name).mkdir()
        try:
            subprocess.run(["bash", str(ONE_NODE), "start", str(base / "node")], check=True)
            through_slurm_s = run(base / "slurm", study, "slurm", *targets, *ONE_THREAD, *GROUPS, *SHORT_WAITS)
        finally:
            subprocess.run(["bash", str(ONE_NODE), "stop", str(base / "node")], check=False)
        local_s = run(base / "local", study, "default", *targets, *ONE_THREAD)
        through_slurm, local = (base / name / "results" / "tiny" for name in ("slurm", "local"))
        files, different = len(artifact_files(local)), different_files(through_slurm, local)
    print(f"{files} files; through SLURM {through_slurm_s:.0f} s, without {local_s:.0f} s")
    print("different: " + ", ".join(different) if different else "all byte-identical")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
