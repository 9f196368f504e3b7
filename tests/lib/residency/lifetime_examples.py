"""Lifetime problems for tests: random graphs, and the best placement by trying all of them."""

from itertools import product

import numpy as np

from lib.residency.lifetime_problem import NOWHERE, LifetimePlacement, LifetimeProblem, is_allowed, placement_costs_of


def problem_of(
    reads: list[tuple[int, int]], tensor_bytes: list[int], capacity: int, *, weight_bytes: list[int] | None = None,
    input_bytes: list[int] | None = None, tiles: int = 0, leaves: tuple[int, ...] = (), floor_s: float = 0.0,
) -> LifetimeProblem:  # fmt: skip
    """Kernels that take a second for each byte that they move, and `floor_s` at least.

    `reads`: (tensor, reader); `input_bytes`: what each kernel loads from elsewhere; `tiles`: bytes of both tiles of
    each operand.
    """
    n = len(tensor_bytes)
    pairs = sorted((reader, tensor) for tensor, reader in reads)
    tensor = np.array([pair[1] for pair in pairs], dtype=np.int64)
    reader = np.array([pair[0] for pair in pairs], dtype=np.int64)
    sizes, weights = np.array(tensor_bytes), np.array(weight_bytes or [0] * n)
    inputs = np.array(input_bytes or [0] * n) + np.bincount(reader, sizes[tensor], minlength=n)
    moved = np.stack([inputs, weights, sizes], axis=1)
    stays = np.arange(8)[:, None] >> np.arange(3) & 1
    dram_bytes = (moved @ (1 - stays.T))[:, :, None].astype(float)
    operands = 2 + np.bincount(reader, minlength=n) * 0
    return LifetimeProblem(
        seconds=np.maximum(floor_s, dram_bytes), dram_bytes=dram_bytes, dram_bytes_per_s=1.0, weight_bytes=weights,
        tensor_bytes=sizes, held_bytes=sizes[:, None], leaves=np.isin(np.arange(n), leaves),
        tile_bytes=(tiles * (operands + (weights > 0)))[:, None], weight_tile_bytes=(tiles * (weights > 0))[:, None],
        output_tile_bytes=np.full((n, 1), tiles), read_offset=np.searchsorted(reader, np.arange(n + 1)),
        read_tensor=tensor, read_share=sizes[tensor] / np.maximum(1, inputs[reader]),
        read_tile_bytes=np.zeros((len(pairs), 1), dtype=np.int64), capacity_bytes=capacity,
    )  # fmt: skip


def random_lifetime_problem(
    generator: np.random.Generator, kernels: int, *, choices: int = 1, largest: int = 40, far: int = 4
) -> LifetimeProblem:
    """Every kernel but the first reads one to three earlier ones, mostly near ones; times that need not add up, but
    what stays never costs time. Sizes are small whole numbers, so that capacities bind exactly."""
    n = kernels
    reads = {
        (int(max(0, reader - generator.integers(1, far + 1))), reader)
        for reader in range(1, n)
        for _ in range(generator.integers(1, 4))
    }
    problem = problem_of(
        sorted(reads), generator.integers(1, largest, n).tolist(), 0,
        weight_bytes=(generator.integers(0, largest, n) * (generator.random(n) < 0.7)).tolist(),
        input_bytes=generator.integers(0, largest, n).tolist(),
        leaves=tuple(np.flatnonzero(generator.random(n) < 0.2)),
    )  # fmt: skip
    own = generator.random((n, 1, choices)) * problem.seconds * generator.uniform(0.2, 1.2, (n, 1, 1))
    seconds = np.maximum(problem.seconds * generator.uniform(0.7, 1.3, (n, 1, choices)), own[:, :1])
    tile = generator.integers(0, 1 + largest // 8, (4, n, choices))
    operands = np.diff(problem.read_offset)
    read_tiles = np.repeat(tile[3] // 3, operands, axis=0)
    tiles = tile[0] + tile[1] * (problem.weight_bytes > 0)[:, None] + tile[2] + tile[3]
    capacity = int(tiles.max() + generator.integers(0, problem.tensor_bytes.sum() + 1))
    return problem._replace(
        seconds=seconds, dram_bytes=np.repeat(problem.dram_bytes, choices, axis=2), tile_bytes=tiles,
        weight_tile_bytes=tile[1] * (problem.weight_bytes > 0)[:, None], output_tile_bytes=tile[2],
        held_bytes=problem.tensor_bytes[:, None] * generator.integers(1, 3, (n, choices)),
        read_tile_bytes=read_tiles, capacity_bytes=capacity,
    )  # fmt: skip


def best_by_enumeration(problem: LifetimeProblem) -> tuple[float, LifetimePlacement | None]:
    """The least objective of all placements, and one that has it."""
    n, _, choices = problem.seconds.shape
    reader = np.repeat(np.arange(n), np.diff(problem.read_offset))
    ends = [[NOWHERE, *sorted(reader[problem.read_tensor == tensor].tolist())] for tensor in range(n)]
    best, found = np.inf, None
    for until in product(*ends):
        for pinned in product(*[(False, True) if size else (False,) for size in problem.weight_bytes]):
            for choice in product(range(choices), repeat=n):
                placement = LifetimePlacement(np.array(until), np.array(pinned), np.array(choice))
                value = placement_costs_of(problem, placement).objective_s
                if value < best and is_allowed(problem, placement):
                    best, found = value, placement
    return best, found
