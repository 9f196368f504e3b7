"""The batch at which a workload runs on FAST-Large."""

from lib.fidelity.fast.runs import Runs, chip

BATCHES = (1, 2, 4, 8, 16, 32, 64)
"""Candidates: powers of two, as in the paper's table 3."""


def fast_large_batch(runs: Runs, name: str) -> int:
    """Table 5's 8 for EfficientNet-B7; else, as nothing is printed, the one with the most queries a second.

    In the paper the batch is a parameter of the search, so each workload may have its own.
    """
    spec = chip("fast-large")
    if name == "efficientnet-b7":
        return spec["native_batch"]
    return max(BATCHES, key=lambda batch: runs.run(name, batch, spec, "best", resident=True).queries_per_s)
