"""The residency problem as a mixed-integer programme, for HiGHS.

Each kernel takes one of its eight placements p under one of its schedules r, z[i, p, r] in [0, 1] with sum 1; whether
an edge's tensor stays (a) and whether weights stay (w) are the binary sums of the placements that say so, and S is what
all resident weights take:

    minimise  sum objective[i, p, r] z[i, p, r]
    such that sum_{p, r} z[i, p, r] = 1,  sum_{p keeps k, r} z[i, p, r] = a[i], a[i + 1] or w[i],
              sum_{p, r} need[i, p, r] z[i, p, r] + S <= capacity,  S = sum weight_bytes[i] w[i]

Without a choice of schedules z is whole by itself; with one it is made binary, and what another schedule betters in
both time and room is left out.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from lib.program.kernels import INPUT, OUTPUT, WEIGHT
from lib.residency.problem import (
    INPUT_STAYS,
    OUTPUT_STAYS,
    PLACEMENTS,
    WEIGHT_STAYS,
    ResidencyProblem,
    by_choice,
    is_allowed,
    kept_roles,
)

FEASIBILITY = 4e-6
"""Share of the capacity by which HiGHS may overrun a constraint (1e-6 in each row and in each variable's wholeness)."""


def solve_exactly(
    problem: ResidencyProblem, gap: float, seconds: float
) -> tuple[np.ndarray | None, np.ndarray | None, float]:
    """A placement within `gap` of the best (uint8[n]), its choice of schedules (int64[n]) and a bound of the objective.

    Both are None where none was found in time.

    `seconds` limits the time. The placement keeps to the capacity byte by byte: where HiGHS overruns it within its
    tolerance, it solves once more with a capacity smaller by that.
    """
    placement, choice, bound = _solve(problem, problem.capacity_bytes, gap, seconds)
    if placement is not None and choice is not None and not is_allowed(problem, placement, choice):
        placement, choice, _ = _solve(problem, int(problem.capacity_bytes * (1 - FEASIBILITY)), gap, seconds)
        if placement is not None and choice is not None and not is_allowed(problem, placement, choice):
            return None, None, bound
    return placement, choice, bound


def _better_elsewhere(objective: np.ndarray, need: np.ndarray) -> np.ndarray:
    """bool[n, 8, r]: another schedule takes neither more time nor more room, and is strictly better or comes first."""
    worse = np.zeros(objective.shape, dtype=bool)
    for one in range(objective.shape[2]):
        for other in range(objective.shape[2]):
            covers = (objective[..., other] <= objective[..., one]) & (need[..., other] <= need[..., one])
            same = (objective[..., other] == objective[..., one]) & (need[..., other] == need[..., one])
            worse[..., one] |= covers & (~same | (other < one)) & (other != one)
    return worse


def _solve(
    problem: ResidencyProblem, capacity: int, gap: float, seconds: float
) -> tuple[np.ndarray | None, np.ndarray | None, float]:
    objective, need = problem.objective(), by_choice(problem.need_bytes)
    n, _, choices = objective.shape
    scale = float(objective[:, 0].min(axis=1).sum()) or 1.0
    size = float(max(1, capacity))
    own = PLACEMENTS * choices
    keeps = np.repeat(kept_roles(), choices, axis=0)
    # Variables: z by kernel, placement and schedule; a[0 .. n]; w; S.
    edge, weight, pinned = own * n, own * n + n + 1, own * n + 2 * n + 1
    variables = pinned + 1
    cost = np.zeros(variables)
    cost[:edge] = (objective / scale).ravel()
    upper = np.ones(variables)
    upper[:edge] = ((need <= capacity) & ~_better_elsewhere(objective, need)).ravel()
    upper[edge : edge + n] = problem.may_stay
    upper[edge + n] = 0.0
    upper[weight : weight + n] = problem.weight_bytes > 0
    whole = np.zeros(variables)
    whole[edge:pinned] = 1
    whole[:edge] = choices > 1

    kernel = np.arange(n)
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    values: list[np.ndarray] = []

    def add(row, column, value) -> None:
        for store, part in zip((rows, columns, values), np.broadcast_arrays(row, column, value), strict=True):
            store.append(part.ravel())

    taken = kernel[:, None] * own + np.arange(own)
    add(kernel[:, None], taken, 1.0)
    for role, first in ((INPUT, edge), (WEIGHT, weight), (OUTPUT, edge + 1)):
        add((1 + role) * n + kernel[:, None], taken[:, keeps[:, role] > 0], 1.0)
        add((1 + role) * n + kernel, first + kernel, -1.0)
    add(4 * n + kernel[:, None], taken, need.reshape(n, own) / size)
    add(4 * n + kernel, pinned, 1.0)
    add(5 * n, weight + kernel, problem.weight_bytes / size)
    add(5 * n, pinned, -1.0)
    matrix = csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(5 * n + 1, variables)
    )
    equal = np.concatenate([np.ones(n), np.zeros(3 * n)])
    low = np.concatenate([equal, np.full(n, -np.inf), [0.0]])
    high = np.concatenate([equal, np.full(n, capacity / size), [0.0]])
    result = milp(
        cost, integrality=whole, bounds=Bounds(0.0, upper), constraints=LinearConstraint(matrix, low, high),
        options={"mip_rel_gap": gap, "time_limit": seconds},
    )  # fmt: skip
    bound = -np.inf if result.mip_dual_bound is None else float(result.mip_dual_bound) * scale
    if result.x is None:
        return None, None, bound
    stays, held = result.x[edge : edge + n + 1] > 0.5, result.x[weight:pinned] > 0.5
    placement = INPUT_STAYS * stays[:-1] + OUTPUT_STAYS * stays[1:] + WEIGHT_STAYS * held
    share = result.x[:edge].reshape(n, PLACEMENTS, choices)[kernel, placement]
    return placement.astype(np.uint8), share.argmax(axis=1), bound
