"""Footprints of tiles, by hand; and the table for scanning against them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.program.kernel_builder import KernelRow, KernelsBuilder, OperandRow, OpRow
from lib.program.kernels import ABSENT, INPUT, OUT_H, OUTPUT, PARALLEL, REDUCTION, WEIGHT, WINDOW, Kernels
from lib.schedule.footprint import iterations, node_extent, padded_tile_bytes, tile_elements
from lib.schedule.node_table import node_elements, node_elements_and_padded, operand_table
from tests.kernel_examples import convolution_relu, dot, example_kernels

P, R, W, A = PARALLEL, REDUCTION, WINDOW, ABSENT


def build(*rows: KernelRow) -> Kernels:
    builder = KernelsBuilder()
    for row in rows:
        builder.add(row)
    return builder.build()


def transposed_convolution() -> KernelRow:
    """Output 28 x 28 from an input of 14 x 14 with a zero between neighbours; window dilated by 2."""
    return KernelRow(
        kernel_class=0, loops=(1, 28, 28, 16, 16, 3, 3, 1), loop_kind=(P, P, P, P, R, W, W, A), hero=0,
        operands=[
            OperandRow(INPUT, (1, 1, 1, 0, 1, 2, 2, 0), (4, 2, 1, 0), 14 * 14 * 16, 4),
            OperandRow(WEIGHT, (0, 0, 0, 1, 1, 1, 1, 0), (3, 4, 6, 5), 9 * 16 * 16, 4),
            OperandRow(OUTPUT, (1, 1, 1, 1, 0, 0, 0, 0), (3, 2, 1, 0), 28 * 28 * 16, 4),
        ],
        ops=[OpRow("convolution", (1, 1, 1, 1, 1, 1, 1, 0), 28 * 28 * 16, 4, (0, 1))],
        base_dilation=(2, 2),
    )  # fmt: skip


def elements(kernels: Kernels, operand: int, tile) -> int:
    return tile_elements(
        kernels.operand_stride[operand], kernels.loop_kind[0], kernels.base_dilation[0], np.array(tile),
        kernels.operand_elements[operand],
    )  # fmt: skip


def padded(kernels: Kernels, operand: int, tile, kernel=0) -> int:
    return padded_tile_bytes(
        kernels.operand_stride[operand], kernels.operand_order[operand], kernels.loops[kernel],
        kernels.loop_kind[kernel], kernels.base_dilation[kernel], np.array(tile),
        kernels.operand_element_bytes[operand], 8, 128,
    )  # fmt: skip


def test_a_tile_of_a_convolution_loads_its_halo():
    kernels = build(convolution_relu())
    assert elements(kernels, 0, (1, 7, 14, 256, 128, 3, 3, 1)) == 9 * 16 * 128
    assert elements(kernels, 0, (1, 7, 14, 256, 64, 1, 3, 1)) == 7 * 16 * 64


def test_a_strided_convolution_loads_every_row_between():
    kernels = build(convolution_relu(stride=2))
    assert elements(kernels, 0, (1, 7, 1, 256, 128, 3, 3, 1)) == (6 * 2 + 3) * 3 * 128


def test_window_padding_is_not_loaded():
    kernels = build(convolution_relu())
    assert elements(kernels, 0, (4, 28, 28, 256, 128, 3, 3, 1)) == 4 * 28 * 28 * 128  # and not 30 x 30


def test_dilations_stretch_the_window_and_thin_the_input():
    kernels = build(transposed_convolution())
    # 7 outputs under a window that spans 5: 11 dilated positions, of which every second holds an element.
    stride, kind, dilation = kernels.operand_stride[0], kernels.loop_kind[0], kernels.base_dilation[0]
    assert node_extent(OUT_H, stride, kind, dilation, np.array((1, 7, 7, 16, 8, 3, 3, 1))) == 6
    assert elements(kernels, 0, (1, 7, 1, 16, 8, 3, 1, 1)) == 6 * 1 * 8


def test_weights_do_not_depend_on_pixels():
    kernels = build(convolution_relu())
    assert elements(kernels, 1, (1, 7, 7, 32, 64, 3, 1, 1)) == 32 * 64 * 3
    assert elements(kernels, 2, (1, 7, 7, 32, 64, 3, 1, 1)) == 32


def test_the_two_most_minor_dimensions_are_padded_to_registers():
    kernels = build(dot(rows=5))
    tile = (5, 1, 1, 1000, 300, 1, 1, 1)
    assert padded(kernels, 0, tile) == 16 * 384 * 2  # [5, 300] bfloat16 in 16 x 128
    assert padded(kernels, 1, tile) == 304 * 1024 * 2  # [300, 1000]
    assert padded(kernels, 2, tile) == 16 * 1024 * 2


def test_four_byte_elements_have_eight_sublanes():
    kernels = build(transposed_convolution())
    tile = (1, 7, 7, 16, 8, 3, 3, 1)
    assert padded(kernels, 0, tile) == 6 * 8 * 128 * 4  # 6 rows of 6 -> 8 columns of 8 -> 128 channels
    assert padded(kernels, 1, tile) == 9 * 8 * 128 * 4
    assert padded(kernels, 2, tile) == 7 * 8 * 128 * 4


def test_a_vector_is_padded_along_the_lanes_only():
    kernels = build(convolution_relu(out_c=200))
    assert padded(kernels, 2, (1, 7, 7, 200, 128, 3, 3, 1)) == 256 * 2


def test_iterations_are_the_points_of_the_iteration_space():
    kernels = build(convolution_relu())
    tile = np.array((2, 7, 14, 256, 64, 3, 1, 1))
    assert iterations(kernels.op_stride[0], tile) == 2 * 7 * 14 * 256 * 64 * 3
    assert iterations(kernels.op_stride[1], tile) == 2 * 7 * 14 * 256


@settings(deadline=None)  # compiles on the first call
@given(st.data())
def test_the_table_for_scanning_says_the_same(data):
    kernels = example_kernels() if data.draw(st.booleans()) else build(transposed_convolution(), dot(7, 9, 11))
    k = data.draw(st.integers(0, kernels.number - 1))
    tile = np.array([data.draw(st.integers(1, int(extent))) for extent in kernels.loops[k]])
    table = operand_table(kernels, 8, 128)
    extended = np.append(tile, 1)
    for operand in range(kernels.operand_offset[k], kernels.operand_offset[k + 1]):
        expected = tile_elements(
            kernels.operand_stride[operand], kernels.loop_kind[k], kernels.base_dilation[k], tile,
            kernels.operand_elements[operand],
        )  # fmt: skip
        assert node_elements(table.node, table.dimension, operand, extended) == expected
        held = node_elements_and_padded(table.node, table.dimension, operand, extended)
        assert held == (expected, padded(kernels, operand, tile, k) / kernels.operand_element_bytes[operand])
