"""Programs on datapaths, priced by the simulator, in the form that the paper's figures need."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from lib.cost.pipeline import EXPOSED_S, VECTOR_S
from lib.cost.simulator import Simulator
from lib.cost.simulator_constants import SimulatorConstants
from lib.fidelity.fast.chain import Chain, fast_chain
from lib.fidelity.fast.regions import BLOCK
from lib.fusion.space import default_fusion, group
from lib.hardware.datapath import Datapath, datapath_from_spec, peak_flops_per_s
from lib.hardware.power import chip_power
from lib.program.dataflow import MATRIX
from lib.program.extraction import ProgramKernels, extract, kernel_work
from lib.program.kernels import KERNEL_CLASSES, Kernels
from lib.program.op_kinds import op_classes_by_opcode
from lib.program.program import Program
from lib.residency.plan import schedules_to_choose_from
from lib.residency.program_residency import leaving, residency_problem
from lib.residency.residency import solve_residency
from lib.schedule.best import best_schedules
from lib.schedule.default import default_schedule
from lib.schedule.schedules import Schedules
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from schemas.power_area import PowerAreaModel

Scheduling = Literal["default", "best"]
"""`default`: the compiler's, 'TPU-v3 as it is'; `best`: the fastest by the simulator."""

TILES_TO_CHOOSE_FROM = 256
"""Of each kernel, where schedules and residency are chosen together: the compiler's and a sample."""
BATCHES = (1, 2, 4, 8, 16, 32, 64)
"""Samples that a core works on at once: powers of two, as in the paper's table 3."""
ACCEPTED_GAP = 0.01
"""A placement is taken where it is proven to lie within this share of the best."""


class Occurrences(NamedTuple):
    """The kernels of a program at one batch, in the order in which they run: m occurrences of k distinct kernels."""

    found: ProgramKernels
    leaves: np.ndarray
    """bool[m] whether the output leaves the program."""
    names: list[str]
    """m names: of the matrix op, else of the root."""
    blocks: list[str]
    """m labels as in the paper's figures 4 and 14: `stem`, `2a`, `top`; kernels without one go with those before."""
    flops: np.ndarray
    """float64[m] of all runs of the occurrence."""
    classes: list[str]
    """m entries of KERNEL_CLASSES."""


class Run(NamedTuple):
    """One core working on one batch; arrays have an entry an occurrence."""

    occurrences: Occurrences
    datapath: Datapath
    batch: int
    seconds: np.ndarray
    """float64[m]"""
    stalled_s: np.ndarray
    """float64[m] of them, those in which DRAM is waited for: what no compute hides."""
    dram_bytes: np.ndarray
    """float64[m]"""

    @property
    def latency_s(self) -> float:
        """Of the batch."""
        return float(self.seconds.sum())

    @property
    def queries_per_s(self) -> float:
        """Of the chip: its cores work on a batch each."""
        return self.datapath.cores * self.batch / self.latency_s

    @property
    def stall_share(self) -> float:
        """Of the time, what is waited for DRAM."""
        return float(self.stalled_s.sum()) / self.latency_s

    @property
    def intensity(self) -> float:
        """FLOPs over DRAM bytes."""
        return float(self.occurrences.flops.sum() / self.dram_bytes.sum())

    def utilisation(self, chosen: np.ndarray | slice = slice(None)) -> float:
        """FLOPs over what the peak rate would do in all the time of the chosen occurrences."""
        peak = peak_flops_per_s(self.datapath)
        return float(self.occurrences.flops[chosen].sum() / (self.seconds[chosen].sum() * peak))

    @property
    def compute_utilisation(self) -> float:
        """FLOPs over what the peak rate would do in the time that is not waited for DRAM (table 5's)."""
        busy = self.latency_s - float(self.stalled_s.sum())
        return float(self.occurrences.flops.sum() / (busy * peak_flops_per_s(self.datapath)))

    def time_share(self, chosen: np.ndarray) -> float:
        """Of the time, that of the chosen occurrences (bool[m])."""
        return float(self.seconds[chosen].sum()) / self.latency_s


def chip(name: str, **changes) -> dict[str, Any]:
    """The resolved datapath of a hardware preset, some of its fields changed."""
    return merged_datapath([HARDWARE_PRESETS[name]]) | changes


def perf_per_tdp_gain(
    queries_per_s: float, spec: dict[str, Any], baseline_queries_per_s: float, baseline: dict[str, Any],
    model: PowerAreaModel = "fast-fitted",
) -> float:  # fmt: skip
    """Queries a second and watt over the baseline's, both chips by a power model."""
    watts = chip_power(spec, model).total / chip_power(baseline, model).total
    return queries_per_s / baseline_queries_per_s / watts


def occurrences(program: Program) -> Occurrences:
    """The kernels of the default fusion."""
    groups = group(program, default_fusion(program))
    found = extract(program, groups)
    matrix_op = {
        int(groups[index]): instruction.name
        for index, instruction in enumerate(program.instructions)
        if groups[index] >= 0 and op_classes_by_opcode()[instruction.opcode] == MATRIX
    }
    names = [matrix_op.get(root, program.instructions[root].name) for root in found.occurrence_root.tolist()]
    flops = kernel_work(found.kernels).flops[found.occurrence_kernel] * found.occurrence_executions
    classes = [KERNEL_CLASSES[number] for number in found.kernels.kernel_class[found.occurrence_kernel]]
    return Occurrences(found, leaving(found, program), names, block_labels(names), flops, classes)


def block_labels(names: list[str]) -> list[str]:
    """Block of each name: `2a` in an EfficientNet block, else the layer's first word where it is a convolution."""
    labels, current = [], ""
    for name in names:
        found = BLOCK.match(name)
        if found:
            current = found[1]
        elif "_conv" in name:
            current = name.partition("_conv")[0]
        labels.append(current)
    return labels


class Runs:
    """Prices programs in byte convention `table-5` and remembers what does not depend on the simulator's constants."""

    def __init__(self, programs: Mapping[str, Program]):
        self.programs = programs
        self._kernels: dict[tuple[str, int], tuple[Occurrences, Chain]] = {}
        self._batches: dict[tuple[str, Datapath], int] = {}
        self._schedules: dict[tuple[str, int, Datapath, Scheduling, bool], Schedules] = {}

    def run(
        self, workload: str, batch: int, spec: dict[str, Any], scheduling: Scheduling, *, resident: bool = False,
        constants: SimulatorConstants | None = None,
    ) -> Run:  # fmt: skip
        """A workload at a batch a core, with or without tensors that stay in the global buffer between kernels.

        `spec`: :func:`chip`. The best schedules with residency are chosen together with it. Raises ValueError naming
        the kernel of which no tile fits.
        """
        datapath = datapath_from_spec(spec)
        model = Simulator(constants)
        kernels_of, chain = self.kernels(workload, batch)
        kernels, place = kernels_of.found.kernels, kernels_of.found.occurrence_kernel
        rows = self.schedules(workload, batch, datapath, scheduling, resident)
        problem = residency_problem(chain.found, chain.leaves, rows, datapath, model, "paper-printed")
        choice = np.zeros(len(place), dtype=np.int64)
        if resident:
            solved = solve_residency(problem, accepted_gap=ACCEPTED_GAP)
            choice[chain.order] = solved.choice
            chain_s, chain_bytes = solved.kernel_s, solved.dram_bytes
        else:
            chain_s, chain_bytes = problem.seconds[:, 0], problem.dram_bytes[:, 0]
        busy_s, vector_s = _busy_s(model, kernels, rows, datapath)[:, place * problem.choices + choice]
        busy_s[chain.reductions] = vector_s[chain.reductions]
        busy_s = busy_s * kernels_of.found.occurrence_executions
        seconds, dram_bytes = np.zeros(len(place)), np.zeros(len(place))
        seconds[chain.order], dram_bytes[chain.order] = chain_s, chain_bytes
        seconds[chain.reductions] = busy_s[chain.reductions]
        run = Run(kernels_of, datapath, batch, seconds, np.maximum(0.0, seconds - busy_s), dram_bytes)
        if resident:
            # The tiles to choose from are a sample: nothing resident may be faster.
            alone = self.run(workload, batch, spec, scheduling, constants=constants)
            return min(alone, run, key=lambda candidate: candidate.latency_s)
        return run

    def best_batch(self, workload: str, spec: dict[str, Any]) -> int:
        """Of `BATCHES` the one with the most queries a second, with the best schedules and residency.

        In the paper the batch is a parameter of the search, so each workload may have its own.
        """
        key = workload, datapath_from_spec(spec)
        if key not in self._batches:
            speed = {batch: self.run(workload, batch, spec, "best", resident=True).queries_per_s for batch in BATCHES}
            self._batches[key] = max(BATCHES, key=speed.__getitem__)
        return self._batches[key]

    def kernels(self, workload: str, batch: int) -> tuple[Occurrences, Chain]:
        """The workload's kernels and the paper's view of them."""
        key = workload, batch
        if key not in self._kernels:
            program = self.programs[workload].with_batch(batch)
            found = occurrences(program)
            self._kernels[key] = found, fast_chain(program, found.found, found.leaves, found.names)
        return self._kernels[key]

    def schedules(
        self, workload: str, batch: int, datapath: Datapath, scheduling: Scheduling, choice: bool = False
    ) -> Schedules:
        """One row a kernel; with `choice` several of the best ones, for residency to choose from."""
        key = workload, batch, datapath, scheduling, choice
        if key not in self._schedules:
            kernels = self.kernels(workload, batch)[0].found.kernels
            if scheduling == "default":
                rows = default_schedule(kernels, datapath)
            elif choice:
                rows = schedules_to_choose_from(kernels, datapath, limit=TILES_TO_CHOOSE_FROM)
            else:
                rows = best_schedules(kernels, datapath).schedules
            self._schedules[key] = rows
        return self._schedules[key]


def _busy_s(model: Simulator, kernels: Kernels, rows: Schedules, datapath: Datapath) -> np.ndarray:
    """float64[2, r] of each row, what is not waited for DRAM, and the vector unit alone; the global buffer has room for
    tiles beside residents."""
    everything = int((kernels.operand_elements * np.maximum(kernels.operand_element_bytes, 4)).sum())
    if datapath.global_buffer_bytes > 0:
        datapath = datapath._replace(global_buffer_bytes=2 * (datapath.global_buffer_bytes + everything))
    costs = model.cost(kernels, rows, datapath, parts=True)
    assert costs.parts is not None
    return np.stack([costs.value - costs.parts[:, EXPOSED_S], costs.parts[:, VECTOR_S]])
