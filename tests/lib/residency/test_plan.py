"""Schedules and residency chosen together."""

import numpy as np
import pytest

from lib.cost.simulator import Simulator
from lib.program.extraction import ProgramKernels
from lib.program.kernel_builder import KernelsBuilder
from lib.residency.plan import plan, schedules_to_choose_from
from lib.residency.program_residency import residency_problem
from lib.residency.residency import solve_residency
from lib.schedule.best import best_schedules
from tests.kernel_examples import convolution_relu
from tests.lib.cost.random_kernels import EDGE, TPU_V3

SMALL_BUFFER = TPU_V3._replace(global_buffer_bytes=8 << 20)


def convolutions(count: int) -> ProgramKernels:
    """3x3 convolutions of 128 channels one after the other, all alike, each reading the one before."""
    builder = KernelsBuilder()
    builder.add(convolution_relu(out_c=128, in_c=128))
    place = np.arange(count, dtype=np.int32)
    edges = np.stack([place[:-1], place[1:], np.zeros(count - 1, dtype=np.int32)], axis=1)
    once = np.ones(count, dtype=np.int32)
    return ProgramKernels(
        builder.build(), np.array([count], dtype=np.int32), ["0"], place * 0, place, edges, once, place == count - 1
    )


def test_a_plan_is_what_the_simulator_says_and_beats_the_best_schedules_alone():
    found = convolutions(8)
    together = plan(found, found.occurrence_leaves, SMALL_BUFFER, "paper")
    # A kernel has one input here, so the simulator knows every placement: the plan's rows are priced as they stand.
    priced = Simulator().cost(found.kernels, together.schedules, SMALL_BUFFER)
    assert priced.value == pytest.approx(together.residency.kernel_s)
    assert (together.residency.placement & 1).any()
    alone = best_schedules(found.kernels, SMALL_BUFFER).schedules
    problem = residency_problem(found, found.occurrence_leaves, alone, SMALL_BUFFER, Simulator(), "paper")
    assert together.residency.seconds < solve_residency(problem).seconds
    assert together.residency.seconds < problem.seconds[:, 0].sum()
    assert together.residency.gap <= 1e-3


def test_the_first_choice_is_the_best_schedule_alone():
    found = convolutions(2)
    rows = schedules_to_choose_from(found.kernels, SMALL_BUFFER, limit=16, seed=3)
    best = best_schedules(found.kernels, SMALL_BUFFER, limit=16, seed=3)
    assert rows.tile[0].tolist() == best.schedules.tile[0].tolist()
    assert (rows.kernel == 0).all()
    assert not rows.resident.any()


def test_loops_count_as_often_as_they_run():
    found = convolutions(4)
    often = found._replace(occurrence_executions=np.full(4, 10, dtype=np.int32))
    once = plan(found, found.occurrence_leaves, SMALL_BUFFER, "paper", limit=8).residency
    assert plan(often, found.occurrence_leaves, SMALL_BUFFER, "paper", limit=8).residency.seconds == pytest.approx(
        10 * once.seconds
    )


def test_without_a_global_buffer_there_is_one_choice():
    bare = EDGE._replace(global_buffer_bytes=0, l1_input_bytes=1 << 20, l1_weight_bytes=1 << 20)
    found = convolutions(3)
    assert len(schedules_to_choose_from(found.kernels, bare, limit=8).kernel) == 1
    assert (plan(found, found.occurrence_leaves, bare, "paper", limit=8).residency.placement == 0).all()
    with pytest.raises(ValueError, match="no tile of kernel 0"):
        plan(found, found.occurrence_leaves, bare._replace(l1_weight_bytes=1, l1_input_bytes=1), "paper")
