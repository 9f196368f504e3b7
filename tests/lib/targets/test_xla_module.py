"""Kernels as StableHLO text; that XLA compiles it and what it computes is tested in test_xla_device.py."""

import pytest

from lib.fusion import FusionSpace
from lib.program.dataflow import UnsupportedInstruction
from lib.program.program import Indexing
from lib.targets.xla_module import KernelModules, kernel_module, program_module
from lib.targets.xla_repeat import Argument, signature
from tests.lib.program.program_examples import Writer, dense

ROWS = Indexing(window=(1,), collapsed=(0,), indexed=(0,))
"""Whole rows of a table, picked by one number each."""


def modules(program, fuse=None):
    """Texts of the kernels of a configuration, by index of their root."""
    space = FusionSpace(program)
    groups = space.group(space.default() if fuse is None else fuse).tolist()
    made = KernelModules(program)
    return {
        root: made.module([index for index, other in enumerate(groups) if other == root]).text
        for root in sorted({root for root in groups if root >= 0})
    }


def test_a_kernel_written_out_by_hand():
    w = Writer()
    doubled = w.add("multiply", (2, 3), w.input(2, 3), w.filled(2.0, 2, 3))
    program = w.program(w.add("negate", (2, 3), doubled))
    module = kernel_module(program, [doubled, doubled + 1])
    assert module.runtime == "xla"
    assert (
        module.text
        == """\
module @main {
  func.func public @main(
    %arg0: tensor<2x3xf32> // 0.5 to 1.5
  ) -> (tensor<2x3xf32>) {
    %0 = "stablehlo.constant"() <{value = dense<2.00000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
    %2 = "stablehlo.multiply"(%arg0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = "stablehlo.negate"(%2) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}
"""
    )


def test_what_comes_from_outside_is_a_parameter_and_what_others_read_a_result():
    program = dense()  # dot, largest of a row, subtract
    dot, subtract = 2, 6
    assert program.instructions[dot].opcode == "dot"
    assert program.instructions[subtract].opcode == "subtract"
    made = KernelModules(program)
    assert made.cut([dot]).inputs == [0, 1]
    assert made.cut([dot]).results == [dot]
    assert made.cut([dot, 4]).results == [dot, 4]  # the subtraction reads both
    assert made.cut([subtract]).inputs == [dot, 4]
    assert made.cut([5, subtract]).inputs == [dot, 4]  # the broadcast between costs nothing
    assert [one.type for one in signature(made.module([subtract]).text).arguments] == [
        "tensor<2x10xf32>",
        "tensor<2xf32>",
    ]


def test_equal_kernels_of_different_programs_have_equal_texts():
    texts = []
    for name, first in (("one", 3), ("other", 5)):
        w = Writer()
        w.input(first)
        x = w.input(4, 8, name=f"{name}-input")
        w.add("tanh", (4, 8), x, name=name)
        texts.append(kernel_module(w.program(2), [2]).text)
    assert texts[0] == texts[1]


def test_inputs_are_valid_indices_and_moderate_numbers():
    w = Writer()
    table, ids = w.weight(100, 16), w.input(7, dtype="s32")
    shifted = w.add("add", (7,), ids, w.add("broadcast", (7,), w.constant(0, dtype="s32"), dtype="s32"), dtype="s32")
    rows = w.add("gather", (7, 16), table, shifted, indexing=ROWS)
    labels = w.add("convert", (7, 16), w.input(7, 16, dtype="s32"))
    program = w.program(w.add("add", (7, 16), rows, labels))
    found = signature(program_module(program).text).arguments
    assert found == [
        Argument("tensor<100x16xf32>", 0.005, 0.015, -1),  # a weight: over the 100 that might add up
        Argument("tensor<7xi32>", 0, 100, -1),
        Argument("tensor<7x16xi32>", 0, 8, -1),
    ]


def test_an_array_written_in_place_is_parameter_and_result():
    w = Writer()
    state, update = w.add("loop-state", (10, 4), w.input(10, 4), executions=5), w.input(1, 4)
    step = w.add("loop-counter", dtype="s32", executions=5)
    zero = w.constant(0, dtype="s32")
    written = w.add("dynamic-update-slice", (10, 4), state, update, step, zero)
    found = signature(kernel_module(w.program(written), [written]).text)
    assert found.arguments == [
        Argument("tensor<10x4xf32>", 0.5, 1.5, 0),
        Argument("tensor<1x4xf32>", 0.5, 1.5, -1),
        Argument("tensor<i32>", 0, 10, -1),
    ]
    assert found.results == ["tensor<10x4xf32>"]


def test_what_a_program_has_lost_is_refused_in_words():
    w = Writer()
    odd = w.add("reduce", (4,), w.input(4, 8), w.constant(0.0), axes=(1,), body_ops=3, name="odd")
    with pytest.raises(UnsupportedInstruction) as error:
        kernel_module(w.program(odd), [odd])
    assert str(error.value) == (
        "program 'example', kernel 'odd': instruction 'odd' (reduce, f32[4]): what it applies to elements (3"
        " operations) is not in the program; known: add, multiply, maximum, minimum, and, or, xor"
    )


def test_a_program_with_loops_is_no_module():
    w = Writer()
    state = w.add("loop-state", (4,), w.input(4), executions=5, name="state")
    with pytest.raises(
        UnsupportedInstruction, match=r"'state' \(loop-state, f32\[4\]\): a program with loops can't be"
    ):
        program_module(w.program(w.add("negate", (4,), state)))


def test_a_kernel_that_computes_nothing():
    w = Writer()
    x = w.add("reshape", (8,), w.input(2, 4))
    with pytest.raises(ValueError, match="program 'example': a kernel of which no instruction computes anything"):
        kernel_module(w.program(w.add("negate", (8,), x)), [x])


def test_a_text_of_another_form_has_no_signature():
    with pytest.raises(ValueError, match="no public function @main"):
        signature("module {}")
