"""Seeds of shards: derived by name, so that adding a workload changes no other shard."""

import hashlib

import numpy as np


def shard_seed(seed: int, workload: str) -> int:
    """A 63-bit seed for the workload's shards, from the study's seed and the workload's id.

    It does not depend on the hardware: all variants get the same fusion configurations, and so the same kernels.
    """
    name = np.frombuffer(hashlib.sha256(workload.encode()).digest(), dtype=np.uint32)
    state = np.random.SeedSequence([seed, *name.tolist()]).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))
