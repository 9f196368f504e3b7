"""Which tensors stay in the global buffer between kernels: the solution of a residency problem."""

from typing import Literal, NamedTuple

import numpy as np

from lib.residency.chain_solver import solve_chain
from lib.residency.exact_solver import solve_exactly
from lib.residency.problem import OUTPUT_STAYS, TIE_BREAK, ResidencyProblem, by_choice, check_problem

ACCEPTED_GAP = 1e-3
"""The chain solver's placement is taken where its own bound proves it to lie within this share of the best; else HiGHS
is asked."""
EXACT_GAP = 1e-5
"""At which HiGHS stops."""
EXACT_SECONDS = 10.0
"""After which HiGHS stops; the better placement of both and the better bound are kept."""

Solver = Literal["chain", "over-time", "highs"]


class Residency(NamedTuple):
    """A placement for n kernels."""

    placement: np.ndarray
    """uint8[n] bits: 1 inputs are found on chip (all or a part of them), 2 the weights stay, 4 the output."""
    choice: np.ndarray
    """int64[n] the schedule of each kernel, where it has several to choose from; else 0."""
    kernel_s: np.ndarray
    """float64[n] time of each kernel."""
    seconds: float
    """Of all kernels."""
    dram_bytes: np.ndarray
    """float64[n] what each kernel still moves to and from DRAM."""
    objective_s: float
    """`seconds` and 1/1000 of the DRAM time of what still moves: what is minimised."""
    bound_s: float
    """No placement has a smaller objective."""
    solver: Solver
    """Whose placement it is."""
    until: np.ndarray
    """int64[n] the last kernel that finds each output on chip, -1 where it does not stay."""

    @property
    def least_seconds(self) -> float:
        """No placement takes less time: no kernel waits for DRAM longer than it takes."""
        return self.bound_s / (1 + TIE_BREAK)

    @property
    def gap(self) -> float:
        """Share of the objective that a better placement could save at most."""
        return 1.0 - self.bound_s / self.objective_s if self.objective_s > 0 else 0.0


def solve_residency(
    problem: ResidencyProblem, *, accepted_gap: float = ACCEPTED_GAP, exact_seconds: float = EXACT_SECONDS
) -> Residency:
    """The placement with the least objective, proven to within `accepted_gap` unless HiGHS runs out of time.

    `accepted_gap`: 0 always asks HiGHS where the chain solver has not proven its placement to be the best; infinity
    never does. Raises ValueError for a problem that contradicts itself or does not fit with nothing resident.
    """
    check_problem(problem)
    objective = problem.objective()
    solver: Solver = "chain"
    placement, choice, value, bound = solve_chain(
        objective, by_choice(problem.need_bytes), problem.weight_bytes, problem.may_stay, problem.capacity_bytes
    )
    rows = np.arange(len(placement))
    if value - bound > max(accepted_gap, 1e-12) * value:
        exact, exact_choice, exact_bound = solve_exactly(problem, min(EXACT_GAP, accepted_gap), exact_seconds)
        bound = min(value, max(bound, exact_bound))
        if exact is not None and exact_choice is not None and objective[rows, exact, exact_choice].sum() < value:
            placement, choice, solver = exact, exact_choice, "highs"
            value = float(objective[rows, exact, exact_choice].sum())
    kernel_s = by_choice(problem.seconds)[rows, placement, choice]
    dram_bytes = by_choice(problem.dram_bytes)[rows, placement, choice]
    until = np.where(placement & OUTPUT_STAYS, rows + 1, -1)
    return Residency(
        placement, choice, kernel_s, float(kernel_s.sum()), dram_bytes, value, min(bound, value), solver, until
    )  # fmt: skip
