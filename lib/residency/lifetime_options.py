"""What each kernel can do under a placement, and the schedules that are worth taking then.

A kernel's option is which of its reads find their tensor on chip, whether its weights are resident, and what becomes of
its output. All that matters of it to the rest of the program is what it costs and takes, so that of a kernel's
schedules only those stand here that no other betters in both.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.residency.lifetime_problem import LifetimeProblem
from lib.residency.lives import Reads

WRITTEN, STAYS_AND_WRITTEN, STAYS = range(3)
"""What becomes of an output: DRAM only; both; the buffer only."""
OUTCOMES = 3


class Options(NamedTuple):
    """Options of n kernels with up to r schedules; kernel i has 6 << bits[i] of them, numbered
    (found * 2 + weights resident) * OUTCOMES + outcome."""

    offset: np.ndarray
    """int64[n + 1]"""
    rows: np.ndarray
    """int64[total] schedules worth taking; 0: the option can't be."""
    cost: np.ndarray
    """float64[total, r] objective of each, the least first."""
    need_bytes: np.ndarray
    """int64[total, r] what it takes of the buffer while the kernel runs, tensors that it does not read and pinned
    weights aside; falling."""
    choice: np.ndarray
    """int64[total, r] which of the kernel's schedules it is."""


def options(problem: LifetimeProblem, reads: Reads, *, left_out_is_free: bool = False) -> Options:
    """The options of a problem's kernels for the reads that are looked at.

    Reads that are left out load from DRAM, and tensors with such reads are written. With `left_out_is_free` they cost
    neither time nor room instead: then what is best bounds every placement.
    """
    return Options(
        *_options(
            problem.objective(), problem.weight_bytes, problem.tensor_bytes, problem.held_bytes, problem.leaves,
            problem.tile_bytes, problem.weight_tile_bytes, problem.output_tile_bytes, problem.read_offset,
            problem.read_tensor, problem.read_share, problem.read_tile_bytes, reads.bit, reads.bits, reads.looked_at,
            np.diff(reads.reader_offset), left_out_is_free,
        )
    )  # fmt: skip


@njit(cache=True)
def _options(
    objective, weight_bytes, tensor_bytes, held_bytes, leaves, tile_bytes, weight_tile_bytes, output_tile_bytes,
    read_offset, read_tensor, read_share, read_tile_bytes, bit, bits, looked_at, readers, free,
):  # fmt: skip
    n, choices = len(objective), objective.shape[2]
    offset = np.zeros(n + 1, dtype=np.int64)
    for kernel in range(n):
        offset[kernel + 1] = offset[kernel] + (6 << bits[kernel])
    rows = np.zeros(offset[n], dtype=np.int64)
    cost = np.full((offset[n], choices), np.inf)
    need = np.zeros((offset[n], choices), dtype=np.int64)
    choice = np.zeros((offset[n], choices), dtype=np.int64)
    costs, needs = np.empty(choices), np.empty(choices, dtype=np.int64)
    credit, order = np.empty(choices, dtype=np.int64), np.empty(choices, dtype=np.int64)
    for kernel in range(n):
        left_out = looked_at[kernel] < readers[kernel]
        for found in range(1 << bits[kernel]):
            share = 0.0
            on_chip = np.int64(0)
            credit[:] = 0
            for read in range(read_offset[kernel], read_offset[kernel + 1]):
                if (bit[read] < 0 and free) or (bit[read] >= 0 and found >> bit[read] & 1):
                    share += read_share[read]
                    credit += read_tile_bytes[read]
                    if bit[read] >= 0:
                        on_chip += tensor_bytes[read_tensor[read]]
            share = min(share, 1.0)
            for weights in range(2):
                if weights and weight_bytes[kernel] == 0:
                    continue
                for outcome in range(OUTCOMES):
                    if outcome != WRITTEN and looked_at[kernel] == 0:
                        continue
                    if outcome == STAYS and (leaves[kernel] or left_out):
                        continue
                    saved = outcome == STAYS or (free and left_out and not leaves[kernel])
                    rest = 2 * weights + (4 if saved else 0)
                    for c in range(choices):
                        without, kept = objective[kernel, rest, c], objective[kernel, rest + 1, c]
                        costs[c] = (1.0 - share) * without + share * kept
                        needs[c] = tile_bytes[kernel, c] - credit[c] + on_chip
                        if weights:
                            needs[c] -= weight_tile_bytes[kernel, c]
                        if outcome != WRITTEN:
                            needs[c] += held_bytes[kernel, c] - output_tile_bytes[kernel, c]
                        elif saved:
                            needs[c] -= output_tile_bytes[kernel, c]
                    option = offset[kernel] + (found * 2 + weights) * OUTCOMES + outcome
                    for c in range(choices):
                        at = c
                        while at > 0 and costs[order[at - 1]] > costs[c]:
                            order[at] = order[at - 1]
                            at -= 1
                        order[at] = c
                    used = 0
                    for c in order:
                        if used == 0 or needs[c] < need[option, used - 1]:
                            cost[option, used], need[option, used], choice[option, used] = costs[c], needs[c], c
                            used += 1
                    rows[option] = used
    return offset, rows, cost, need, choice
