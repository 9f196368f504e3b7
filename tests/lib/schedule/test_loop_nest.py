"""Loop nests as text, written by hand."""

from math import prod
from textwrap import dedent

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.program.kernel_builder import KernelRow, KernelsBuilder
from lib.program.kernels import Kernels
from lib.schedule.default import default_schedule
from lib.schedule.loop_nest import bytes_text, loop_names, loop_nest_text, nest_of
from tests.datapath_examples import tpu_v3
from tests.kernel_examples import convolution_relu, elementwise, example_kernels, max_pool, reduction


def one(row: KernelRow) -> Kernels:
    builder = KernelsBuilder()
    builder.add(row)
    return builder.build()


def text(row: KernelRow, tile, order=0) -> str:
    return loop_nest_text(nest_of(one(row), 0, np.array(tile), order))


def written(nest: str) -> str:
    return dedent(nest).strip()


def test_convolution():
    # Input 10 x 30 x 128, weights 9 x 128 x 128, output 8 x 28 x 128, two bytes each.
    assert text(convolution_relu(), (1, 8, 28, 128, 128, 3, 3, 1)) == written("""
        for batch: 4 trips of 1
          for out_h: 4 trips of 8, edge: last of 4
            load input 0 (75 KiB)
            for out_c: 2 trips of 128
              load weight 0 (288 KiB)
              load weight 1 (256 B)
              compute
              store output (56 KiB)
    """)


def test_elementwise_with_an_edge():
    # 24 x 56 x 96 elements of two bytes.
    assert text(elementwise(), (1, 24, 56, 96, 1, 1, 1, 1)) == written("""
        for dimension_0: 4 trips of 1
          for dimension_1: 3 trips of 24, edge: last of 8
            load input 0 (252 KiB)
            load input 1 (252 KiB)
            compute
            store output (252 KiB)
    """)


def test_output_is_stored_outside_of_a_reduced_loop():
    # Input 4 x 96 x 14 x 56, output 4 x 96, two bytes each.
    assert text(reduction(), (4, 96, 14, 56, 1, 1, 1, 1)) == written("""
        for reduced_0: 4 trips of 14, reduces
          load input 0 (588 KiB)
          compute
        store output (768 B)
    """)


def test_partial_sums_come_back_inside_of_a_reduced_loop():
    # Loop order 2. Input 30 x 30 x 64, weights 9 x 64 x 128, output 28 x 28 x 128.
    assert text(convolution_relu(), (1, 28, 28, 128, 64, 3, 3, 1), order=2) == written("""
        for in_c: 2 trips of 64, reduces
          for out_c: 2 trips of 128
            load weight 0 (144 KiB)
            load weight 1 (256 B)
            for batch: 4 trips of 1
              load input 0 (112.5 KiB)
              load output's partial sums, but not in the first trips of the reducing loops
              compute
              store output (196 KiB), as float32 partial sums until complete
    """)


def test_a_kernel_of_one_tile_has_no_loop():
    assert text(elementwise(batch=1, height=2, width=8, channels=4), (1, 2, 8, 4, 1, 1, 1, 1)) == written("""
        load input 0 (128 B)
        load input 1 (128 B)
        compute
        store output (128 B)
    """)


def test_loops_of_window_ops_have_names_and_others_numbers():
    assert loop_names(one(max_pool()), 0)[:4] == ["batch", "out_h", "out_w", "out_c"]
    assert loop_names(one(reduction()), 0)[:4] == ["dimension_0", "dimension_1", "reduced_0", "reduced_1"]


def test_loads_and_stores_are_the_bytes_that_the_analytical_model_moves():
    kernels = example_kernels()
    # A small buffer, so that loops are cut.
    datapath = tpu_v3(global_buffer_bytes=2**20)
    schedules = default_schedule(kernels, datapath)
    moved = Analytical().cost(kernels, schedules, datapath).dram_bytes
    for k in range(kernels.number):
        nest = nest_of(kernels, k, schedules.tile[k])
        sums = {"input": 0, "weight": 0, "output": 0}
        for operand in nest.operands:
            times = prod(level.trips for level in nest.levels[: operand.level + 1])
            sums[operand.name.split()[0]] += times * operand.tile_bytes
        assert nest.steps > 1
        assert list(sums.values()) == moved[k].tolist()


@pytest.mark.parametrize(
    ("size", "expected"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (7 * 2**20, "7 MiB"), (2**31, "2 GiB")]
)
def test_bytes_in_the_largest_unit(size, expected):
    assert bytes_text(size) == expected
