"""From a program's kernels to the residency problem: which tensor may stay, what is saved, what it takes."""

import numpy as np
import pytest

from lib.cost.simulator import Simulator
from lib.program.extraction import ProgramKernels
from lib.program.kernel_builder import KernelsBuilder
from lib.residency.program_residency import placement_costs, residency_problem
from lib.residency.residency import solve_residency
from lib.schedule.default import default_schedule
from lib.schedule.schedules import schedules_for_tiles
from tests.kernel_examples import dot
from tests.lib.cost.random_kernels import TPU_V3, random_kernels
from tests.lib.residency.program_examples import (
    FAST_COMPUTE,
    LANES,
    LAST,
    NOT_LAST,
    RESIDUAL,
    SIMPLE,
    TENSOR,
    addition,
    program,
)


def problem_of(found, leaves, variant, tile=(128, LANES), datapath=FAST_COMPUTE):
    tiles = np.tile(np.array([*tile, 1, 1, 1, 1, 1, 1]), (found.kernels.number, 1))
    rows = schedules_for_tiles(np.arange(found.kernels.number), tiles)
    return residency_problem(found, np.array(leaves), rows, datapath, Simulator(SIMPLE), variant)


def test_all_bytes_are_priced():
    problem = problem_of(RESIDUAL, LAST, "paper")
    assert problem.may_stay.tolist() == [False, True, True]
    # Kernel 0 reads a and writes b, which the addition reads again: no write is saved.
    assert problem.dram_bytes[0, [0, 4]].tolist() == [2 * TENSOR, 2 * TENSOR]
    # Kernel 1: input from before and output, which has one reader, are both saved.
    assert problem.dram_bytes[1, [0, 1, 4, 5]].tolist() == [2 * TENSOR, TENSOR, TENSOR, 0]
    # Kernel 2 always loads b; c stays or not; w stays or not; the output leaves the program.
    assert problem.dram_bytes[2, [0, 1, 2, 3]].tolist() == [4 * TENSOR, 3 * TENSOR, 3 * TENSOR, 2 * TENSOR]
    assert problem.seconds == pytest.approx(problem.dram_bytes / TPU_V3.dram_bytes_per_s, rel=0.01, abs=1e-9)
    assert problem.weight_bytes.tolist() == [0, 0, TENSOR]
    assert problem.capacity_bytes == TPU_V3.global_buffer_bytes


def test_the_printed_programme_has_one_input_and_saves_every_write():
    problem = problem_of(RESIDUAL, LAST, "paper-printed")
    assert problem.dram_bytes[0, [0, 4]].tolist() == [2 * TENSOR, TENSOR]
    assert problem.dram_bytes[2, [0, 1, 2, 3]].tolist() == [3 * TENSOR, 2 * TENSOR, 2 * TENSOR, TENSOR]


def test_a_tensor_stays_whole_and_its_tiles_go():
    problem = problem_of(RESIDUAL, LAST, "paper")
    tile = 2 * 128 * LANES * 2
    assert problem.need_bytes[1, [0, 1, 4, 5]].tolist() == [2 * tile, TENSOR + tile, TENSOR + tile, 2 * TENSOR]
    # Weights that stay need no tile; they are counted for the whole program instead.
    assert problem.need_bytes[2, [0, 1, 2, 3]].tolist() == [
        4 * tile, TENSOR + 3 * tile, 3 * tile, TENSOR + 2 * tile
    ]  # fmt: skip
    free = residency_problem(
        RESIDUAL, np.array(LAST), default_schedule(RESIDUAL.kernels, TPU_V3), TPU_V3, Simulator(), "paper",
        count_tiles=False,
    )  # fmt: skip
    assert free.need_bytes[1, [0, 1, 4, 5]].tolist() == [0, TENSOR, TENSOR, 2 * TENSOR]


def test_a_tensor_that_is_read_much_later_does_not_stay():
    found = program([addition(1), addition(1), addition(1)], [(0, 2, 0)])
    problem = problem_of(found, NOT_LAST, "paper")
    assert problem.may_stay.tolist() == [False, False, False]
    assert (solve_residency(problem).placement == 0).all()


def test_the_only_reader_may_read_twice():
    # An operand each time, as with different views: both inputs come from the kernel before.
    found = program([addition(1), addition(2)], [(0, 1, 0), (0, 1, 1)])
    problem = problem_of(found, (False, True), "paper")
    assert problem.dram_bytes[0, [0, 4]].tolist() == [2 * TENSOR, TENSOR]
    assert problem.dram_bytes[1, [0, 1]].tolist() == [3 * TENSOR, TENSOR]
    assert solve_residency(problem).placement.tolist() == [4, 1]


def test_partial_sums_of_a_resident_output_are_float32():
    builder = KernelsBuilder()
    builder.add(dot(rows=512, columns=1024, contracted=1024))
    kernels = builder.build()
    tile = np.array([[256, 1, 1, 1024, 512, 1, 1, 1]])
    one = np.array([1], dtype=np.int32)
    found = ProgramKernels(kernels, one, ["dot"], one * 0, one * 0, np.empty((0, 3), dtype=np.int32), one, one == 0)
    for order, size in ((0, 2), (2, 4)):
        rows = schedules_for_tiles(np.array([0]), tile)._replace(loop_order=np.array([order], dtype=np.uint8))
        problem = residency_problem(found, np.array([False]), rows, TPU_V3, Simulator(), "paper-printed")
        tiles = 2 * 2 * (256 * 512 + 512 * 1024)
        assert problem.need_bytes[0, 4] == tiles + 512 * 1024 * size


def test_nothing_resident_costs_what_the_simulator_says():
    """The size of the global buffer does not change a kernel's time, which is what pricing all placements rests on."""
    kernels = random_kernels(np.random.default_rng(3), 18)
    rows = default_schedule(kernels, TPU_V3)
    costs = placement_costs(kernels, rows, TPU_V3, Simulator())
    alone = Simulator().cost(kernels, rows, TPU_V3)
    assert costs.seconds[:, 0, 0].tolist() == alone.value.tolist()
    assert costs.dram_bytes[:, 0, 0].tolist() == alone.dram_bytes.tolist()
    assert (costs.seconds[:, 7] <= costs.seconds[:, 0]).all()
    for role in range(3):
        assert (costs.dram_bytes[:, 1 << role, :, role] == 0).all()


def test_several_schedules_a_kernel_are_tables_side_by_side():
    kernels = RESIDUAL.kernels
    tiles = np.tile(np.array([[128, LANES, 1, 1, 1, 1, 1, 1], [64, LANES, 1, 1, 1, 1, 1, 1]]), (3, 1))
    rows = schedules_for_tiles(np.repeat(np.arange(kernels.number), 2), tiles)
    both = residency_problem(RESIDUAL, np.array(LAST), rows, FAST_COMPUTE, Simulator(SIMPLE), "paper")
    for choice, height in enumerate((128, 64)):
        one = problem_of(RESIDUAL, LAST, "paper", tile=(height, LANES))
        assert both.seconds[:, :, choice].tolist() == one.seconds.tolist()
        assert both.need_bytes[:, :, choice].tolist() == one.need_bytes.tolist()
        assert both.dram_bytes[:, :, choice].tolist() == one.dram_bytes.tolist()


def test_without_a_global_buffer_nothing_stays():
    bare = TPU_V3._replace(global_buffer_bytes=0, l1_input_bytes=1 << 22, l1_weight_bytes=1 << 22)
    problem = problem_of(RESIDUAL, LAST, "paper", datapath=bare)
    found = solve_residency(problem)
    assert (found.placement == 0).all()
    assert found.seconds == pytest.approx(problem.seconds[:, 0].sum())


def test_what_does_not_match_is_refused():
    with pytest.raises(ValueError, match="no variant 'lifetime' in a chain; there are paper-printed, paper"):
        problem_of(RESIDUAL, LAST, "lifetime")
    rows = default_schedule(RESIDUAL.kernels, TPU_V3)
    with pytest.raises(ValueError, match="equally many a kernel are needed"):
        placement_costs(RESIDUAL.kernels, rows._replace(kernel=rows.kernel[::-1].copy()), TPU_V3, Simulator())
    nothing = TPU_V3._replace(global_buffer_bytes=0)
    with pytest.raises(ValueError, match="kernel 0 has no cost"):
        placement_costs(RESIDUAL.kernels, rows, nothing, Simulator())
