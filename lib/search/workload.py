"""The kernels of a searched workload, at any batch."""

from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from lib.fusion.default_kernels import default_kernels
from lib.program.extraction import ProgramKernels, kernel_work
from lib.program.kernels import Kernels
from lib.program.program import Program
from lib.program.softmax import Softmax, with_softmax
from lib.residency.program_residency import leaving


class WorkloadKernels(NamedTuple):
    """k distinct kernels of the default fusion at one batch, at o places of the program."""

    found: ProgramKernels
    leaves: np.ndarray
    """bool[o] whether the output of an occurrence must be written (:func:`lib.residency.program_residency.leaving`)."""
    flops: np.ndarray
    """float64[k] of one execution."""
    names: list[str]
    """o names: the root instruction of each occurrence."""

    @property
    def kernels(self) -> Kernels:
        """The k distinct kernels."""
        return self.found.kernels

    @property
    def executions(self) -> np.ndarray:
        """int32[k] how often each runs."""
        return self.found.executions

    @property
    def roots(self) -> list[str]:
        """k names: the root instruction of each kernel's first occurrence."""
        return self.found.roots

    @property
    def occurrence(self) -> np.ndarray:
        """int32[o] the kernel of each occurrence, in program order, which is the same at every batch."""
        return self.found.occurrence_kernel

    @property
    def occurrence_executions(self) -> np.ndarray:
        """int32[o] how often each occurrence runs."""
        return self.found.occurrence_executions


class KernelsByBatch(Protocol):
    """The kernels of a workload at a batch, every softmax in the form asked for; a call that was made before costs
    nothing."""

    def __call__(self, batch: int, softmax: Softmax = "three-pass") -> WorkloadKernels:
        """See the class."""
        ...


def kernels_by_batch(program: Program) -> KernelsByBatch:
    """A function from batch to kernels that extracts each batch once (a space has few native batches)."""

    @cache
    def kernels_of(batch: int, softmax: Softmax = "three-pass") -> WorkloadKernels:
        at_batch = with_softmax(program.with_batch(batch), softmax)
        found = default_kernels(at_batch)
        names = [at_batch.instructions[root].name for root in found.occurrence_root.tolist()]
        return WorkloadKernels(found, leaving(found, at_batch), kernel_work(found.kernels).flops, names)

    return kernels_of
