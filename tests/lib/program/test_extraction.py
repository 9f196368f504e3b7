"""Canonical loops, strides and orders of extracted kernels, by hand; and what must hold for every configuration."""

import numpy as np
import pytest

from lib.fusion import FusionSpace, default_fusion, group
from lib.program.dataflow import UnsupportedInstruction
from lib.program.extraction import KernelExtractor, extract, kernel_work
from lib.program.kernels import INPUT, KERNEL_CLASSES, NO_LOOP, OUTPUT, WEIGHT
from lib.program.op_kinds import OP_CLASSES, op_kind_table
from lib.program.program import Window
from lib.schedule.footprint import tile_elements
from tests.program_examples import (
    WEIGHT_GRADIENT,
    Sketch,
    all_programs,
    attention,
    concatenated,
    convolution_block,
    dense_of_rows,
    residual,
    softmax,
    squeeze_excite,
)


def extracted(program):
    return extract(program, group(program, default_fusion(program)))


def only_kernel(program):
    """(kernels, operands as (role, stride, order, elements), ops as (opcode, stride)) of a one-kernel program."""
    kernels = extracted(program).kernels
    assert kernels.number == 1
    operands = [
        (role, stride, [slot for slot in order if slot != NO_LOOP], elements)
        for role, stride, order, elements in zip(
            kernels.operand_role.tolist(),
            kernels.operand_stride.tolist(),
            kernels.operand_order.tolist(),
            kernels.operand_elements.tolist(),
            strict=True,
        )
    ]
    names = [name for name, _ in op_kind_table()]
    ops = [(names[kind], stride) for kind, stride in zip(kernels.op_kind, kernels.op_stride.tolist(), strict=True)]
    return kernels, operands, ops


def test_strided_convolution_with_epilogue():
    kernels, operands, ops = only_kernel(convolution_block())
    assert kernels.loops.tolist() == [[2, 4, 4, 16, 3, 3, 3, 1]]
    assert kernels.loop_kind.tolist() == [[1, 1, 1, 1, 2, 3, 3, 0]]
    assert operands == [
        (INPUT, [1, 2, 2, 0, 1, 1, 1, 0], [4, 2, 1, 0], 2 * 8 * 8 * 3),
        (WEIGHT, [0, 0, 0, 1, 1, 1, 1, 0], [3, 4, 6, 5], 3 * 3 * 3 * 16),
        (WEIGHT, [0, 0, 0, 1, 0, 0, 0, 0], [3], 16),
        (WEIGHT, [0, 0, 0, 1, 0, 0, 0, 0], [3], 16),
        (OUTPUT, [1, 1, 1, 1, 0, 0, 0, 0], [3, 2, 1, 0], 2 * 4 * 4 * 16),
    ]
    pixels = [1, 1, 1, 1, 0, 0, 0, 0]
    assert ops == [
        ("convolution", [1, 1, 1, 1, 1, 1, 1, 0]),
        ("add", pixels),
        ("rsqrt", [0, 0, 0, 1, 0, 0, 0, 0]),
        ("multiply", pixels),
        ("maximum", pixels),
    ]
    # Nodes: operands 0-3, then ops 4-8. The scalar 0 of the relu is no node.
    assert kernels.edge.tolist() == [[0, 4], [1, 4], [4, 5], [2, 5], [3, 6], [5, 7], [6, 7], [7, 8]]
    assert kernels.hero.tolist() == [0]


def test_work_of_the_strided_convolution():
    work = kernel_work(extracted(convolution_block()).kernels)
    outputs = 2 * 4 * 4 * 16
    assert work.flops.tolist() == [2.0 * outputs * 3 * 3 * 3]
    by_class = dict(zip(OP_CLASSES, work.vector_ops[0].tolist(), strict=True))
    assert by_class["simple"] == 3 * outputs  # add, multiply, maximum
    assert by_class["divide"] == 16  # rsqrt
    assert work.transcendentals.tolist() == [0.0]
    assert work.bytes_read.tolist() == [2.0 * (2 * 8 * 8 * 3 + 3 * 3 * 3 * 16 + 16 + 16)]
    assert work.bytes_written.tolist() == [2.0 * outputs]


def test_depthwise_and_projection_of_squeeze_excite():
    found = extracted(squeeze_excite())
    kernels = found.kernels
    classes = [KERNEL_CLASSES[c] for c in kernels.kernel_class]
    assert classes == [
        "convolution", "depthwise-convolution", "reduction", "convolution", "convolution", "convolution",
    ]  # fmt: skip
    assert kernels.loops.tolist() == [
        [2, 8, 8, 16, 4, 1, 1, 1],
        [2, 8, 8, 1, 1, 3, 3, 16],
        [2, 16, 8, 8, 1, 1, 1, 1],
        [2, 1, 1, 4, 16, 1, 1, 1],
        [2, 1, 1, 16, 4, 1, 1, 1],
        [2, 8, 8, 8, 16, 1, 1, 1],
    ]
    assert kernels.loop_kind[2].tolist() == [1, 1, 2, 2, 0, 0, 0, 0]
    projection = slice(kernels.operand_offset[5], kernels.operand_offset[6])
    assert kernels.operand_stride[projection].tolist() == [
        [1, 0, 0, 0, 1, 0, 0, 0],  # gate of [2, 16], read along the contracted channels
        [1, 1, 1, 0, 1, 0, 0, 0],  # depthwise result
        [0, 0, 0, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0, 0],
    ]
    assert found.roots == [
        "expand-swish", "depthwise-swish", "mean", "narrow-swish", "gate", "project-bias",
    ]  # fmt: skip
    edges = {(producer, reader) for producer, reader, _ in found.occurrence_edge.tolist()}
    assert edges == {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (1, 5)}


def test_equal_kernels_are_one_and_executions_are_counted():
    found = extracted(residual())
    assert found.executions.tolist() == [1, 1, 1]
    s = Sketch()
    index = s.input(2, 4, 4, 8)
    for _ in range(3):
        index = s.bias(s.pointwise(index, 8))
    chain = extracted(s.program(index))
    assert chain.kernels.number == 1
    assert chain.executions.tolist() == [3]
    assert chain.occurrence_edge.tolist() == [[0, 1, 0], [1, 2, 0]]


def test_softmax_passes():
    found = extracted(softmax())
    assert found.kernels.loops[:, :2].tolist() == [[4, 32]] * 3
    assert found.kernels.loop_kind[:, :2].tolist() == [[1, 2], [1, 1], [1, 1]]
    assert found.executions.tolist() == [2, 1, 1]  # a maximum costs what a sum costs
    work = kernel_work(found.kernels)
    # Score-sized transfers: max reads, exp reads and writes, sum reads, divide reads and writes.
    assert found.executions @ (work.bytes_read + work.bytes_written) == 2 * (6 * 4 * 32 + 4 * 4)


def test_concatenation_caps_its_operands():
    found = extracted(concatenated())
    kernels = found.kernels
    assert found.roots == ["negate", "tanh"]
    assert kernels.loops[1].tolist() == [2, 4, 4, 24, 1, 1, 1, 1]
    second = slice(kernels.operand_offset[1], kernels.operand_offset[2])
    assert kernels.operand_elements[second].tolist() == [2 * 4 * 4 * 8, 2 * 4 * 4 * 16, 2 * 4 * 4 * 24]
    assert kernels.operand_stride[second].tolist() == [[1, 1, 1, 1, 0, 0, 0, 0]] * 3


def test_batched_dot_merges_its_batch_dimensions_into_the_group():
    kernels, operands, ops = only_kernel(attention())
    assert kernels.loops.tolist() == [[16, 1, 1, 16, 8, 1, 1, 8]]
    assert kernels.loop_kind.tolist() == [[1, 0, 0, 1, 2, 0, 0, 1]]
    assert operands == [
        (INPUT, [1, 0, 0, 0, 1, 0, 0, 1], [4, 7, 0], 2 * 16 * 4 * 8),  # [batch, row, head, feature]
        (INPUT, [0, 0, 0, 1, 1, 0, 0, 1], [4, 7, 3], 2 * 16 * 4 * 8),
        (INPUT, [0, 0, 0, 1, 0, 0, 0, 1], [3, 7], 2 * 16),  # the mask depends on a part of the group
        (OUTPUT, [1, 0, 0, 1, 0, 0, 0, 1], [3, 0, 7], 2 * 4 * 16 * 16),
    ]
    assert [name for name, _ in ops] == ["dot", "multiply", "add"]


def test_merged_rows_of_a_dot_are_taken_apart_again():
    kernels, operands, _ = only_kernel(dense_of_rows())
    assert kernels.loops.tolist() == [[2, 1, 16, 24, 8, 1, 1, 1]]
    assert operands[0] == (INPUT, [1, 0, 1, 0, 1, 0, 0, 0], [4, 2, 0], 2 * 16 * 8)
    assert operands[-1] == (OUTPUT, [1, 0, 1, 1, 0, 0, 0, 0], [3, 2, 0], 2 * 16 * 24)


def test_pooling_walks_its_window_with_the_pixels():
    s = Sketch()
    zero = s.put("constant", (), value=(0.0,))
    window = Window((1, 3, 3, 1), (1, 2, 2, 1), (0, 1, 1, 0), (0, 0, 0, 0), (1,) * 4, (1,) * 4)
    pooled = s.put("reduce-window", (2, 4, 4, 16), (s.input(2, 8, 8, 16), zero), window=window, reducer="maximum")
    kernels, operands, _ = only_kernel(s.program(pooled))
    assert kernels.loops.tolist() == [[2, 4, 4, 16, 1, 3, 3, 1]]
    assert kernels.loop_kind.tolist() == [[1, 1, 1, 1, 0, 3, 3, 0]]
    assert operands[0] == (INPUT, [1, 2, 2, 1, 0, 1, 1, 0], [3, 2, 1, 0], 2 * 8 * 8 * 16)
    work = kernel_work(kernels)
    assert work.vector_ops[0, OP_CLASSES.index("window")] == 2 * 4 * 4 * 16 * 9


def test_pooling_with_a_window_of_one_is_a_strided_read():
    s = Sketch()
    zero = s.put("constant", (), value=(0.0,))
    window = Window((1, 1, 1, 1), (1, 2, 2, 1), (0,) * 4, (0,) * 4, (1,) * 4, (1,) * 4)
    pooled = s.put("reduce-window", (2, 4, 4, 16), (s.input(2, 8, 8, 16), zero), window=window, reducer="add")
    kernels, operands, _ = only_kernel(s.program(pooled))
    assert kernels.loops.tolist() == [[2, 4, 4, 16, 1, 1, 1, 1]]
    assert operands[0] == (INPUT, [1, 2, 2, 1, 0, 0, 0, 0], [3, 2, 1, 0], 2 * 8 * 8 * 16)
    assert kernel_work(kernels).bytes_read.tolist() == [2.0 * 2 * 7 * 7 * 16]


def test_a_stride_along_a_single_result_is_no_windowed_dimension():
    s = Sketch()
    zero = s.put("constant", (), value=(0.0,))
    window = Window((3, 3, 1), (2, 2, 2), (0,) * 3, (0,) * 3, (1,) * 3, (1,) * 3)
    pooled = s.put("reduce-window", (4, 4, 1), (s.input(9, 9, 1), zero), window=window, reducer="add")
    kernels, operands, _ = only_kernel(s.program(pooled))
    assert kernels.loops.tolist() == [[1, 4, 4, 1, 1, 3, 3, 1]]
    assert operands[0] == (INPUT, [0, 2, 2, 0, 0, 1, 1, 0], [2, 1], 9 * 9)


def test_gradient_of_a_strided_convolution_by_its_input_has_base_dilation():
    s = Sketch()
    # 8x8 input, 3x3 window, stride 2, 4x4 gradient: padded by 1 and 2 after dilation to 7x7.
    gradient = s.convolution(s.input(2, 4, 4, 16), s.weight(3, 3, 16, 4), (2, 8, 8, 4), pad=(1, 2), base=2)
    kernels, operands, _ = only_kernel(s.program(gradient))
    assert kernels.loops.tolist() == [[2, 8, 8, 4, 16, 3, 3, 1]]
    assert kernels.base_dilation.tolist() == [[2, 2]]
    assert operands[0] == (INPUT, [1, 1, 1, 0, 1, 1, 1, 0], [4, 2, 1, 0], 2 * 4 * 4 * 16)
    # A tile of 4x4 pixels reaches over (4 - 1) + (3 - 1) = 5 dilated positions: 3 of them hold data.
    tile = np.array([1, 4, 4, 4, 16, 3, 3, 1], dtype=np.int32)
    touched = tile_elements(kernels.operand_stride[0], kernels.loop_kind[0], kernels.base_dilation[0], tile, 512)
    assert touched == 3 * 3 * 16


def test_base_dilation_of_a_window_of_one():
    s = Sketch()
    gradient = s.convolution(s.input(2, 4, 4, 16), s.weight(1, 1, 16, 4), (2, 8, 8, 4), pad=(0, 1), base=2)
    kernels, operands, _ = only_kernel(s.program(gradient))
    assert kernels.loop_kind.tolist() == [[1, 1, 1, 1, 2, 3, 3, 0]]
    tile = np.array([2, 4, 4, 4, 16, 1, 1, 1], dtype=np.int32)
    touched = tile_elements(kernels.operand_stride[0], kernels.loop_kind[0], kernels.base_dilation[0], tile, 512)
    assert touched == 2 * 2 * 2 * 16
    assert operands[1] == (WEIGHT, [0, 0, 0, 1, 1, 0, 0, 0], [3, 4], 16 * 4)


def test_gradient_of_a_convolution_by_its_weights():
    s = Sketch()
    # x [5, 8, 8, 3] and dy [5, 8, 8, 16] of a padded 3x3 convolution: a window of 8x8 over 3x3 results.
    gradient = s.convolution(
        s.input(5, 8, 8, 3), s.input(5, 8, 8, 16), (3, 3, 3, 16), pad=(1, 1), numbers=WEIGHT_GRADIENT
    )
    kernels, operands, _ = only_kernel(s.program(gradient))
    assert kernels.loops.tolist() == [[3, 3, 3, 16, 5, 8, 8, 1]]
    assert operands[0] == (INPUT, [1, 1, 1, 0, 1, 1, 1, 0], [0, 2, 1, 4], 5 * 8 * 8 * 3)
    assert operands[1] == (INPUT, [0, 0, 0, 1, 1, 1, 1, 0], [3, 6, 5, 4], 5 * 8 * 8 * 16)
    assert kernel_work(kernels).flops.tolist() == [2.0 * 3 * 3 * 3 * 16 * 5 * 8 * 8]


def test_gradient_of_a_depthwise_convolution_by_its_weights():
    s = Sketch()
    gradient = s.convolution(
        s.input(5, 8, 8, 6), s.input(5, 8, 8, 6), (3, 3, 1, 6), pad=(1, 1), batch_groups=6, numbers=WEIGHT_GRADIENT
    )
    kernels, operands, _ = only_kernel(s.program(gradient))
    assert KERNEL_CLASSES[kernels.kernel_class[0]] == "depthwise-convolution"
    assert kernels.loops.tolist() == [[1, 3, 3, 1, 5, 8, 8, 6]]
    assert operands[0] == (INPUT, [0, 1, 1, 0, 1, 1, 1, 1], [7, 2, 1, 4], 5 * 8 * 8 * 6)
    assert operands[1] == (INPUT, [0, 0, 0, 0, 1, 1, 1, 1], [7, 6, 5, 4], 5 * 8 * 8 * 6)
    assert operands[2] == (OUTPUT, [0, 1, 1, 0, 0, 0, 0, 1], [7, 2, 1], 3 * 3 * 6)


def test_grouped_convolution_splits_its_features_and_those_of_its_epilogue():
    s = Sketch()
    grouped = s.convolution(s.input(1, 4, 4, 12), s.weight(1, 1, 4, 18), (1, 4, 4, 18), groups=3)
    kernels, operands, ops = only_kernel(s.program(s.bias(grouped)))
    assert kernels.loops.tolist() == [[1, 4, 4, 6, 4, 1, 1, 3]]
    assert operands == [
        (INPUT, [0, 1, 1, 0, 1, 0, 0, 1], [4, 7, 2, 1], 4 * 4 * 12),
        (WEIGHT, [0, 0, 0, 1, 1, 0, 0, 1], [3, 7, 4], 4 * 18),
        (WEIGHT, [0, 0, 0, 1, 0, 0, 0, 1], [3, 7], 18),
        (OUTPUT, [0, 1, 1, 1, 0, 0, 0, 1], [3, 7, 2, 1], 4 * 4 * 18),
    ]
    assert ops[1] == ("add", [0, 1, 1, 1, 0, 0, 0, 1])


def test_strided_slice_multiplies_strides():
    s = Sketch()
    fields = {"slice_start": (0, 1), "slice_limit": (4, 32), "slice_stride": (1, 3)}
    sliced = s.put("slice", (4, 11), (s.input(4, 32),), **fields)
    kernels, operands, _ = only_kernel(s.program(s.op("tanh", sliced)))
    assert kernels.loops.tolist() == [[4, 11, 1, 1, 1, 1, 1, 1]]
    assert operands[0] == (INPUT, [1, 3, 0, 0, 0, 0, 0, 0], [1, 0], 4 * 32)
    assert kernel_work(kernels).bytes_read.tolist() == [2.0 * 4 * 31]  # (11 - 1) * 3 + 1 columns


@pytest.mark.parametrize("computed", [False, True])
def test_two_slices_of_an_array_are_two_reads(computed):
    s = Sketch()
    source = s.input(4, 32)
    if computed:
        source = s.op("negate", source)
    halves = [
        s.put("slice", (4, 16), (source,), slice_start=(0, a), slice_limit=(4, a + 16), slice_stride=(1, 1))
        for a in (0, 16)
    ]
    found = extracted(s.program(s.op("add", *halves)))
    assert found.kernels.number == 1 + computed
    assert kernel_work(found.kernels).bytes_read[-1] == 2.0 * 4 * 32


def test_many_dimensions_are_merged_from_the_major_ones():
    s = Sketch()
    kernels, operands, _ = only_kernel(s.program(s.op("tanh", s.input(2, 3, 2, 3, 2, 3, 2))))
    assert kernels.loops.tolist() == [[6, 2, 3, 2, 3, 2, 1, 1]]
    assert operands[0][2] == [5, 4, 3, 2, 1, 0]


def test_scalar_parameters_are_operands_without_loops():
    s = Sketch()
    scaled = s.op("multiply", s.input(4, 8), s.broadcast(s.input(), (4, 8), ()))
    _, operands, _ = only_kernel(s.program(scaled))
    assert operands[1] == (INPUT, [0] * 8, [], 1)


def test_large_constants_are_weights_and_small_ones_are_nothing():
    s = Sketch()
    table = s.put("constant", (4, 8))
    row = s.broadcast(s.put("constant", (8,), value=(0.0,) * 8), (4, 8), (1,))
    _, operands, _ = only_kernel(s.program(s.op("add", s.op("multiply", s.input(4, 8), table), row)))
    assert [role for role, *_ in operands] == [INPUT, WEIGHT, OUTPUT]


def test_three_spatial_dimensions_are_refused_by_name():
    s = Sketch()
    numbers = {
        "input_batch": 0, "input_feature": 4, "input_spatial": (1, 2, 3), "kernel_input_feature": 3,
        "kernel_output_feature": 4, "kernel_spatial": (0, 1, 2), "output_batch": 0, "output_feature": 4,
        "output_spatial": (1, 2, 3),
    }  # fmt: skip
    made = s.convolution(s.input(1, 4, 4, 4, 2), s.weight(1, 1, 1, 2, 3), (1, 4, 4, 4, 3), numbers=numbers, name="c3d")
    with pytest.raises(UnsupportedInstruction, match=r"'c3d' .*3 spatial dimensions; kernels have at most 2"):
        default_fusion(s.program(made))


def test_groups_that_are_no_kernel_are_refused_by_name():
    program = softmax()
    groups = group(program, default_fusion(program))
    groups[groups >= 0] = groups.max()
    with pytest.raises(ValueError, match=r"instruction 'sum' .* can't be in the kernel of 'divide'"):
        extract(program, groups)


@pytest.mark.parametrize("program", all_programs(), ids=lambda program: program.instructions[-1].name)
def test_work_and_instructions_are_conserved_and_nothing_is_read_twice_too_little(program):
    space, extractor = FusionSpace(program), KernelExtractor(program)
    rng = np.random.default_rng(5)
    whole = None
    for _ in range(15):
        found = extractor.extract(space.group(space.random(rng)))
        kernels, work = found.kernels, kernel_work(found.kernels)
        total = (found.executions @ work.flops, (found.executions @ work.vector_ops).tolist())
        whole = whole or total
        assert total == whole
        assert found.executions.sum() == len(found.occurrence_root)
        ops = np.diff(kernels.op_offset)
        assert found.executions @ ops == sum(
            live and not free for live, free in zip(space.flow.live, space.flow.free, strict=True)
        )
        bytes_moved = found.executions @ (work.bytes_read + work.bytes_written)
        parameters = sum(i.bytes for i in program.instructions if i.opcode == "parameter")
        assert bytes_moved >= parameters + sum(program.instructions[output].bytes for output in program.outputs)
        for kernel in range(kernels.number):
            for operand in range(kernels.operand_offset[kernel], kernels.operand_offset[kernel + 1]):
                elements = kernels.operand_elements[operand]
                touched = tile_elements(
                    kernels.operand_stride[operand],
                    kernels.loop_kind[kernel],
                    kernels.base_dilation[kernel],
                    kernels.loops[kernel],
                    elements,
                )
                assert touched == elements


def test_a_kept_extractor_gives_the_same_kernels():
    program = squeeze_excite()
    space, extractor = FusionSpace(program), KernelExtractor(program)
    rng = np.random.default_rng(2)
    for _ in range(5):
        groups = space.group(space.random(rng))
        kept, fresh = extractor.extract(groups), extract(program, groups)
        assert kept.kernels.fingerprint == fresh.kernels.fingerprint
        assert kept.occurrence_edge.tolist() == fresh.occurrence_edge.tolist()
