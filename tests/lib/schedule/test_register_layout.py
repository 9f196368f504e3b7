"""Which dimensions lie on lanes and sublanes, by hand; that whatever counts register padding agrees."""

import numpy as np
import pytest

from lib.cost.simulator import PART_NAMES, Simulator
from lib.program.kernel_builder import KernelRow, KernelsBuilder
from lib.program.kernels import NO_LOOP
from lib.schedule.candidates import tile_candidates
from lib.schedule.footprint import padded_tile_bytes
from lib.schedule.register_layout import register_loops
from lib.schedule.schedules import schedules_for_tiles
from tests.datapath_examples import tpu_v3
from tests.kernel_examples import convolution_relu, dot, elementwise


def loops_of(order, extents, lanes=128):
    """`extents`: of the loops 0, 1, ..."""
    order = np.array([*order, *[NO_LOOP] * (8 - len(order))], dtype=np.uint8)
    return register_loops(order, np.array([*extents, *[1] * (8 - len(extents))], dtype=np.int32), lanes)


def test_wide_channels_lie_on_lanes():
    assert loops_of((3, 2, 1, 0), (64, 56, 56, 96)) == (3, 2)
    assert loops_of((3, 2, 1, 0), (64, 56, 56, 16)) == (3, 2)  # an eighth of 128


def test_three_colours_leave_the_lanes_to_the_width():
    assert loops_of((3, 2, 1, 0), (64, 224, 224, 3)) == (2, 1)
    assert loops_of((3, 2, 1, 0), (64, 224, 224, 3), lanes=16) == (3, 2)  # 3 of 16 lanes are more than an eighth


def test_two_scores_a_row_leave_the_lanes_to_the_rows():
    assert loops_of((1, 0), (384, 2)) == (0, 1)


def test_dimensions_of_one_element_take_no_sublanes():
    assert loops_of((3, 2, 1, 0), (64, 1, 1, 1280)) == (3, 0)


def test_small_tensors_stay_as_they_are():
    assert loops_of((1, 0), (2, 3)) == (1, 0)
    assert loops_of((0,), (3,)) == (0, NO_LOOP)
    assert loops_of((), ()) == (NO_LOOP, NO_LOOP)


def kernels_of(row: KernelRow):
    builder = KernelsBuilder()
    builder.add(row)
    return builder.build()


def test_an_image_of_three_channels_is_hardly_padded():
    # [4, 224, 224, 3] bfloat16: width 224 takes 256 lanes, height 224 is 14 x 16 rows.
    kernels = kernels_of(elementwise(4, 224, 224, 3))
    held = padded_tile_bytes(
        kernels.operand_stride[0], kernels.operand_order[0], kernels.loops[0], kernels.loop_kind[0],
        kernels.base_dilation[0], np.array([4, 224, 224, 3, 1, 1, 1, 1]), 2, 8, 128,
    )  # fmt: skip
    assert held == 4 * 3 * 256 * 224 * 2
    found = tile_candidates(kernels, tpu_v3())
    width = found.extent[found.offset[2] : found.offset[3]].tolist()
    assert width == [224, 128]
    assert found.extent[found.offset[3] : found.offset[4]].tolist() == [3, 2, 1]
    rows = schedules_for_tiles(np.array([0]), np.array([[4, 224, 224, 3, 1, 1, 1, 1]]))
    costs = Simulator().cost(kernels, rows, tpu_v3(), parts=True)
    vector_s = costs.parts[0, PART_NAMES.index("vector_s")]
    # logistic(a + b): 4 instructions for 14 x 2 x 3 x 4 registers of 2 x 8 x 128 elements, two a cycle.
    assert vector_s == pytest.approx(4 * 3 * 256 * 224 * 4 / 2 / 1024 / 0.94e9)


def test_the_matrix_unit_takes_narrow_channels_as_they_lie():
    kernels = kernels_of(convolution_relu(1, 112, 112, 64, 3))
    whole = schedules_for_tiles(np.array([0]), kernels.loops[[0]])
    crossing = Simulator().cost(kernels, whole, tpu_v3(), parts=True).parts[0, PART_NAMES.index("vector_s")]
    # Bias and maximum on 112 x 64 padded to 112 x 128, two instructions a cycle: no layout change, which would pass
    # 16 x 14 registers an image row through the cross-lane unit.
    assert crossing == pytest.approx(112 * 112 * 128 / 1024 / 0.94e9, rel=0.6)
    scores = kernels_of(dot(384, 2, 768))
    assert Simulator().cost(scores, schedules_for_tiles(np.array([0]), scores.loops[[0]]), tpu_v3()).value[0] < 1e-5
