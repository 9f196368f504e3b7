"""Kernels of a program under a fusion configuration."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from lib.program.canonical_loops import CanonicalLoops
from lib.program.dataflow import Dataflow, describe
from lib.program.kernel_builder import KernelRow, KernelsBuilder, OperandRow, OpRow
from lib.program.kernel_work import KernelWork, kernel_work
from lib.program.kernels import INPUT, KERNEL_CLASSES, OUTPUT, WEIGHT, Kernels, concatenate, empty_kernels, take, unique
from lib.program.program import ConvolutionDimensions, Program
from lib.program.region import Region

__all__ = ["KernelExtractor", "KernelWork", "ProgramKernels", "extract", "kernel_work"]


class ProgramKernels(NamedTuple):
    """The kernels of a program. An occurrence is one run of a kernel; occurrences are in program order."""

    kernels: Kernels
    """k distinct kernels, in order of first occurrence."""
    executions: np.ndarray
    """int32[k] occurrences of each kernel."""
    roots: list[str]
    """Name of the root instruction of each kernel's first occurrence."""
    occurrence_kernel: np.ndarray
    """int32[m]"""
    occurrence_root: np.ndarray
    """int32[m] index of the root instruction."""
    occurrence_edge: np.ndarray
    """int32[e, 3] (producing occurrence, reading occurrence, the reader's operand). An operand without an edge is a
    parameter or constant of the program."""


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
        executions = Counter(occurrence_kernel.tolist())
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
        return ProgramKernels(
            kernels=kernels,
            executions=np.array([executions[k] for k in range(kernels.number)], dtype=np.int32),
            roots=[self.flow.instructions[first[k]].name for k in range(kernels.number)],
            occurrence_kernel=occurrence_kernel,
            occurrence_root=np.array(roots, dtype=np.int32),
            occurrence_edge=np.array(edges, dtype=np.int32).reshape(-1, 3),
        )

    def _build(self, keys: list[tuple[int, ...]]) -> None:
        builder = KernelsBuilder()
        for key in keys:
            row, sources = _kernel_row(self.flow, key)
            self._built[key] = _Built(self._store.number + builder.add(row), sources)
        self._store = concatenate([self._store, builder.build()])


def extract(program: Program, groups: np.ndarray) -> ProgramKernels:
    """Kernels of one configuration; for many keep a :class:`KernelExtractor`. See :meth:`KernelExtractor.extract`."""
    return KernelExtractor(program).extract(groups)


def _kernel_row(flow: Dataflow, members: tuple[int, ...]) -> tuple[KernelRow, tuple[int, ...]]:
    """The kernel of `members` (ascending; the root last) and the instruction that holds each of its operands."""
    region = _region(flow, members)
    loops = CanonicalLoops(region)
    node: dict[tuple, int] = {}
    operands: list[OperandRow] = []
    sources: list[int] = []
    reads: list[list[tuple]] = []
    inside = set(members)
    for member in members:
        keys: list[tuple] = []
        for operand in flow.operands[member]:
            if operand.source in inside:
                keys.append(("op", operand.source))
                continue
            view, index_map = region.operand_view(member, operand)
            stride, order = loops.rows(flow.instructions[view], index_map)
            cut = member if flow.instructions[member].opcode == "slice" else -1  # another slice reads another part
            key = ("operand", operand.source, cut, stride, order)
            if key not in node:
                node[key] = len(operands)
                operands.append(_operand_row(flow, operand.source, view, stride, order))
                sources.append(operand.source)
            keys.append(key)
        reads.append(keys)
    for position, member in enumerate(members):
        node["op", member] = len(operands) + position
    root = flow.instructions[members[-1]]
    stride, order = loops.rows(root, region.maps[members[-1]])
    hero = region.hero if region.hero >= 0 else members[-1]
    ops = []
    for member, keys in zip(members, reads, strict=True):
        instruction = flow.instructions[member]
        own = loops.iteration_stride() if member == region.hero else loops.rows(instruction, region.maps[member])[0]
        read = tuple(dict.fromkeys(node[key] for key in keys))
        ops.append(OpRow(instruction.opcode, own, instruction.elements, instruction.element_bytes, read))
    row = KernelRow(
        kernel_class=KERNEL_CLASSES.index(_kernel_class(flow, region)),
        loops=loops.loops,
        loop_kind=loops.loop_kind,
        hero=members.index(hero),
        operands=[*operands, OperandRow(OUTPUT, stride, order, root.elements, root.element_bytes)],
        ops=ops,
        base_dilation=loops.base_dilation,
    )
    return row, tuple(sources)


def _region(flow: Dataflow, members: tuple[int, ...]) -> Region:
    region = Region(flow, members[-1])
    for member in reversed(members[:-1]):
        readers = {use.reader for use in flow.uses[member]}
        if flow.output[member] or not readers <= set(members) or not region.add(member):
            raise ValueError(
                f"program '{flow.program.name}': {describe(flow.instructions[member])} can't be in the kernel of "
                f"'{flow.instructions[members[-1]].name}'"
            )
    return region


def _operand_row(flow: Dataflow, index: int, view: int, stride: tuple[int, ...], order: tuple[int, ...]) -> OperandRow:
    source = flow.instructions[index]
    weight = source.opcode == "constant" or source.role == "weight"
    elements = min(source.elements, flow.instructions[view].elements)
    return OperandRow(WEIGHT if weight else INPUT, stride, order, elements, source.element_bytes)


def _kernel_class(flow: Dataflow, region: Region) -> str:
    if region.hero < 0:
        work = any(flow.is_elementwise(member) for member in region.members)
        return "elementwise" if work else "movement"
    hero = flow.instructions[region.hero]
    if hero.convolution is not None and _is_depthwise(flow, region.hero, hero.convolution):
        return "depthwise-convolution"
    return {"convolution": "convolution", "dot": "dot", "reduce": "reduction", "reduce-window": "window"}[hero.opcode]


def _is_depthwise(flow: Dataflow, index: int, numbers: ConvolutionDimensions) -> bool:
    """One input channel a group; in the gradient of the weights: one output channel a batch group."""
    hero = flow.instructions[index]
    if numbers.feature_groups > 1:
        return flow.instructions[hero.operands[1]].dimensions[numbers.kernel_input_feature] == 1
    return numbers.batch_groups > 1 and numbers.batch_groups == hero.dimensions[numbers.output_feature]
