"""A run of the autotuners that can be killed by the operating system in the middle, and writes down what it ran."""

import os
import signal
from pathlib import Path

import pytest

from lib.autotune.autotune import run_autotune
from lib.autotune.target import Measured, SimulatedTarget
from lib.cost.simulator import Simulator
from lib.journal import Journal
from schemas.autotune_artifact import AutotuneArtifact
from tests.datapath_examples import tpu_v3
from tests.lib.autotune.three_kernels import SPEC
from tests.program_examples import squeeze_excite

ENTRY = SPEC | {
    "id": "tuned",
    "workload": "block",
    "hardware": {"id": "tpu-v3"},
    "tile_models": [],
    "fusion_models": [],
    "top": [1, 3],
    "starts": ["default", "random"],
    "chains": 3,
    "rounds": 25,
}


class WatchedTarget(SimulatedTarget):
    """Appends each configuration that it is asked for to a file; the operating system kills the process at the batch
    number `kill_at`, before it is run."""

    batch = 40

    def __init__(self, asked: Path, kill_at: int | None):
        super().__init__(Simulator(), tpu_v3(), timeout_s=10.0)
        self.asked, self.kill_at, self.batches = asked, kill_at, 0

    def measure(self, kernels, schedules) -> Measured:
        if self.batches == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.batches += 1
        with self.asked.open("a", encoding="utf-8") as file:
            for k, tile in zip(schedules.kernel.tolist(), schedules.tile.tolist(), strict=True):
                file.write(f"{kernels.fingerprint[k]} {tile}\n")
        return super().measure(kernels, schedules)


def run(folder: Path, task: str, kill_at: int | None = None) -> int:
    """Autotune into `folder`, with its journal beside it; returns how many batches the target ran."""
    spec = ENTRY | {"task": task}
    target = WatchedTarget(folder.with_suffix(".asked"), kill_at)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lib.autotune.fusion.MOST_TARGET_MOVES", 60)
        patched.setattr("lib.autotune.fusion_annealing.ROUNDS_A_RECORD", 10)
        contents = run_autotune(spec, squeeze_excite(), {}, target, Journal(folder.with_suffix(".journal")))
    AutotuneArtifact.write(folder, id="tuned/block", origin="simulated", code="", spec=spec, contents=contents)
    return target.batches
