"""Which tensors can be on chip at the same time: the states that a programme over time walks through.

Between two kernels some tensors are alive: made before, read after. What of a tensor's future reads will find it on
chip is a number, from none to all, since a tensor that has gone does not come back. A state is one such number for each
living tensor. There are few states between two kernels of an inference network (EfficientNet 8, BERT 16), but the
tensors that wait for the backward pass of a training step can't all be looked at: then those that live longest are left
out, and :class:`Reads` says so.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from lib.residency.lifetime_problem import LifetimeProblem

MOST_STATES = 64
"""Between two kernels."""
MOST_READS = 6
"""Tensors that one kernel may find on chip; of more, those read first by it in the order of their kernels."""


class Reads(NamedTuple):
    """Who may find what on chip, for a problem of n kernels and e reads."""

    reader_offset: np.ndarray
    """int64[n + 1] cuts `reader` by tensor."""
    reader: np.ndarray
    """int64[e] kernels that read each tensor, ascending."""
    looked_at: np.ndarray
    """int64[n] how many of its first readers may find a tensor on chip; the others are left out."""
    bit: np.ndarray
    """int64[e] which bit of `found` stands for a read, in the order of `read_tensor`; -1 where it is left out."""
    bits: np.ndarray
    """int64[n] how many bits a kernel has."""

    @property
    def whole(self) -> bool:
        """Whether every read is looked at."""
        return bool((self.bit >= 0).all())


class States(NamedTuple):
    """The states between n kernels; N in all."""

    offset: np.ndarray
    """int64[n + 2] cuts the next arrays: the states before each kernel, and the one state after the last."""
    found: np.ndarray
    """int64[N] bits of the reads that find their tensor on chip."""
    passing_bytes: np.ndarray
    """int64[N] what stays and is not read by the next kernel."""
    after: np.ndarray
    """int64[N] the state (within those after the kernel) that follows if the kernel's own output does not stay."""
    step: np.ndarray
    """int64[n] how much further the state lies for each read that will find the kernel's output on chip."""


def reads_looked_at(problem: LifetimeProblem, most_states: int | None = MOST_STATES) -> Reads:
    """The reads that give at most `most_states` states between two kernels; None: all that a kernel may have."""
    n = len(problem.seconds)
    kernel_of_read = np.repeat(np.arange(n), np.diff(problem.read_offset))
    order = np.lexsort((kernel_of_read, problem.read_tensor))
    reader = kernel_of_read[order]
    reader_offset = np.concatenate([[0], np.cumsum(np.bincount(problem.read_tensor, minlength=n))]).astype(np.int64)
    span = reader - problem.read_tensor[order]
    looked_at = _admitted(
        reader_offset, reader, np.argsort(span, kind="stable"), n, most_states or np.inf, MOST_READS
    )  # fmt: skip
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - reader_offset[problem.read_tensor[order]]
    kept = place < looked_at[problem.read_tensor]
    before = np.concatenate([[0], np.cumsum(kept)])
    bit = np.where(kept, before[:-1] - before[problem.read_offset[kernel_of_read]], -1)
    return Reads(reader_offset, reader, looked_at, bit, np.diff(before[problem.read_offset]))


def states(problem: LifetimeProblem, reads: Reads) -> States:
    """The states of a problem for the reads that are looked at."""
    return States(
        *_states(problem.read_offset, problem.read_tensor, reads.bit, problem.tensor_bytes, reads.looked_at)
    )  # fmt: skip


@njit(cache=True)
def _admitted(reader_offset, reader, shortest_first, n, most_states, most_reads) -> np.ndarray:
    """int64[n]: how many of its first readers each tensor is looked at for. Reads soon after come first."""
    looked_at = np.zeros(n, dtype=np.int64)
    states = np.ones(n + 1)
    reads = np.zeros(n, dtype=np.int64)
    tensor_of = np.empty(len(reader), dtype=np.int64)
    for tensor in range(n):
        tensor_of[reader_offset[tensor] : reader_offset[tensor + 1]] = tensor
    for read in shortest_first:
        tensor = tensor_of[read]
        first = reader_offset[tensor]
        if read != first + looked_at[tensor] or reads[reader[read]] >= most_reads:
            continue
        fits = True
        for turn in range(2):
            ahead = looked_at[tensor] + 1  # reads that are still to come, and none
            next_read = first
            for boundary in range(tensor + 1, reader[read] + 1):
                while next_read < read and reader[next_read] < boundary:
                    next_read += 1
                    ahead -= 1
                larger = states[boundary] * (ahead + 1) / ahead
                if turn == 0:
                    fits = fits and larger <= most_states + 0.5
                else:
                    states[boundary] = larger
            if not fits:
                break
        if fits:
            looked_at[tensor] += 1
            reads[reader[read]] += 1
    return looked_at


@njit(cache=True)
def _states(read_offset, read_tensor, bit, tensor_bytes, looked_at):
    """The arrays of :class:`States`. Digits of a state: the living tensors, in the order of their kernels."""
    n = len(looked_at)
    alive = np.empty(n + 1, dtype=np.int64)  # tensors of the digits
    digits = np.empty(n + 1, dtype=np.int64)  # their numbers of values
    count = 0
    offset = np.zeros(n + 2, dtype=np.int64)
    total = np.int64(1)
    sizes = np.ones(n + 1, dtype=np.int64)
    for turn in range(2):
        if turn == 1:
            for kernel in range(n + 1):
                offset[kernel + 1] = offset[kernel] + sizes[kernel]
            total = offset[n + 1]
        found = np.zeros(total, dtype=np.int64)
        passing = np.zeros(total, dtype=np.int64)
        after = np.zeros(total, dtype=np.int64)
        step = np.zeros(n, dtype=np.int64)
        count = 0
        own_bit = np.full(n, -1, dtype=np.int64)
        for kernel in range(n):
            for read in range(read_offset[kernel], read_offset[kernel + 1]):
                if bit[read] >= 0:
                    own_bit[read_tensor[read]] = bit[read]
            if turn == 1:
                for state in range(sizes[kernel]):
                    left, stride, place = state, np.int64(1), offset[kernel] + state
                    for digit in range(count):
                        tensor, values = alive[digit], digits[digit]
                        value = left % values
                        left //= values
                        reads = own_bit[tensor] >= 0
                        if value > 0:
                            if reads:
                                found[place] |= 1 << own_bit[tensor]
                            else:
                                passing[place] += tensor_bytes[tensor]
                        following = values - 1 if reads else values
                        after[place] += max(0, value - 1 if reads else value) * stride
                        stride *= following
            kept = 0
            stride = np.int64(1)
            for digit in range(count):
                tensor = alive[digit]
                values = digits[digit]
                if own_bit[tensor] >= 0:
                    values -= 1
                if values > 1:
                    alive[kept], digits[kept] = tensor, values
                    stride *= values
                    kept += 1
            count = kept
            if looked_at[kernel] > 0:
                alive[count], digits[count] = kernel, looked_at[kernel] + 1
                step[kernel] = stride
                stride *= looked_at[kernel] + 1
                count += 1
            if kernel < n:
                sizes[kernel + 1] = stride
            for read in range(read_offset[kernel], read_offset[kernel + 1]):
                own_bit[read_tensor[read]] = -1
    return offset, found, passing, after, step
