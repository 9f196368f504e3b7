"""The solution of a lifetime problem."""

import numpy as np

from lib.residency.lifetime_exact import solve_lifetime_exactly
from lib.residency.lifetime_options import Options, options
from lib.residency.lifetime_problem import (
    NOWHERE,
    LifetimePlacement,
    LifetimeProblem,
    check_lifetime_problem,
    placement_costs_of,
)
from lib.residency.lifetime_solver import Bounded, solve_over_time
from lib.residency.lives import MOST_STATES, reads_looked_at, states
from lib.residency.problem import OUTPUT_STAYS, TIE_BREAK, WEIGHT_STAYS, ResidencyProblem
from lib.residency.residency import ACCEPTED_GAP, EXACT_GAP, EXACT_SECONDS, Residency, Solver, solve_residency

SEARCHED_GAP = 1e-2
"""At which the programme over time stops at the latest, whatever gap is accepted."""


def of_chain(residency: Residency) -> LifetimePlacement:
    """The same placement where tensors stay to the next kernel at most."""
    stays = (residency.placement & OUTPUT_STAYS) > 0
    until = np.where(stays, np.arange(len(stays)) + 1, NOWHERE)
    return LifetimePlacement(until, (residency.placement & WEIGHT_STAYS) > 0, residency.choice)


def solve_lifetime(
    problem: LifetimeProblem, chain: ResidencyProblem | None = None, *, accepted_gap: float = ACCEPTED_GAP,
    exact_seconds: float = EXACT_SECONDS, enough_s: float = np.inf, most_states: int = MOST_STATES,
) -> Residency:  # fmt: skip
    """The placement with the least objective, proven to within `accepted_gap` unless HiGHS runs out of time.

    `chain`: the problem of the same kernels in which tensors stay to the next kernel at most (variant `paper`); the
    search starts from its solution, so that the result is never worse. `accepted_gap`: 0 always asks HiGHS, infinity
    never does, and neither does `exact_seconds` of 0. `enough_s`: stop once the bound is above. `most_states`: see
    :mod:`lib.residency.lives`. Raises ValueError for a problem that contradicts itself or does not fit with nothing
    resident.
    """
    check_lifetime_problem(problem)
    solver: Solver = "over-time"
    best = _nothing(problem)
    value = placement_costs_of(problem, best).objective_s
    if chain is not None:
        solved = solve_residency(chain, accepted_gap=np.inf)
        if solved.objective_s < value:
            best, value, solver = of_chain(solved), solved.objective_s, "chain"
    reads = reads_looked_at(problem, most_states)
    between = states(problem, reads)
    gap, enough = min(accepted_gap, SEARCHED_GAP), enough_s * (1 + TIE_BREAK)

    def over_time(allowed: Options) -> Bounded:
        return solve_over_time(
            problem, reads, between, allowed, objective_s=value, accepted_gap=gap, enough_s=enough
        )  # fmt: skip

    found = over_time(options(problem, reads))
    if found.placement is not None:
        best, value, solver = found.placement, found.objective_s, "over-time"
    bound = found.bound_s if reads.whole else over_time(options(problem, reads, left_out_is_free=True)).bound_s
    if value - bound > max(accepted_gap, 1e-12) * value and bound <= enough and exact_seconds > 0:
        every = reads_looked_at(problem, None)
        exact, exact_bound = solve_lifetime_exactly(
            problem, every, options(problem, every), min(EXACT_GAP, accepted_gap), exact_seconds
        )
        if every.whole:
            bound = max(bound, exact_bound)
        if exact is not None and placement_costs_of(problem, exact).objective_s < value:
            best, value, solver = exact, placement_costs_of(problem, exact).objective_s, "highs"
    costs = placement_costs_of(problem, best)
    return Residency(
        costs.placement, best.choice, costs.kernel_s, float(costs.kernel_s.sum()), costs.dram_bytes, value,
        min(bound, value), solver, best.until,
    )  # fmt: skip


def _nothing(problem: LifetimeProblem) -> LifetimePlacement:
    """Nothing stays; of the schedules that fit, each kernel's best."""
    n = len(problem.seconds)
    fitting = np.where(problem.tile_bytes <= problem.capacity_bytes, problem.objective()[:, 0], np.inf)
    return LifetimePlacement(np.full(n, NOWHERE), np.zeros(n, dtype=bool), fitting.argmin(axis=1))
