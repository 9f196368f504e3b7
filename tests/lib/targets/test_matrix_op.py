"""Loop nests of matrix ops: loops, dimensions and what is merged, worked out by hand; agreement with kernels."""

import numpy as np
import pytest

from lib.program.extraction import extract
from lib.program.kernels import BATCH, GROUP, IN_C, KERNEL_H, KERNEL_W, OUT_C, OUT_H, OUT_W
from lib.targets.iree_module import canonical_extents
from lib.targets.loop_merging import merged
from lib.targets.matrix_op import UnsupportedMatrixOp, matrix_op
from tests.lib.targets import matrix_ops
from tests.program_examples import Sketch

ALL = {
    "dot": matrix_ops.dot(),
    "attention": matrix_ops.attention(),
    "convolution": matrix_ops.convolution(),
    "strided": matrix_ops.convolution(stride=2),
    "channels first": matrix_ops.convolution(numbers="NCHW"),
    "pointwise": matrix_ops.pointwise(),
    "depthwise": matrix_ops.depthwise(),
    "grouped": matrix_ops.grouped(),
    "transposed": matrix_ops.transposed(),
    "weight gradient": matrix_ops.weight_gradient(),
    "depthwise weight gradient": matrix_ops.depthwise_weight_gradient(),
}


def parts(op) -> list[list[tuple[int, int]]]:
    return [[tuple(part) for part in loop.parts] for loop in op.loops]


@pytest.mark.parametrize("name", ALL)
def test_canonical_loops_are_those_of_the_kernel(name):
    program, index = ALL[name]
    groups = np.full(len(program.instructions), -1)
    groups[index] = index
    assert canonical_extents(matrix_op(program, index)) == extract(program, groups).kernels.loops[0].tolist()
    assert canonical_extents(merged(matrix_op(program, index))) == extract(program, groups).kernels.loops[0].tolist()


def test_a_strided_convolution_walks_windows():
    # 8 x 8 pixels padded by one on each side, 3 x 3 taps at stride 2: 4 x 4 results read rows 0 to 8 of 10.
    op = matrix_op(*matrix_ops.convolution(stride=2))
    assert parts(op) == [
        [(BATCH, 2)],
        [(OUT_H, 4)],
        [(OUT_W, 4)],
        [(OUT_C, 32)],
        [(KERNEL_H, 3)],
        [(KERNEL_W, 3)],
        [(IN_C, 16)],
    ]
    assert [one.padded for one in op.left] == [2, 10, 10, 16]
    assert [(one.loop, one.stride, one.tap, one.dilation) for one in op.left[1:3]] == [(1, 2, 4, 1), (2, 2, 5, 1)]
    assert op.flops == 2 * 2 * 4 * 4 * 32 * 9 * 16
    assert merged(op).loops == op.loops


def test_a_transposed_convolution_reads_zeros_between_pixels():
    # 4 pixels with a zero between: 7, and padding of 1 and 2: 10.
    op = matrix_op(*matrix_ops.transposed())
    assert [one.padded for one in op.left] == [2, 10, 10, 16]
    assert [one.extent for one in merged(op).left] == [2, 10, 10, 16]


def test_a_pointwise_convolution_is_a_product_of_matrices():
    # Batch x height x width walk input and output as one; the window of one tap has no loop.
    op = merged(matrix_op(*matrix_ops.pointwise()))
    assert parts(op) == [[(BATCH, 2), (OUT_H, 6), (OUT_W, 8)], [(OUT_C, 32)], [(IN_C, 16)]]
    assert [[one.extent for one in array] for array in (op.left, op.right, op.output)] == [[96, 16], [16, 32], [96, 32]]


def test_heads_between_the_dimensions_of_a_batched_dot_stay_loops():
    # [2, 8, 4, 16] twice gives [2, 4, 8, 8]: batch and head lie apart in the operands.
    op = merged(matrix_op(*matrix_ops.attention()))
    assert parts(op) == [[(GROUP, 2)], [(GROUP, 4)], [(BATCH, 8)], [(OUT_C, 8)], [(IN_C, 16)]]
    one_head = merged(matrix_op(*matrix_ops.attention(heads=1)))
    assert parts(one_head) == [[(GROUP, 2)], [(BATCH, 8)], [(OUT_C, 8)], [(IN_C, 16)]]


def test_groups_split_the_channels():
    op = matrix_op(*matrix_ops.grouped())
    assert parts(op)[3:] == [[(GROUP, 4)], [(OUT_C, 16)], [(KERNEL_H, 3)], [(KERNEL_W, 3)], [(IN_C, 8)]]
    assert [one.extent for one in op.left] == [2, 8, 8, 4, 8]
    assert [one.extent for one in op.right] == [3, 3, 8, 4, 16]


def test_a_gradient_of_weights_contracts_images():
    op = matrix_op(*matrix_ops.weight_gradient())
    assert parts(op) == [
        [(OUT_H, 3)],
        [(OUT_W, 3)],
        [(BATCH, 16)],
        [(OUT_C, 32)],
        [(KERNEL_H, 8)],
        [(KERNEL_W, 8)],
        [(IN_C, 4)],
    ]


def test_contracted_loops_stand_as_the_input_has_them():
    # IREE brings them into that order, and would take sizes in another one for those of other loops.
    slots = [IN_C, KERNEL_H, KERNEL_W]
    for op in (matrix_ops.weight_gradient(), matrix_ops.convolution(numbers="NCHW")):
        assert [loop.parts[0].slot for loop in merged(matrix_op(*op)).loops[4:]] == slots
    assert [loop.parts[0].slot for loop in merged(matrix_op(*matrix_ops.convolution())).loops[4:]] == [5, 6, 4]


def test_a_batch_of_one_stands_first():
    op = merged(matrix_op(*matrix_ops.depthwise_weight_gradient()))
    assert parts(op) == [
        [(BATCH, 1)],
        [(OUT_H, 3)],
        [(OUT_W, 3)],
        [(GROUP, 32)],
        [(IN_C, 4)],
        [(KERNEL_H, 8)],
        [(KERNEL_W, 8)],
    ]
    assert [one.extent for one in op.output] == [1, 3, 3, 32]


def test_other_layouts_are_walked_as_they_lie_in_memory():
    s = matrix_ops.FloatSketch()
    program, index = s.only(s.dot(s.input(16, 64), s.weight(64, 32), (16, 32), (1, 0)))
    turned = program.instructions[1].replace(layout=(0, 1))
    program = program.replace(instructions=(program.instructions[0], turned, program.instructions[2]))
    assert [one.extent for one in matrix_op(program, index).right] == [32, 64]


def test_what_is_no_matrix_op_is_refused():
    s = matrix_ops.FloatSketch()
    program, index = s.only(s.op("tanh", s.input(4), name="curve"))
    with pytest.raises(
        UnsupportedMatrixOp, match=r"'sketch': instruction 'curve' \(tanh, f32\[4\]\): it is no matrix op"
    ):
        matrix_op(program, index)


def test_other_types_than_f32_are_refused():
    s = Sketch()
    index = s.dot(s.input(4, 4), s.weight(4, 4), (4, 4), (1, 0), name="product")
    with pytest.raises(UnsupportedMatrixOp, match=r"'product'.*is of type bf16.*sizing: as-traced"):
        matrix_op(s.program(index), index)


def test_mirrored_windows_are_refused():
    program, index = matrix_ops.convolution()
    hero = program.instructions[index]
    from dataclasses import replace

    mirrored = hero.replace(window=replace(hero.window, reversal=(1, 0)))
    with pytest.raises(UnsupportedMatrixOp, match="mirrored"):
        matrix_op(program.replace(instructions=(*program.instructions[:index], mirrored)), index)
