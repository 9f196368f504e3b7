"""Seeded choice of training batches: groups of kernels evenly, level by level, then random tiles of each kernel."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit


class Sample(NamedTuple):
    """One batch: b kernels with t rows each."""

    kernels: np.ndarray
    """int64[b]"""
    rows: np.ndarray
    """int64[b * t], by kernel."""
    row_kernel: np.ndarray
    """int32[b * t] position in `kernels`."""


class Sampler:
    """Draws samples of kernels that have at least `least_rows` rows.

    `groups`: int[k, levels], the groups of each kernel from the widest to the narrowest (family, workload,
    hardware variant): a group of the first level is drawn evenly, then one of the second within it, and so on,
    then a kernel, then `rows` of its rows. `row_offset`: int64[k + 1]. Every step has a generator of its own,
    so a sample depends on `seed` and the step alone. Raises ValueError where no kernel is left.
    """

    def __init__(
        self,
        groups: np.ndarray,
        row_offset: np.ndarray,
        seed: int,
        *,
        kernels: int,
        rows: int,
        least_rows: int,
    ):
        usable = np.flatnonzero(np.diff(row_offset) >= least_rows)
        if not len(usable):
            raise ValueError(f"no training kernel has {least_rows} rows or more: there is nothing to learn from")
        groups = groups[usable]
        order = np.lexsort(groups.T[::-1])
        self._order = usable[order]
        self._levels = _nested_ranges(groups[order])
        self._row_offset, self._seed, self._kernels, self._rows = row_offset, seed, kernels, rows

    def draw(self, step: int) -> Sample:
        """The sample of a step. A kernel with fewer rows than asked for gives some of them again."""
        rng = np.random.default_rng((self._seed, step))
        place = np.zeros(self._kernels, np.int64)
        for start in self._levels:
            first, count = start[place], start[place + 1] - start[place]
            place = first + (rng.random(self._kernels) * count).astype(np.int64)
        kernels = self._order[place]
        rows = _draw_rows(kernels, self._row_offset, rng.random((self._kernels, self._rows)))
        row_kernel = np.repeat(np.arange(self._kernels, dtype=np.int32), self._rows)
        return Sample(kernels, rows, row_kernel)


def _nested_ranges(groups: np.ndarray) -> list[np.ndarray]:
    """For each level, int64[n + 1] that cuts the groups of the next level (at last: the kernels) into the n groups
    of this one; first of all stands the one group of everything. `groups`: int[k, levels], sorted."""
    kernels = len(groups)
    starts = [np.zeros(1, np.int64)]
    for level in range(groups.shape[1]):
        is_new = (np.diff(groups[:, : level + 1], axis=0) != 0).any(axis=1)
        starts.append(np.concatenate([[0], np.flatnonzero(is_new) + 1]))
    starts.append(np.arange(kernels))
    return [np.append(np.searchsorted(finer, wider), len(finer)).astype(np.int64) for wider, finer in pairwise(starts)]


@njit(cache=True)
def _draw_rows(kernels, row_offset, uniform):
    """Partial Fisher-Yates shuffle of each kernel's rows, begun anew when all are dealt."""
    wanted = uniform.shape[1]
    rows = np.empty(len(kernels) * wanted, np.int64)
    for b in range(len(kernels)):
        first = row_offset[kernels[b]]
        count = row_offset[kernels[b] + 1] - first
        left = 0
        deck = np.arange(count)
        for t in range(wanted):
            if left == 0:
                left = count
            pick = np.int64(uniform[b, t] * left)
            left -= 1
            deck[pick], deck[left] = deck[left], deck[pick]
            rows[b * wanted + t] = first + deck[left]
    return rows
