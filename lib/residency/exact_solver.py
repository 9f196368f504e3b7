"""The residency problem as a mixed-integer programme, for HiGHS.

Each kernel takes one of its eight placements, z[i, p] in [0, 1] with sum 1; whether an edge's tensor stays (a) and
whether weights stay (w) are the binary sums of the placements that say so, and S is what all resident weights take:

    minimise  sum objective[i, p] z[i, p]
    such that sum_p z[i, p] = 1,  sum_{p keeps k} z[i, p] = a[i], a[i + 1] or w[i],
              sum_p need[i, p] z[i, p] + S <= capacity,  S = sum weight_bytes[i] w[i]
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from lib.residency.problem import (
    INPUT_STAYS,
    OUTPUT_STAYS,
    PLACEMENTS,
    WEIGHT_STAYS,
    ResidencyProblem,
    is_allowed,
)

FEASIBILITY = 4e-6
"""Share of the capacity by which HiGHS may overrun a constraint (1e-6 in each row and in each variable's wholeness)."""


def solve_exactly(problem: ResidencyProblem, gap: float, seconds: float) -> tuple[np.ndarray | None, float]:
    """A placement within `gap` of the best (uint8[n], None where none was found in time) and a bound of the objective.

    `seconds` limits the time. The placement keeps to the capacity byte by byte: where HiGHS overruns it within its
    tolerance, it solves once more with a capacity smaller by that.
    """
    placement, bound = _solve(problem, problem.capacity_bytes, gap, seconds)
    if placement is not None and not is_allowed(problem, placement):
        placement, _ = _solve(problem, int(problem.capacity_bytes * (1 - FEASIBILITY)), gap, seconds)
        if placement is not None and not is_allowed(problem, placement):
            placement = None
    return placement, bound


def _solve(problem: ResidencyProblem, capacity: int, gap: float, seconds: float) -> tuple[np.ndarray | None, float]:
    n = len(problem.seconds)
    objective = problem.objective()
    scale = float(objective[:, 0].sum()) or 1.0
    size = float(max(1, capacity))
    bits = np.arange(PLACEMENTS)
    edge, weight, pinned = PLACEMENTS * n, PLACEMENTS * n + n + 1, PLACEMENTS * n + 2 * n + 1
    variables = pinned + 1  # z by kernel and placement, a[0 .. n], w, S
    cost = np.zeros(variables)
    cost[:edge] = (objective / scale).ravel()
    upper = np.ones(variables)
    upper[:edge] = (problem.need_bytes <= capacity).ravel()
    upper[edge : edge + n] = problem.may_stay
    upper[edge + n] = 0.0
    upper[weight : weight + n] = problem.weight_bytes > 0
    whole = np.zeros(variables)
    whole[edge:pinned] = 1

    kernel = np.arange(n)
    rows, columns, values = [], [], []

    def add(row, column, value):
        row, column, value = np.broadcast_arrays(row, column, value)
        rows.append(row.ravel())
        columns.append(column.ravel())
        values.append(value.ravel())

    placed = kernel[:, None] * PLACEMENTS + bits
    add(kernel[:, None], placed, 1.0)
    for number, (bit, first) in enumerate(((INPUT_STAYS, edge), (OUTPUT_STAYS, edge + 1), (WEIGHT_STAYS, weight)), 1):
        add(number * n + kernel[:, None], placed[:, (bits & bit) > 0], 1.0)
        add(number * n + kernel, first + kernel, -1.0)
    add(4 * n + kernel[:, None], placed, problem.need_bytes / size)
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
        return None, bound
    stays, held = result.x[edge : edge + n + 1] > 0.5, result.x[weight:pinned] > 0.5
    placement = INPUT_STAYS * stays[:-1] + OUTPUT_STAYS * stays[1:] + WEIGHT_STAYS * held
    return placement.astype(np.uint8), bound
