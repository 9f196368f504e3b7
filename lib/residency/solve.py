"""What of a program stays on chip between kernels, by any variant: one face for searches and plans."""

from typing import get_args

import numpy as np

from lib.cost.cost_model import CostModel
from lib.hardware.datapath import Datapath
from lib.program.extraction import ProgramKernels
from lib.residency.lifetime import solve_lifetime
from lib.residency.program_lifetime import priced_lifetime_problem
from lib.residency.program_residency import PlacementCosts, Variant, placement_costs, priced_problem
from lib.residency.residency import ACCEPTED_GAP, EXACT_SECONDS, Residency, solve_residency
from lib.schedule.schedules import Schedules


def solve(
    found: ProgramKernels, leaves: np.ndarray, rows: Schedules, datapath: Datapath, model: CostModel, variant: Variant,
    *, accepted_gap: float = ACCEPTED_GAP, exact_seconds: float = EXACT_SECONDS, enough_s: float = np.inf,
    start_from_paper: bool = True,
) -> Residency:  # fmt: skip
    """What stays of a program's occurrences, each under one of its kernel's schedules.

    `leaves`: :func:`lib.residency.program_residency.leaving`; `rows`: one schedule a kernel or r of them, kernel after
    kernel; `accepted_gap`, `exact_seconds`: :func:`lib.residency.residency.solve_residency`; `enough_s`: the seconds of
    something better that is known, say of the best design so far: once the bound shows that this program can't be
    faster, what has been found until then is returned (its `bound_s` is above `enough_s`). `lifetime` is never worse
    than `paper`, unless `start_from_paper` is False, which saves a third to a half of the time; then the gap alone says
    how good it is. Raises ValueError as :func:`lib.residency.program_residency.residency_problem`.
    """
    if variant not in get_args(Variant):
        raise ValueError(f"residency: no variant '{variant}'; there are {', '.join(get_args(Variant))}")
    costs = placement_costs(found.kernels, rows, datapath, model)
    return solve_priced(
        found, leaves, rows, costs, datapath, variant, accepted_gap=accepted_gap, exact_seconds=exact_seconds,
        enough_s=enough_s, start_from_paper=start_from_paper,
    )  # fmt: skip


def solve_priced(
    found: ProgramKernels, leaves: np.ndarray, rows: Schedules, costs: PlacementCosts, datapath: Datapath,
    variant: Variant, *, accepted_gap: float = ACCEPTED_GAP, exact_seconds: float = EXACT_SECONDS,
    enough_s: float = np.inf, start_from_paper: bool = True,
) -> Residency:  # fmt: skip
    """The same where the rows' costs by placement are known already."""
    if variant != "lifetime":
        chain = priced_problem(found, leaves, rows, costs, datapath, variant)
        return solve_residency(chain, accepted_gap=accepted_gap, exact_seconds=exact_seconds)
    start = priced_problem(found, leaves, rows, costs, datapath, "paper") if start_from_paper else None
    return solve_lifetime(
        priced_lifetime_problem(found, leaves, rows, costs, datapath), start, accepted_gap=accepted_gap,
        exact_seconds=exact_seconds, enough_s=enough_s,
    )  # fmt: skip
