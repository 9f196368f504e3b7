"""Placements against enumeration and HiGHS, and what must hold for every problem."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.residency.chain_solver import solve_chain
from lib.residency.exact_solver import solve_exactly
from lib.residency.problem import ResidencyProblem, buffer_use, by_choice, is_allowed, printed_problem
from lib.residency.residency import solve_residency
from tests.lib.residency.residency_examples import best_by_enumeration, random_problem, with_choices

SEEDS = st.integers(0, 2**32 - 1)
EXACT = 1e-9


def chain(problem):
    return solve_chain(
        problem.objective(), by_choice(problem.need_bytes), problem.weight_bytes, problem.may_stay,
        problem.capacity_bytes,
    )  # fmt: skip


def two_kernels(capacity: int) -> ResidencyProblem:
    """A tensor of 4 bytes between two kernels, weights of 3 and 2; each byte kept saves a second on either side."""
    sizes = np.array([[0, 3, 4], [4, 2, 0]])
    moved = sizes.sum(axis=1).astype(float)
    return printed_problem(
        np.ones(2), moved + 1, sizes.astype(float), sizes, np.zeros(2, dtype=np.int64), np.array([False, True]),
        capacity, 1.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("capacity", "seconds"),
    # Nothing; weights of 2; of 3; the tensor (saves 8); the same; tensor and weights of 2; of 3; all.
    [(1, 15), (2, 13), (3, 12), (4, 7), (5, 7), (6, 5), (7, 4), (8, 4), (9, 2)],
)
def test_two_kernels_by_hand(capacity, seconds):
    found = solve_residency(two_kernels(capacity))
    assert found.seconds == pytest.approx(seconds)
    assert found.objective_s == pytest.approx(seconds + 1e-3 * (seconds - 2))
    assert found.bound_s == pytest.approx(found.objective_s)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS, kernels=st.integers(1, 5))
def test_small_chains_against_enumeration(seed, kernels):
    problem = random_problem(np.random.default_rng(seed), kernels)
    best, _ = best_by_enumeration(problem)
    placement, choice, value, bound = chain(problem)
    assert is_allowed(problem, placement, choice)
    assert value == pytest.approx(problem.objective()[np.arange(kernels), placement, choice].sum(), rel=EXACT)
    assert bound <= best * (1 + EXACT)
    assert best <= value * (1 + EXACT)
    found = solve_residency(problem, accepted_gap=0.0)
    assert is_allowed(problem, found.placement, found.choice)
    assert found.objective_s == pytest.approx(best, rel=2e-5)
    assert found.bound_s <= best * (1 + 1e-7)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_times_of_any_shape(seed):
    """Tables of a simulator need not add up as FAST's do."""
    generator = np.random.default_rng(seed)
    problem = random_problem(generator, 4)
    problem = problem._replace(seconds=generator.random((4, 8)), dram_bytes=generator.random((4, 8)))
    best, _ = best_by_enumeration(problem)
    found = solve_residency(problem, accepted_gap=0.0)
    assert is_allowed(problem, found.placement, found.choice)
    assert found.objective_s == pytest.approx(best, rel=2e-5)
    assert found.bound_s <= best * (1 + 1e-7)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, kernels=st.integers(1, 3), choices=st.integers(2, 3))
def test_a_choice_of_schedules_against_enumeration(seed, kernels, choices):
    generator = np.random.default_rng(seed)
    problem = with_choices(random_problem(generator, kernels), generator, choices)
    best, _ = best_by_enumeration(problem)
    placement, choice, value, bound = chain(problem)
    assert is_allowed(problem, placement, choice)
    assert value == pytest.approx(problem.objective()[np.arange(kernels), placement, choice].sum(), rel=EXACT)
    assert bound <= best * (1 + EXACT)
    found = solve_residency(problem, accepted_gap=0.0)
    assert is_allowed(problem, found.placement, found.choice)
    assert found.objective_s == pytest.approx(best, rel=2e-5)


def test_more_schedules_to_choose_from_never_hurt():
    generator = np.random.default_rng(5)
    problem = random_problem(generator, 60, largest=1000)
    several = with_choices(problem, generator, 4)
    one = solve_residency(problem, accepted_gap=1e-4)
    found = solve_residency(several, accepted_gap=1e-4)
    assert is_allowed(several, found.placement, found.choice)
    assert found.objective_s < one.objective_s
    assert found.bound_s <= found.objective_s


def test_very_many_budgets_are_grouped():
    """Sizes up to a million give thousands of activation budgets; the gap stays small."""
    generator = np.random.default_rng(11)
    for _ in range(5):
        problem = with_choices(random_problem(generator, 164, largest=1_000_000), generator, 4)
        placement, choice, value, bound = chain(problem)
        assert is_allowed(problem, placement, choice)
        assert bound <= value <= bound * 1.02


@settings(max_examples=12, deadline=None)
@given(seed=SEEDS, kernels=st.integers(20, 80))
def test_longer_chains_against_highs(seed, kernels):
    problem = random_problem(np.random.default_rng(seed), kernels, largest=1000)
    exact, choice, exact_bound = solve_exactly(problem, gap=1e-6, seconds=60.0)
    best = problem.objective()[np.arange(kernels), exact, choice].sum()
    assert is_allowed(problem, exact, choice)
    assert exact_bound == pytest.approx(best, rel=1e-5)
    placement, choice, value, bound = chain(problem)
    assert is_allowed(problem, placement, choice)
    assert bound <= best * (1 + 1e-5)
    assert value >= best * (1 - 1e-5)
    found = solve_residency(problem)
    assert found.gap <= 1e-3 + 1e-9
    assert found.objective_s <= best * (1 + 1e-3)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, kernels=st.integers(1, 60))
def test_capacity_is_kept_and_more_of_it_never_hurts(seed, kernels):
    problem = random_problem(np.random.default_rng(seed), kernels)
    last = np.inf
    for capacity in np.linspace(problem.need_bytes[:, 0].max(), problem.need_bytes.sum(), 6).astype(int):
        larger = problem._replace(capacity_bytes=int(capacity))
        found = solve_residency(larger, accepted_gap=0.0)
        assert (buffer_use(larger, found.placement, found.choice) <= capacity).all()
        assert is_allowed(larger, found.placement, found.choice)
        assert found.bound_s <= found.objective_s <= last * (1 + 2e-5)
        last = found.objective_s


def test_compute_bound_kernels_keep_their_tensors_all_the_same():
    problem = two_kernels(9)
    problem = problem._replace(seconds=np.full((2, 8), 100.0))
    assert solve_residency(problem).placement.tolist() == [6, 3]


def test_what_contradicts_itself_is_refused():
    problem = two_kernels(9)
    with pytest.raises(ValueError, match=r"the first is kernel 1, whose tiles take 20 of 9 bytes"):
        solve_residency(problem._replace(need_bytes=problem.need_bytes + np.array([[0], [20]])))
    with pytest.raises(ValueError, match="`weight_bytes` has the shape"):
        solve_residency(problem._replace(weight_bytes=np.array([1])))
    with pytest.raises(ValueError, match="not finite"):
        solve_residency(problem._replace(seconds=np.full((2, 8), np.nan)))
    with pytest.raises(ValueError, match="must begin with False"):
        solve_residency(problem._replace(may_stay=np.array([True, True])))


def test_no_kernels_take_no_time():
    nothing = ResidencyProblem(
        np.empty((0, 8)), np.empty((0, 8)), 1.0, np.empty((0, 8), dtype=np.int64), np.empty(0, dtype=np.int64),
        np.empty(0, dtype=bool), 0,
    )  # fmt: skip
    assert solve_residency(nothing).seconds == 0


def test_a_chain_of_164_takes_milliseconds():
    """EfficientNet-B7's length. The limit is generous: the median is a third of a millisecond on one core."""
    problems = [random_problem(np.random.default_rng(seed), 164, largest=10000) for seed in range(20)]
    chain(problems[0])
    times = []
    for problem in problems:
        start = time.perf_counter()
        chain(problem)
        times.append(time.perf_counter() - start)
    assert np.median(times) < 0.02
