"""Utilisation of EfficientNet-B7's blocks: figure 4 (TPU-v3), figure 14 (FAST-Large without and with residency)."""

from collections.abc import Iterator

import numpy as np

from lib.cost.simulator_constants import SimulatorConstants
from lib.fidelity.fast.published import beside
from lib.fidelity.fast.runs import Runs, chip
from lib.fidelity.fast.spread import spread
from lib.fidelity.fast.throughput import BATCH, TPU_V3
from lib.fidelity.figure import Figure
from schemas.reference import load_reference

WORKLOAD = "efficientnet-b7"
FAST_LARGE = chip("fast-large")
FAST_LARGE_BATCH = 8
"""Table 5's, for EfficientNet-B7."""


def block_figures(runs: Runs) -> Iterator[Figure]:
    """FLOPs over the peak rate in all the time of a block's kernels."""
    if WORKLOAD not in runs.programs:
        return
    labels = runs.kernels(WORKLOAD, BATCH)[0].blocks
    for bar in load_reference().tables["fast-block-utilisation"].rows:
        mask = np.array([label == bar for label in labels])
        yield beside("fast-block-utilisation", bar, "utilisation", spread(_on_tpu_v3, runs, mask))
    labels = runs.kernels(WORKLOAD, FAST_LARGE_BATCH)[0].blocks
    for row in load_reference().tables["fast-fused-utilisation"].rows:
        mask = np.array([in_row(label, row) for label in labels])
        for column, resident in (("unfused", False), ("fused", True)):
            yield beside("fast-fused-utilisation", row, column, spread(_on_fast_large, runs, mask, resident))


def in_row(block: str, row: str) -> bool:
    """Whether a block belongs to a row of figure 14: `stage-2` is 2b, 2c, ..., without the first block."""
    if row == "stem":
        return block == "stem"
    return block[:-1] == row.removeprefix("stage-") and block[-1] != "a"


def _on_tpu_v3(runs: Runs, mask: np.ndarray, constants: SimulatorConstants) -> float:
    return runs.run(WORKLOAD, BATCH, TPU_V3, "default", constants=constants).utilisation(mask)


def _on_fast_large(runs: Runs, mask: np.ndarray, resident: bool, constants: SimulatorConstants) -> float:
    run = runs.run(WORKLOAD, FAST_LARGE_BATCH, FAST_LARGE, "best", resident=resident, constants=constants)
    return run.utilisation(mask)
