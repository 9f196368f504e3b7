"""Seeded choice of training batches: families evenly, kernels of a family evenly, then random tiles."""

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

    `family`: int[k] of each kernel; `row_offset`: int64[k + 1]. Raises ValueError where no kernel is left.
    """

    def __init__(
        self,
        family: np.ndarray,
        row_offset: np.ndarray,
        rng: np.random.Generator,
        *,
        kernels: int,
        rows: int,
        least_rows: int,
    ):
        usable = np.flatnonzero(np.diff(row_offset) >= least_rows)
        if not len(usable):
            raise ValueError(f"no training kernel has {least_rows} rows or more: there is nothing to learn from")
        self._order = usable[np.argsort(family[usable], kind="stable")]
        self._start = np.flatnonzero(np.diff(family[self._order], prepend=-1))
        self._count = np.diff(self._start, append=len(self._order))
        self._row_offset, self._rng, self._kernels, self._rows = row_offset, rng, kernels, rows

    def draw(self) -> Sample:
        """The next sample. A kernel with fewer rows than asked for gives some of them again."""
        family = self._rng.integers(len(self._start), size=self._kernels)
        place = (self._rng.random(self._kernels) * self._count[family]).astype(np.int64)
        kernels = self._order[self._start[family] + place]
        rows = _draw_rows(kernels, self._row_offset, self._rng.random((self._kernels, self._rows)))
        row_kernel = np.repeat(np.arange(self._kernels, dtype=np.int32), self._rows)
        return Sample(kernels, rows, row_kernel)


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
