"""Residency problems for tests: random chains, and the best placement by trying all of them."""

from itertools import product

import numpy as np

from lib.residency.problem import ResidencyProblem, is_allowed, kept_roles, printed_problem


def random_problem(generator: np.random.Generator, kernels: int, largest: int = 40) -> ResidencyProblem:
    """Kernels as FAST's integer programme prices them: max(fastest, slowest - saved transfers).

    A tensor takes the same bytes on both sides; sizes are small whole numbers, so that capacities bind exactly.
    """
    edge = generator.integers(1, largest, kernels + 1)
    weight_bytes = generator.integers(0, largest, kernels) * (generator.random(kernels) < 0.8)
    sizes = np.stack([edge[:-1], weight_bytes, edge[1:]], axis=1)
    tiles = generator.integers(0, 1 + largest // 4, kernels)
    transfer_s = sizes * generator.uniform(0.5, 1.5, (kernels, 1))
    slowest_s = transfer_s.sum(axis=1) * generator.uniform(1.0, 1.5, kernels)
    may_stay = generator.random(kernels) < 0.8
    may_stay[0] = False
    capacity = int(tiles.max() + generator.integers(0, int(sizes.sum() // 2) + 1))
    problem = printed_problem(
        slowest_s * generator.random(kernels), slowest_s, transfer_s, sizes, tiles, may_stay, capacity, 1.0
    )
    credit = np.minimum(tiles // 2, weight_bytes)  # weights that stay need no tile of their own
    return problem._replace(need_bytes=problem.need_bytes - credit[:, None] * kept_roles()[:, 1])


def with_choices(problem: ResidencyProblem, generator: np.random.Generator, choices: int) -> ResidencyProblem:
    """Each kernel may take more or less room and time than it does; the first choice is as it was."""
    room = generator.integers(-3, 10, (len(problem.seconds), 1, choices)) * (np.arange(choices) > 0)
    time = generator.uniform(0.6, 1.3, (len(problem.seconds), 1, choices)) * (np.arange(choices) > 0)
    return problem._replace(
        seconds=problem.seconds[:, :, None] * np.where(np.arange(choices) > 0, time, 1.0),
        dram_bytes=np.repeat(problem.dram_bytes[:, :, None], choices, axis=2),
        need_bytes=np.maximum(0, problem.need_bytes[:, :, None] + room),
    )


def best_by_enumeration(problem: ResidencyProblem) -> tuple[float, np.ndarray]:
    """The least objective of all placements, and one that has it."""
    n = len(problem.seconds)
    objective, rows = problem.objective(), np.arange(n)
    best, best_placement = np.inf, np.zeros(n, dtype=np.uint8)
    for stays in product(*[(0, 1) if may else (0,) for may in problem.may_stay]):
        activations = np.array(stays) + 4 * np.array((*stays[1:], 0))
        for pinned in product(*[(0, 2) if size else (0,) for size in problem.weight_bytes]):
            placement = (activations + np.array(pinned)).astype(np.uint8)
            for choice in product(range(problem.choices), repeat=n):
                value = objective[rows, placement, choice].sum()
                if value < best and is_allowed(problem, placement, np.array(choice)):
                    best, best_placement = value, placement
    return best, best_placement
