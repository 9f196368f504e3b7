"""Schedules and residency together: the tile that is fastest alone may eat the buffer that its neighbours need."""

from typing import NamedTuple

import numpy as np

from lib.cost.simulator import Simulator
from lib.cost.simulator_constants import SimulatorConstants
from lib.hardware.datapath import Datapath
from lib.program.extraction import ProgramKernels
from lib.program.kernels import Kernels
from lib.residency.problem import PLACEMENTS
from lib.residency.program_residency import Variant, with_room
from lib.residency.residency import Residency
from lib.residency.solve import solve
from lib.schedule.best import best_of, best_schedules
from lib.schedule.schedules import Schedules
from lib.schedule.tiles import tile_space

BUDGETS = (0.25, 0.0625, 1 / 256)
"""Shares of the global buffer that tiles may take in the schedules for kernels that move everything."""
BUDGET_BESIDE_RESIDENTS = 0.0625
"""Share that the tiles of what still moves may take in the schedules for other placements."""


class Plan(NamedTuple):
    """How a program runs on a core."""

    schedules: Schedules
    """One row an occurrence, in their order; `kernel` is that of the program's kernels, `resident` the placement."""
    residency: Residency


def schedules_to_choose_from(
    kernels: Kernels, datapath: Datapath, *, limit: int | None = None, seed: int = 0,
    constants: SimulatorConstants | None = None,
) -> Schedules:  # fmt: skip
    """Rows for :func:`lib.residency.program_residency.residency_problem`, equally many a kernel, kernel after kernel.

    The first is the best schedule of the kernel alone (:func:`lib.schedule.best.best_schedules`, with its `limit` and
    `seed`); others take less room for their tiles or suit operands on chip. Without a global buffer it is the only one.
    Raises ValueError for a kernel of which no tile fits.
    """
    tiles = None if limit is None else tile_space(kernels, datapath, limit, seed)
    roomy = with_room(kernels, datapath)

    def best(placement: int, share: float | None) -> Schedules:
        # Whether the operands that stay fit is for residency to say.
        design = roomy if placement else datapath
        budget = None if share is None else int(share * datapath.global_buffer_bytes)
        resident = np.full(kernels.number, placement, dtype=np.uint8)
        if tiles is None:
            found = best_schedules(kernels, design, budget_bytes=budget, resident=resident, constants=constants)
        else:
            found = best_of(kernels, tiles, design, budget_bytes=budget, resident=resident, constants=constants)
        lost = np.flatnonzero(np.isnan(found.seconds))
        if len(lost):
            raise ValueError(f"residency: no tile of kernel {lost[0]} ({kernels.fingerprint[lost[0]]}) fits on chip")
        return found.schedules._replace(resident=np.zeros(kernels.number, dtype=np.uint8))

    rows = [best(0, None)]
    if datapath.global_buffer_bytes > 0:
        rows += [best(0, share) for share in BUDGETS]
        rows += [best(placement, BUDGET_BESIDE_RESIDENTS) for placement in range(1, PLACEMENTS)]
    return Schedules(
        *(np.stack(fields, axis=1).reshape(-1, *fields[0].shape[1:]) for fields in zip(*rows, strict=True))
    )


def plan(
    found: ProgramKernels, leaves: np.ndarray, datapath: Datapath, variant: Variant, *, limit: int | None = None,
    seed: int = 0, constants: SimulatorConstants | None = None,
) -> Plan:  # fmt: skip
    """The best of schedules and residency that :func:`schedules_to_choose_from` offers, for a program's occurrences."""
    rows = schedules_to_choose_from(found.kernels, datapath, limit=limit, seed=seed, constants=constants)
    residency = solve(found, leaves, rows, datapath, Simulator(constants), variant)
    choices = len(rows.kernel) // max(1, found.kernels.number)
    chosen = found.occurrence_kernel * choices + residency.choice
    schedules = Schedules(*(field[chosen] for field in rows))
    return Plan(schedules._replace(resident=residency.placement), residency)
