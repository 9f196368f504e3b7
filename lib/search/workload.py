"""The kernels of a searched workload, at any batch."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from lib.fusion.default_kernels import default_kernels
from lib.program.extraction import kernel_work
from lib.program.kernels import Kernels
from lib.program.program import Program


class WorkloadKernels(NamedTuple):
    """k distinct kernels of the default fusion at one batch."""

    kernels: Kernels
    executions: np.ndarray
    """int32[k] how often each runs."""
    roots: list[str]
    """k names: the root instruction of each kernel's first occurrence."""
    flops: np.ndarray
    """float64[k] of one execution."""
    occurrence: np.ndarray
    """int32[o] the kernel of each occurrence, in program order, which is the same at every batch."""
    occurrence_executions: np.ndarray
    """int32[o] how often each occurrence runs."""


KernelsByBatch = Callable[[int], WorkloadKernels]


def kernels_by_batch(program: Program) -> KernelsByBatch:
    """A function from batch to kernels that extracts each batch once (a space has few native batches)."""

    @cache
    def kernels_of(batch: int) -> WorkloadKernels:
        extracted = default_kernels(program.with_batch(batch))
        return WorkloadKernels(
            kernels=extracted.kernels,
            executions=extracted.executions,
            roots=extracted.roots,
            flops=kernel_work(extracted.kernels).flops,
            occurrence=extracted.occurrence_kernel,
            occurrence_executions=extracted.occurrence_executions,
        )

    return kernels_of
