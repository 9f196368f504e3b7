"""Where time goes on TPU-v3: table 2 (EfficientNet-B7), figure 5 and section 4.3 (BERT-Base)."""

import re
from collections.abc import Iterator

import numpy as np

from lib.cost.simulator_constants import SimulatorConstants
from lib.fidelity.fast.published import beside
from lib.fidelity.fast.runs import Occurrences, Runs
from lib.fidelity.fast.spread import spread
from lib.fidelity.fast.throughput import BATCH, TPU_V3
from lib.fidelity.figure import Figure
from schemas.reference import load_reference

ROWS_WITH_FLOPS = ("depthwise-convolution", "convolution")
"""Rows of table 2 and classes of kernels; all other kernels are `other`, and have no FLOPs of products."""

PARTS = {
    "qkv_projection": re.compile(r".*/(query|key|value)_\d"),
    "softmax": re.compile(r".*/Softmax"),
    "self_attention": re.compile(r".*/(einsum|attention_output)"),
    "feed_forward": re.compile(r"dense_"),
}
"""Column of figure 5 to names of kernels. Self-attention holds both products of activations and the projection of their
result; layer normalisation belongs to none of the four."""
ERRATUM = "at this length the four parts contradict the arithmetic, see errata"
CONTRADICTED = ("bert-512", "bert-1024", "bert-2048")


def share_figures(runs: Runs) -> Iterator[Figure]:
    """Shares of FLOPs and time with the compiler's schedules at batch 64 a core."""
    yield from _efficientnet(runs)
    for name in load_reference().tables["fast-attention-shares"].rows:
        if name in runs.programs:
            for part, mask in parts_of(runs.kernels(name, BATCH)[0]).items():
                note = ERRATUM if part == "qkv_projection" and name in CONTRADICTED else ""
                yield beside("fast-attention-shares", name, part, spread(_time_share_pct, runs, name, mask), note)
    if "bert-128" in runs.programs:
        chosen = parts_of(runs.kernels("bert-128", BATCH)[0])
        for part in load_reference().tables["fast-attention-utilisation"].units:
            ours = spread(_utilisation, runs, "bert-128", chosen[part])
            yield beside("fast-attention-utilisation", "bert-base", part, ours, "at length 128")


def _efficientnet(runs: Runs) -> Iterator[Figure]:
    table, name = "fast-bottlenecks", "efficientnet-b7"
    if name not in runs.programs:
        return
    kernels_of = runs.kernels(name, BATCH)[0]
    masks = {row: np.array([kind == row for kind in kernels_of.classes]) for row in ROWS_WITH_FLOPS}
    for row, mask in masks.items():
        yield beside(table, row, "flops_share", 100 * kernels_of.flops[mask].sum() / kernels_of.flops.sum())
    masks["other"] = ~np.any(list(masks.values()), axis=0)
    for row, mask in masks.items():
        yield beside(table, row, "time_share", spread(_time_share_pct, runs, name, mask))


def _time_share_pct(runs: Runs, name: str, mask: np.ndarray, constants: SimulatorConstants) -> float:
    return 100 * runs.run(name, BATCH, TPU_V3, "default", constants=constants).time_share(mask)


def _utilisation(runs: Runs, name: str, mask: np.ndarray, constants: SimulatorConstants) -> float:
    return runs.run(name, BATCH, TPU_V3, "default", constants=constants).utilisation(mask)


def parts_of(kernels_of: Occurrences) -> dict[str, np.ndarray]:
    """bool[m] for each part of BERT's layers."""
    return {part: np.array([bool(pattern.match(name)) for name in kernels_of.names]) for part, pattern in PARTS.items()}
