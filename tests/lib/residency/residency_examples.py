"""Residency problems for tests: random chains, and the best placement by trying all of them."""

from itertools import product

import numpy as np

from lib.residency.problem import ResidencyProblem, is_allowed


def random_problem(generator: np.random.Generator, kernels: int, largest: int = 40) -> ResidencyProblem:
    """Kernels as FAST's integer programme prices them: max(fastest, slowest - saved transfers).

    A tensor takes the same bytes on both sides; sizes are small whole numbers, so that capacities bind exactly.
    """
    bits = np.arange(8)
    keeps = np.stack([bits & 1, bits >> 1 & 1, bits >> 2], axis=1)
    edge = generator.integers(1, largest, kernels + 1)
    weight_bytes = generator.integers(0, largest, kernels) * (generator.random(kernels) < 0.8)
    sizes = np.stack([edge[:-1], weight_bytes, edge[1:]], axis=1)
    tiles = generator.integers(0, 1 + largest // 4, kernels)
    transfer = sizes * generator.uniform(0.5, 1.5, (kernels, 1))
    slowest = transfer.sum(axis=1) * generator.uniform(1.0, 1.5, kernels)
    fastest = slowest * generator.random(kernels)
    moved = transfer @ (1 - keeps.T)
    seconds = np.maximum(fastest[:, None], slowest[:, None] - transfer @ keeps.T)
    credit = np.minimum(tiles // 2, weight_bytes)  # weights that stay need no tile of their own
    need = tiles[:, None] + sizes[:, [0]] * keeps[:, 0] + sizes[:, [2]] * keeps[:, 2] - credit[:, None] * keeps[:, 1]
    may_stay = generator.random(kernels) < 0.8
    may_stay[0] = False
    capacity = int(tiles.max() + generator.integers(0, int(sizes.sum() // 2) + 1))
    return ResidencyProblem(seconds, moved, need.astype(np.int64), weight_bytes, may_stay, capacity)


def best_by_enumeration(problem: ResidencyProblem) -> tuple[float, np.ndarray]:
    """The least objective of all placements, and one that has it."""
    n = len(problem.seconds)
    objective, rows = problem.objective(), np.arange(n)
    best, best_placement = np.inf, np.zeros(n, dtype=np.uint8)
    for stays in product(*[(0, 1) if may else (0,) for may in problem.may_stay]):
        activations = np.array(stays) + 4 * np.array((*stays[1:], 0))
        for pinned in product(*[(0, 2) if size else (0,) for size in problem.weight_bytes]):
            placement = (activations + np.array(pinned)).astype(np.uint8)
            value = objective[rows, placement].sum()
            if value < best and is_allowed(problem, placement):
                best, best_placement = value, placement
    return best, best_placement
