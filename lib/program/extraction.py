"""Kernels of a program under a fusion configuration."""

from typing import NamedTuple

import numpy as np

from lib.program.dataflow import Dataflow
from lib.program.kernel_builder import KernelsBuilder
from lib.program.kernel_row import LARGEST_EXTENT, kernel_row
from lib.program.kernel_work import KernelWork, kernel_work
from lib.program.kernels import Kernels, concatenate, empty_kernels, take, unique
from lib.program.program import Program

__all__ = ["KernelExtractor", "KernelWork", "ProgramKernels", "extract", "kernel_work"]


class ProgramKernels(NamedTuple):
    """The kernels of a program. An occurrence is one place of a kernel; occurrences are in program order."""

    kernels: Kernels
    """k distinct kernels, in order of first occurrence."""
    executions: np.ndarray
    """int32[k] how often each kernel runs: over its occurrences, and over the steps of the loops that they are in."""
    roots: list[str]
    """Name of the root instruction of each kernel's first occurrence."""
    occurrence_kernel: np.ndarray
    """int32[m]"""
    occurrence_root: np.ndarray
    """int32[m] index of the root instruction."""
    occurrence_edge: np.ndarray
    """int32[e, 3] (producing occurrence, reading occurrence, the reader's operand). An operand without an edge is a
    parameter or constant of the program, or reaches or leaves a loop through memory."""
    occurrence_executions: np.ndarray
    """int32[m] how often each occurrence runs: 1 outside of loops."""
    occurrence_leaves: np.ndarray
    """bool[m] whether its output must be in memory: it leaves the program, perhaps reshaped, or a loop."""

    def first_members(self, groups: np.ndarray) -> dict[str, np.ndarray]:
        """Ascending indices of the instructions that make each kernel where it first occurs, by fingerprint. `groups`:
        int32[n] root of each instruction's kernel, of which the kernels were extracted."""
        first: dict[int, int] = {}
        for root, kernel in zip(self.occurrence_root.tolist(), self.occurrence_kernel.tolist(), strict=True):
            first.setdefault(kernel, root)
        return {self.kernels.fingerprint[kernel]: np.flatnonzero(groups == root) for kernel, root in first.items()}


class _Built(NamedTuple):
    """One kernel's row in the store and what its operands hold (instruction indices)."""

    row: int
    sources: tuple[int, ...]


class KernelExtractor:
    """Extracts the kernels of many configurations of one program; a group met before is not built again."""

    def __init__(self, program: Program):
        self.flow = Dataflow(program)
        self._built: dict[tuple[int, ...], _Built] = {}
        self._store = empty_kernels()

    def extract(self, groups: np.ndarray) -> ProgramKernels:
        """The kernels of int32[n] `groups` (root index an instruction, -1: free), as :func:`lib.fusion.group` gives.

        Raises ValueError for groups that are no legal kernels, UnsupportedInstruction for what no kernel represents.
        """
        members: dict[int, list[int]] = {}
        for index, root in enumerate(np.asarray(groups).tolist()):
            if root >= 0:
                members.setdefault(root, []).append(index)
        roots = sorted(members)
        keys = [tuple(members[root]) for root in roots]
        self._build([key for key in keys if key not in self._built])
        built = [self._built[key] for key in keys]
        kernels, occurrence_kernel = unique(take(self._store, np.array([b.row for b in built], dtype=np.int64)))
        occurrence_executions = np.array([self.flow.runs[root] for root in roots], dtype=np.int64)
        executions = np.zeros(kernels.number, dtype=np.int64)
        np.add.at(executions, occurrence_kernel, occurrence_executions)
        if executions.max(initial=0) > LARGEST_EXTENT:
            raise ValueError(
                f"program '{self.flow.program.name}': a kernel runs {executions.max()} times; at most {LARGEST_EXTENT}"
                " can be counted; give the workload a smaller trip_count"
            )
        first: dict[int, int] = {}
        for root, kernel in zip(roots, occurrence_kernel.tolist(), strict=True):
            first.setdefault(kernel, root)
        place = {root: occurrence for occurrence, root in enumerate(roots)}
        edges = [
            (place[source], occurrence, operand)
            for occurrence, b in enumerate(built)
            for operand, source in enumerate(b.sources)
            if source in place
        ]
        runs = self.flow.runs
        through_memory = {producer for producer, reader, _ in edges if runs[roots[producer]] != runs[roots[reader]]}
        edges = [edge for edge in edges if runs[roots[edge[0]]] == runs[roots[edge[1]]]]
        return ProgramKernels(
            kernels=kernels,
            executions=executions.astype(np.int32),
            roots=[self.flow.instructions[first[k]].name for k in range(kernels.number)],
            occurrence_kernel=occurrence_kernel,
            occurrence_root=np.array(roots, dtype=np.int32),
            occurrence_edge=np.array(edges, dtype=np.int32).reshape(-1, 3),
            occurrence_executions=occurrence_executions.astype(np.int32),
            occurrence_leaves=np.array(
                [self.flow.output[root] or place[root] in through_memory for root in roots], dtype=bool
            ),
        )

    def _build(self, keys: list[tuple[int, ...]]) -> None:
        builder = KernelsBuilder()
        for key in keys:
            row, sources = kernel_row(self.flow, key)
            self._built[key] = _Built(self._store.number + builder.add(row), sources)
        self._store = concatenate([self._store, builder.build()])


def extract(program: Program, groups: np.ndarray) -> ProgramKernels:
    """Kernels of one configuration; for many keep a :class:`KernelExtractor`. See :meth:`KernelExtractor.extract`."""
    return KernelExtractor(program).extract(groups)
