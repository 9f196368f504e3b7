"""A workload on a datapath: what each of its kernels takes, and the whole.

Three ways: as a compiler would run it (the default schedule of every kernel, nothing on chip between kernels), quickly
as in a trial (schedules by descent, residency with the gap of its fast solver) and thoroughly as a final design (best
schedules of the whole tile space, residency solved to its small gap).
"""

from typing import NamedTuple

import numpy as np

from lib.cost.energy import energy_of_rows
from lib.cost.pipeline import BYTES
from lib.cost.simulator import Simulator
from lib.hardware.datapath import Datapath, peak_flops_per_s
from lib.program.kernels import OUTPUT
from lib.residency.problem import kept_roles
from lib.residency.program_residency import PlacementCosts, Variant, placement_costs
from lib.residency.residency import Residency
from lib.residency.solve import solve_priced
from lib.schedule.best import best_schedules
from lib.schedule.default import default_schedule
from lib.schedule.descent import Enough, PreparedKernels, found_schedules
from lib.schedule.schedules import Schedules
from lib.search.workload import WorkloadKernels

TRIAL_GAP = 1e-2
"""Inside a trial a placement is taken that is proven to lie within this share of the best (`lifetime`); the chain
solver of `paper` is quick enough to be run to its end."""


class NoRun(NamedTuple):
    """Why there is no run of k kernels."""

    failing: np.ndarray
    """bool[k] no tile of the kernel fits."""
    least_s: float
    """Where that is more than enough, so that the trial ended early: what all kernels take at least, else 0."""


class Run(NamedTuple):
    """A workload of o occurrences on a design."""

    occurrence_s: np.ndarray
    """float64[o] seconds of one execution of each occurrence on a core."""
    dram_bytes: np.ndarray
    """float64[o] what it moves to and from DRAM."""
    latency_s: float
    """Of a batch on a core."""
    joules: float
    """Of a query: energy of every event that the simulator counts."""
    queries_per_s: float
    """Of the chip: its cores work on a batch each."""
    utilisation: float
    """FLOPs over what the peak rate would do in the same time."""
    schedules: Schedules
    """One row an occurrence, `resident` included."""
    residency: Residency | None
    """None where nothing was asked to stay."""


def compiled_run(work: WorkloadKernels, datapath: Datapath, model: Simulator) -> Run:
    """Every kernel by its default schedule, nothing on chip between kernels. Raises NoTileFits."""
    rows = default_schedule(work.kernels, datapath, work.roots)
    return _placed(work, rows, datapath, model, None)


def quick_run(
    work: WorkloadKernels, prepared: PreparedKernels, datapath: Datapath, model: Simulator, residency: Variant | None,
    dataflows: int, enough: Enough | None = None,
) -> Run | NoRun:  # fmt: skip
    """Schedules by descent, residency with a gap. With `enough` no run that surely takes longer."""
    several = residency is not None and datapath.global_buffer_bytes > 0
    found = found_schedules(prepared, datapath, several=several, dataflows=dataflows, enough=enough)
    if found.least_s[0] > 0 or not found.rows.all():
        return NoRun((found.rows == 0) & (found.least_s[0] == 0), float(found.least_s[0]))
    rows, seconds, parts = found.choices()
    costs = PlacementCosts(seconds.transpose(0, 2, 1), _dram_bytes(parts), parts)
    stays = None
    if several and residency is not None:
        gap = np.inf if residency == "paper" else TRIAL_GAP
        stays = solve_priced(
            work.found, work.leaves, rows, costs, datapath, residency, accepted_gap=gap, exact_seconds=0.0,
            start_from_paper=False,
        )  # fmt: skip
    return _run(work, rows, costs, datapath, model, stays)


def _dram_bytes(parts: np.ndarray) -> np.ndarray:
    """float64[k, 8, r, 3] by placement and role: what stays does not move, everything else does as before."""
    return parts[:, None, :, BYTES : BYTES + 3] * (1 - kept_roles())[:, None, :]


def thorough_run(
    work: WorkloadKernels, prepared: PreparedKernels, datapath: Datapath, model: Simulator, residency: Variant | None,
    dataflows: int,
) -> Run | NoRun:  # fmt: skip
    """The best schedule of each kernel over the whole tile space, beside it what a trial finds for residency to choose
    from, and what stays on chip solved to its small gap.

    :func:`lib.residency.plan.schedules_to_choose_from` offers more and takes ten times as long: on FAST's two designs
    EfficientNet-B7 and ResNet50v2 gain 0 to 1.1 % by it.
    """
    several = residency is not None and datapath.global_buffer_bytes > 0
    found = found_schedules(prepared, datapath, several=several, dataflows=dataflows)
    if not found.rows.all():
        return NoRun(found.rows == 0, 0.0)
    best = best_schedules(work.kernels, datapath, constants=model.constants, dataflows=dataflows).schedules
    if not several:
        return _placed(work, best, datapath, model, None)
    return _placed(work, _side_by_side(best, found.choices()[0]), datapath, model, residency)


def _side_by_side(first: Schedules, second: Schedules) -> Schedules:
    """Rows of both, kernel after kernel."""
    order = np.argsort(np.concatenate([first.kernel, second.kernel]), kind="stable")
    return Schedules(*(np.concatenate(pair)[order] for pair in zip(first, second, strict=True)))


def _placed(
    work: WorkloadKernels, rows: Schedules, datapath: Datapath, model: Simulator, residency: Variant | None
) -> Run:
    """Rows priced by the simulator, equally many a kernel, the first being the fastest alone."""
    costs = placement_costs(work.kernels, rows, datapath, model)
    stays = None if residency is None else solve_priced(work.found, work.leaves, rows, costs, datapath, residency)
    return _run(work, rows, costs, datapath, model, stays)


def _run(
    work: WorkloadKernels, rows: Schedules, costs: PlacementCosts, datapath: Datapath, model: Simulator,
    stays: Residency | None,
) -> Run:  # fmt: skip
    """With what stays on chip, or without where that is no faster. `rows`: r a kernel, kernel after kernel."""
    kernel, executions = work.occurrence, work.occurrence_executions
    choice, placement = np.zeros(len(kernel), dtype=np.int64), np.zeros(len(kernel), dtype=np.uint8)
    seconds, dram_bytes = costs.seconds[kernel, 0, 0], costs.dram_bytes[kernel, 0, 0].sum(axis=1)
    if stays is not None and stays.seconds < float(seconds @ executions):
        choice, placement = stays.choice, stays.placement
        seconds, dram_bytes = stays.kernel_s / executions, stays.dram_bytes / executions
    else:
        stays = None
    latency_s = float(seconds @ executions)
    events = costs.parts[kernel, choice]
    events[:, BYTES : BYTES + 3] = 0.0
    events[:, BYTES + OUTPUT] = dram_bytes
    energy = energy_of_rows(
        work.kernels, kernel, seconds, events, datapath, model.power_model, model.constants.mesh_width
    )
    chosen = Schedules(*(field[kernel * costs.parts.shape[1] + choice] for field in rows))
    return Run(
        occurrence_s=seconds,
        dram_bytes=dram_bytes,
        latency_s=latency_s,
        joules=float(energy.total @ executions) / datapath.native_batch,
        queries_per_s=datapath.cores * datapath.native_batch / latency_s,
        utilisation=float(work.flops @ work.executions) / (latency_s * peak_flops_per_s(datapath)),
        schedules=chosen._replace(resident=placement),
        residency=stays,
    )
