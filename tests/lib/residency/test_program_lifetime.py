"""From a program's kernels to the lifetime problem, and that a placement of variant `paper` is one of its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.cost.simulator import Simulator
from lib.program.kernel_builder import KernelsBuilder
from lib.residency.lifetime import of_chain
from lib.residency.lifetime_problem import NOWHERE, LifetimePlacement, is_allowed, placement_costs_of
from lib.residency.program_lifetime import lifetime_problem
from lib.residency.program_residency import residency_problem
from lib.residency.residency import solve_residency
from lib.residency.solve import solve
from lib.schedule.schedules import Schedules, schedules_for_tiles
from tests.kernel_examples import dot
from tests.lib.cost.random_kernels import TPU_V3
from tests.lib.residency.program_examples import (
    FAST_COMPUTE,
    LANES,
    LAST,
    RESIDUAL,
    SIMPLE,
    TENSOR,
    addition,
    program,
)

TILE = 2 * 128 * LANES * 2
"""Both tiles of an operand."""


def rows_of(found, heights: tuple[int, ...] = (128,)) -> Schedules:
    tiles = np.array([[height, LANES, 1, 1, 1, 1, 1, 1] for height in heights])
    count = found.kernels.number
    return schedules_for_tiles(np.repeat(np.arange(count), len(heights)), np.tile(tiles, (count, 1)))


def lifetime_of(found, leaves, datapath=FAST_COMPUTE):
    return lifetime_problem(found, np.array(leaves), rows_of(found), datapath, Simulator(SIMPLE))


def priced(problem, until, pinned=()):
    n = len(problem.seconds)
    weights = np.isin(np.arange(n), pinned)
    return placement_costs_of(problem, LifetimePlacement(np.array(until), weights, np.zeros(n, dtype=np.int64)))


def test_a_skip_connection_of_a_program_by_hand():
    problem = lifetime_of(RESIDUAL, LAST)
    nothing = priced(problem, [NOWHERE] * 3)
    assert nothing.dram_bytes.tolist() == [2 * TENSOR, 2 * TENSOR, 4 * TENSOR]
    assert nothing.used_bytes.tolist() == [2 * TILE, 2 * TILE, 4 * TILE]
    # b stays from kernel 0 to the addition: it is not written, and neither reader loads it.
    skip = priced(problem, [2, NOWHERE, NOWHERE])
    assert skip.dram_bytes.tolist() == [TENSOR, TENSOR, 3 * TENSOR]
    assert skip.used_bytes.tolist() == [TENSOR + TILE, TENSOR + TILE, TENSOR + 3 * TILE]
    # Only the next kernel finds it on chip: it is written, as in variant `paper`.
    near = priced(problem, [1, NOWHERE, NOWHERE])
    assert near.dram_bytes.tolist() == [2 * TENSOR, TENSOR, 4 * TENSOR]
    # All that can stay, weights included: a is loaded, the output stored.
    everything = priced(problem, [2, 2, NOWHERE], pinned=[2])
    assert everything.dram_bytes.tolist() == [TENSOR, 0, TENSOR]
    assert everything.used_bytes.tolist() == [2 * TENSOR + TILE, 3 * TENSOR, 3 * TENSOR + TILE]
    assert everything.kernel_s == pytest.approx(everything.dram_bytes / TPU_V3.dram_bytes_per_s, rel=0.01, abs=1e-9)


def test_the_share_of_inputs_on_chip_is_priced():
    problem = lifetime_of(RESIDUAL, LAST)
    simulated = problem.seconds[2, :, 0]
    # The addition has two inputs of the same size.
    half = priced(problem, [2, NOWHERE, NOWHERE])
    assert half.kernel_s[2] == pytest.approx((simulated[0] + simulated[1]) / 2)
    assert priced(problem, [2, 2, NOWHERE]).kernel_s[2] == pytest.approx(simulated[1])


def test_what_one_kernel_reads_twice_is_one_tensor():
    found = program([addition(1), addition(2)], [(0, 1, 0), (0, 1, 1)])
    problem = lifetime_of(found, (False, True))
    assert problem.read_tensor.tolist() == [0]
    assert problem.read_share.tolist() == [1.0]
    assert priced(problem, [1, NOWHERE]).dram_bytes.tolist() == [TENSOR, TENSOR]
    assert priced(problem, [1, NOWHERE]).used_bytes.tolist() == [TENSOR + TILE, TENSOR + TILE]


def test_partial_sums_are_float32_only_while_their_kernel_runs():
    builder = KernelsBuilder()
    for _ in range(2):
        builder.add(dot(rows=512, columns=1024, contracted=1024))
    once = np.ones(2, dtype=np.int32)
    found = RESIDUAL._replace(
        kernels=builder.build(), executions=once, roots=["a", "b"], occurrence_kernel=np.arange(2, dtype=np.int32),
        occurrence_root=np.arange(2, dtype=np.int32), occurrence_edge=np.array([[0, 1, 0]], dtype=np.int32),
        occurrence_executions=once, occurrence_leaves=np.array([False, True]),
    )  # fmt: skip
    rows = schedules_for_tiles(np.arange(2), np.tile([[256, 1, 1, 1024, 512, 1, 1, 1]], (2, 1)))
    rows = rows._replace(loop_order=np.array([2, 2], dtype=np.uint8))
    problem = lifetime_problem(found, found.occurrence_leaves, rows, TPU_V3, Simulator())
    assert problem.held_bytes.ravel().tolist() == [512 * 1024 * 4] * 2
    assert problem.tensor_bytes.tolist() == [512 * 1024 * 2] * 2


def random_program(generator: np.random.Generator, count: int):
    """Additions that read one to three earlier results, mostly near ones, some with weights."""
    rows, edges = [], []
    for kernel in range(count):
        inputs = int(generator.integers(1, 4))
        rows.append(addition(inputs, weights=int(generator.integers(0, 2))))
        for operand in range(inputs):
            if kernel and generator.random() < 0.85:
                edges.append((int(max(0, kernel - generator.integers(1, 4))), kernel, operand))
    return program(rows, edges), generator.random(count) < 0.2


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 12), choices=st.integers(1, 2))
def test_a_placement_of_the_paper_is_a_lifetime_placement_of_the_same_price(seed, count, choices):
    generator = np.random.default_rng(seed)
    found, leaves = random_program(generator, count)
    datapath = TPU_V3._replace(global_buffer_bytes=int(generator.integers(4 * TILE, 12 * TENSOR)))
    rows, model = rows_of(found, (128, 64)[:choices]), Simulator()
    chain = residency_problem(found, leaves, rows, datapath, model, "paper")
    published = solve_residency(chain, accepted_gap=1e-5)
    problem = lifetime_problem(found, leaves, rows, datapath, model)
    assert is_allowed(problem, of_chain(published))
    costs = placement_costs_of(problem, of_chain(published))
    assert costs.kernel_s == pytest.approx(published.kernel_s)
    assert costs.dram_bytes == pytest.approx(published.dram_bytes)
    assert costs.objective_s == pytest.approx(published.objective_s)
    for gap in (0.3, 1e-4):
        ours = solve(found, leaves, rows, datapath, model, "lifetime", accepted_gap=gap)
        assert ours.objective_s <= solve(found, leaves, rows, datapath, model, "paper", accepted_gap=np.inf).objective_s
        assert ours.least_seconds <= ours.seconds
        quick = solve(found, leaves, rows, datapath, model, "lifetime", exact_seconds=0, start_from_paper=False)
        assert ours.bound_s <= quick.objective_s * (1 + 1e-9)
        assert quick.bound_s <= ours.objective_s * (1 + 1e-9)
    assert ours.objective_s <= published.objective_s * (1 + 1e-4)


def test_lifetime_finds_what_the_paper_can_not():
    datapath = TPU_V3._replace(global_buffer_bytes=16 * TENSOR)
    arguments = RESIDUAL, np.array(LAST), rows_of(RESIDUAL), datapath, Simulator()
    published, ours = solve(*arguments, "paper"), solve(*arguments, "lifetime")
    # Loads and stores: the paper's rules write b and load it for the addition; ours move the program's own.
    assert published.dram_bytes.sum() == 4 * TENSOR
    assert ours.dram_bytes.sum() == 2 * TENSOR
    assert ours.seconds < published.seconds
    assert ours.until.tolist() == [2, 2, -1]
    assert published.until.tolist() == [1, 2, -1]


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="no variant 'forever'; there are paper-printed, paper, lifetime"):
        solve(RESIDUAL, np.array(LAST), rows_of(RESIDUAL), TPU_V3, Simulator(), "forever")


def test_without_a_global_buffer_nothing_stays():
    bare = TPU_V3._replace(global_buffer_bytes=0, l1_input_bytes=1 << 22, l1_weight_bytes=1 << 22)
    found = solve(RESIDUAL, np.array(LAST), rows_of(RESIDUAL), bare, Simulator(), "lifetime")
    assert (found.placement == 0).all()
    assert (found.until == NOWHERE).all()
