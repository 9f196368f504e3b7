"""The batch at which a workload runs on FAST-Large."""

from lib.fidelity.fast.runs import Runs, chip


def fast_large_batch(runs: Runs, name: str) -> int:
    """Table 5's 8 for EfficientNet-B7; else, as nothing is printed, the best one."""
    spec = chip("fast-large")
    return spec["native_batch"] if name == "efficientnet-b7" else runs.best_batch(name, spec)
