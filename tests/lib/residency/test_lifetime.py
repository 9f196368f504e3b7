"""Lifetime placements by hand, against enumeration and HiGHS, and what must hold for every problem."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.residency.lifetime import solve_lifetime
from lib.residency.lifetime_exact import solve_lifetime_exactly
from lib.residency.lifetime_options import options
from lib.residency.lifetime_problem import NOWHERE, LifetimePlacement, is_allowed, placement_costs_of
from lib.residency.lives import reads_looked_at, states
from tests.lib.residency.lifetime_examples import best_by_enumeration, problem_of, random_lifetime_problem

SEEDS = st.integers(0, 2**32 - 1)

BLOCK = [(0, 1), (1, 2), (0, 2)]
"""A residual block: kernel 1 reads 0, kernel 2 reads both."""


@pytest.mark.parametrize(
    ("capacity", "seconds", "until"),
    # Tensors of 10 and 4 bytes, an output of 1 that leaves; loads and stores are 10 + 10 + 4 + 14 + 1 bytes.
    [
        (3, 39, [-1, -1, -1]),
        # The branch's tensor is neither written nor read.
        (4, 31, [-1, 2, -1]),
        # The skip connection stays throughout, while the branch's tensor of 4 comes and goes.
        (10, 9, [2, -1, -1]),
        # Kernel 1 would hold both: 14; the whole block stays on chip.
        (14, 1, [2, 2, -1]),
    ],
)
def test_a_residual_block_by_hand(capacity, seconds, until):
    problem = problem_of(BLOCK, [10, 4, 1], capacity, leaves=(2,))
    found = solve_lifetime(problem, accepted_gap=0.0)
    assert found.seconds == pytest.approx(seconds)
    assert found.until.tolist() == until
    assert found.bound_s == pytest.approx(found.objective_s, rel=1e-6)


def test_a_skip_connection_takes_room_in_between():
    # 0 makes the skip connection (8 bytes) that 3 reads; 1 and 2 work on 6 and 5 bytes meanwhile.
    problem = problem_of([(0, 1), (1, 2), (2, 3), (0, 3)], [8, 6, 5, 1], 100, leaves=(3,))
    skip = LifetimePlacement(np.array([3, 2, 3, NOWHERE]), np.zeros(4, dtype=bool), np.zeros(4, dtype=np.int64))
    costs = placement_costs_of(problem, skip)
    assert costs.used_bytes.tolist() == [8, 14, 19, 13]
    assert costs.kernel_s.tolist() == [0, 0, 0, 1]
    assert solve_lifetime(problem._replace(capacity_bytes=19)).seconds == pytest.approx(1)
    # With 18 the branch's last tensor is written and read (10 s), which is less than the skip connection's 16 or more.
    assert solve_lifetime(problem._replace(capacity_bytes=18), accepted_gap=0.0).seconds == pytest.approx(11)


def test_a_tensor_that_can_not_stay_to_the_end_is_written_and_read_on_chip_once():
    # Kernel 2 makes 10 bytes that kernel 3 reads, beside which the skip connection of 4 has no room.
    problem = problem_of([(0, 1), (2, 3), (0, 3)], [4, 0, 10, 1], 10, leaves=(3,))
    found = solve_lifetime(problem, accepted_gap=0.0)
    assert found.until.tolist() == [1, -1, 3, -1]
    assert found.kernel_s.tolist() == [4, 0, 0, 5]


def test_weights_are_there_all_the_time():
    problem = problem_of(BLOCK, [10, 4, 1], 20, weight_bytes=[5, 6, 0], leaves=(2,))
    found = solve_lifetime(problem, accepted_gap=0.0)
    # The block takes 14; of the weights one fits beside it, the larger.
    assert found.placement.tolist() == [4, 7, 1]
    assert found.seconds == pytest.approx(1 + 5)
    assert is_allowed(problem, LifetimePlacement(found.until, (found.placement & 2) > 0, found.choice))


def test_the_share_of_the_inputs_on_chip_counts():
    # Kernel 2 loads 12 bytes from elsewhere beside 4 on chip, and computes for 10 s: of the 6 s that it waits for all
    # 16 bytes, a quarter is saved.
    problem = problem_of([(1, 2)], [1, 4, 0], 4, input_bytes=[0, 0, 12], floor_s=10.0)
    placement = LifetimePlacement(np.array([-1, 2, -1]), np.zeros(3, dtype=bool), np.zeros(3, dtype=np.int64))
    assert placement_costs_of(problem, placement).kernel_s[2] == pytest.approx(16 - 6 / 4)


def solved_over_time(problem):
    return solve_lifetime(problem, accepted_gap=1e-9, exact_seconds=0.0)


def placement_of(found):
    return LifetimePlacement(found.until, (found.placement & 2) > 0, found.choice)


def agrees(problem, found):
    costs = placement_costs_of(problem, placement_of(found))
    assert is_allowed(problem, placement_of(found))
    assert found.objective_s == pytest.approx(costs.objective_s, rel=1e-9)
    assert found.kernel_s == pytest.approx(costs.kernel_s)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, kernels=st.integers(1, 5))
def test_small_graphs_against_enumeration(seed, kernels):
    problem = random_lifetime_problem(np.random.default_rng(seed), kernels)
    best, _ = best_by_enumeration(problem)
    quick = solved_over_time(problem)
    agrees(problem, quick)
    assert quick.bound_s <= best * (1 + 1e-9)
    assert quick.objective_s >= best * (1 - 1e-9)
    exact = solve_lifetime(problem, accepted_gap=0.0)
    agrees(problem, exact)
    assert exact.objective_s == pytest.approx(best, rel=2e-5)
    assert exact.bound_s <= best * (1 + 1e-7)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, kernels=st.integers(1, 3), choices=st.integers(2, 3))
def test_a_choice_of_schedules_against_enumeration(seed, kernels, choices):
    problem = random_lifetime_problem(np.random.default_rng(seed), kernels, choices=choices)
    best, _ = best_by_enumeration(problem)
    quick = solved_over_time(problem)
    agrees(problem, quick)
    assert quick.bound_s <= best * (1 + 1e-9)
    exact = solve_lifetime(problem, accepted_gap=0.0)
    agrees(problem, exact)
    assert exact.objective_s == pytest.approx(best, rel=2e-5)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, kernels=st.integers(2, 5), most=st.integers(1, 3))
def test_too_many_states_are_still_bounded(seed, kernels, most):
    """Where not every read is looked at, the bound holds all the same."""
    problem = random_lifetime_problem(np.random.default_rng(seed), kernels)
    best, _ = best_by_enumeration(problem)
    found = solve_lifetime(problem, accepted_gap=1e-9, exact_seconds=0.0, most_states=most)
    agrees(problem, found)
    assert found.bound_s <= best * (1 + 1e-9)
    assert found.objective_s >= best * (1 - 1e-9)


@settings(max_examples=12, deadline=None)
@given(seed=SEEDS, kernels=st.integers(20, 60))
def test_longer_graphs_against_highs(seed, kernels):
    problem = random_lifetime_problem(np.random.default_rng(seed), kernels, largest=1000)
    reads = reads_looked_at(problem, None)
    exact, bound = solve_lifetime_exactly(problem, reads, options(problem, reads), 1e-6, 60.0)
    best = placement_costs_of(problem, exact).objective_s
    assert is_allowed(problem, exact)
    assert bound == pytest.approx(best, rel=1e-5)
    quick = solved_over_time(problem)
    agrees(problem, quick)
    assert quick.bound_s <= best * (1 + 1e-5)
    assert quick.objective_s >= best * (1 - 1e-5)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, kernels=st.integers(1, 40))
def test_capacity_is_kept_and_more_of_it_never_hurts(seed, kernels):
    problem = random_lifetime_problem(np.random.default_rng(seed), kernels)
    last = np.inf
    for capacity in np.linspace(problem.tile_bytes.max(), problem.tensor_bytes.sum(), 4).astype(int):
        larger = problem._replace(capacity_bytes=int(max(capacity, problem.tile_bytes.max())))
        found = solve_lifetime(larger)
        agrees(larger, found)
        assert found.bound_s <= last * (1 + 1e-9)
        last = found.objective_s


def test_it_stops_once_the_bound_is_enough():
    problem = random_lifetime_problem(np.random.default_rng(1), 60, largest=1000)
    whole = solve_lifetime(problem)
    stopped = solve_lifetime(problem, enough_s=whole.least_seconds / 2)
    assert whole.least_seconds / 2 < stopped.least_seconds <= whole.seconds


def test_states_are_those_that_the_living_tensors_can_have():
    problem = problem_of([(0, 1), (1, 2), (2, 3), (0, 3)], [8, 6, 5, 1], 100)
    found = states(problem, reads_looked_at(problem))
    # Before kernel 1: tensor 0 with two reads ahead; before 2: 0 with one, 1; before 3: 0 and 2.
    assert np.diff(found.offset).tolist() == [1, 3, 4, 4, 1]


def test_what_contradicts_itself_is_refused():
    problem = problem_of(BLOCK, [10, 4, 1], 14)
    with pytest.raises(ValueError, match=r"kernel 2 reads the output of kernel 2, which does not come before it"):
        solve_lifetime(problem._replace(read_tensor=np.array([0, 2, 1])))
    with pytest.raises(ValueError, match=r"the first is kernel 0, whose tiles take 20 of 14 bytes"):
        solve_lifetime(problem._replace(tile_bytes=problem.tile_bytes + 20))
    with pytest.raises(ValueError, match="`leaves` has the shape"):
        solve_lifetime(problem._replace(leaves=np.array([True])))
    with pytest.raises(ValueError, match="not finite"):
        solve_lifetime(problem._replace(seconds=problem.seconds * np.nan))


def test_no_kernels_take_no_time():
    assert solve_lifetime(problem_of([], [], 1)).seconds == 0


def test_a_graph_of_334_takes_milliseconds():
    """EfficientNet-B7's length. The limit is generous: the median is a few milliseconds on one core."""
    problems = [random_lifetime_problem(np.random.default_rng(seed), 334, largest=10000) for seed in range(10)]
    solve_lifetime(problems[0], accepted_gap=1e-2, exact_seconds=0.0)
    times = []
    for problem in problems:
        start = time.perf_counter()
        solve_lifetime(problem, accepted_gap=1e-2, exact_seconds=0.0)
        times.append(time.perf_counter() - start)
    assert np.median(times) < 0.1
