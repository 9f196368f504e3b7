"""HLO modules as programs: what is inlined, what is refused, and how."""

import numpy as np
import pytest
from tensorflow.compiler.xla import xla_data_pb2

from lib.frontends.errors import FrontendError
from lib.frontends.hlo_module import program_of
from lib.program.simplify import simplify
from tests.lib.frontends.hlo_examples import Module


def program(module: Module, inputs: int | None = 1):
    return program_of(module.proto, "example", 2, inputs=inputs)


def opcodes(module: Module) -> list[str]:
    return [one.opcode for one in program(module).instructions]


def test_calls_fusions_and_tuples_are_inlined():
    module = Module()
    body = module.start()
    x = module.parameter(0, 4)
    module.tuple("tuple", [(4,), (4,)], module.add("tanh", (4,), x), x)
    module.start()
    called = module.tuple("call", [(4,), (4,)], module.parameter(0, 4), called_computation_ids=[body])
    first = module.add("get-tuple-element", (4,), called, tuple_index=0)
    second = module.add("get-tuple-element", (4,), called, tuple_index=1)
    fused = module.tuple("fusion", [(4,), (4,)], first, called_computation_ids=[body])
    module.add("add", (4,), module.add("get-tuple-element", (4,), fused, tuple_index=0), second)
    assert opcodes(module) == ["parameter", "tanh", "tanh", "add"]


def test_names_are_unique_and_parameters_are_numbered_by_role():
    module = Module()
    module.start()
    x, w = module.parameter(0, 4), module.parameter(1, 4)
    module.add("add", (4,), module.add("add", (4,), x, w), x)
    assert [(one.name, one.role) for one in program(module).instructions] == [
        ("input.0", "input"), ("weight.0", "weight"), ("add", ""), ("add.1", ""),
    ]  # fmt: skip


def test_weights_of_a_file_are_what_right_hand_sides_read():
    module = Module()
    module.start()
    x, w, bias = module.parameter(0, 2, 8), module.parameter(1, 4, 8), module.parameter(2, 4)
    turned = module.add("transpose", (8, 4), w, dimensions=[1, 0])
    numbers = xla_data_pb2.DotDimensionNumbers(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0])
    dot = module.add("dot", (2, 4), x, turned, dot_dimension_numbers=numbers)
    module.add("add", (2, 4), dot, module.add("broadcast", (2, 4), bias, dimensions=[1]))
    roles = {one.dimensions: one.role for one in program(module, None).instructions if one.opcode == "parameter"}
    assert roles == {(2, 8): "input", (4, 8): "weight", (4,): "weight"}


def test_a_large_constant_of_one_value_is_a_broadcast():
    module = Module()
    module.start()
    module.add("add", (100,), module.parameter(0, 100), module.constant(*[3.0] * 100, dimensions=(100,)))
    instructions = program(module).instructions
    assert [one.opcode for one in instructions] == ["parameter", "constant", "broadcast", "add"]
    assert instructions[1].value == (3.0,)


def test_random_bits_are_an_input():
    module = Module()
    module.start()
    drawn = module.tuple("rng-bit-generator", [(3,), (2, 4)], module.parameter(0, 3))
    module.add("negate", (2, 4), module.add("get-tuple-element", (2, 4), drawn, tuple_index=1))
    bits, _ = program(module).instructions
    assert (bits.name, bits.opcode, bits.role, bits.dimensions) == ("random.0", "parameter", "input", (2, 4))


def test_batch_normalisation_equals_its_definition():
    values = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, -1.0]], dtype=np.float32)
    module = Module()
    module.start()
    x = module.constant(*values.reshape(-1).tolist(), dimensions=(3, 2))
    scale, offset = module.constant(2.0, 3.0, dimensions=(2,)), module.constant(0.5, -0.5, dimensions=(2,))
    normal = module.tuple("batch-norm-training", [(3, 2), (2,), (2,)], x, scale, offset, epsilon=1e-3, feature_index=1)
    parts = [
        module.add("get-tuple-element", shape, normal, tuple_index=i) for i, shape in enumerate([(3, 2), (2,), (2,)])
    ]
    ones = module.constant(*[1.0, 2.0] * 3, dimensions=(3, 2))
    gradients = module.tuple(
        "batch-norm-grad", [(3, 2), (2,), (2,)], x, scale, parts[1], parts[2], ones, epsilon=1e-3, feature_index=1
    )
    inference = module.add("batch-norm-inference", (3, 2), x, scale, offset, *parts[1:], epsilon=1e-3, feature_index=1)
    module.tuple("tuple", [], *parts, inference, gradients)
    folded = simplify(program(module), "as-traced")
    mean, variance = values.mean(0), values.var(0)
    expected = (values - mean) / np.sqrt(variance + 1e-3) * [2.0, 3.0] + [0.5, -0.5]
    # A gradient that is the same for all samples moves only the offset.
    wanted = [expected, mean, variance, expected, np.zeros((3, 2)), np.zeros(2), [3.0, 6.0]]
    for output, value in zip(folded.outputs, wanted, strict=True):
        instruction = folded.instructions[output]
        if instruction.opcode == "broadcast":
            instruction = folded.instructions[instruction.operands[0]]
        np.testing.assert_allclose(np.resize(instruction.value, np.size(value)), np.ravel(value), atol=1e-5)


def loop(module: Module) -> None:
    module.add("while", (4,), module.parameter(0, 4))


def dead_loop(module: Module) -> None:
    loop(module)
    module.add("negate", (4,), 1)


def dead_loop_of_several_arrays(module: Module) -> None:
    x = module.parameter(0, 4)
    state = module.tuple("tuple", [(4,), ()], x, module.constant(0.0))
    turned = module.tuple("while", [(4,), ()], state)
    module.add("get-tuple-element", (4,), turned, tuple_index=0)
    module.add("negate", (4,), x)


def loop_of_several_arrays(module: Module) -> None:
    dead_loop_of_several_arrays(module)
    last = module.computation.instructions[-1].id
    module.add("add", (4,), last, last - 1)


def reduction_of_several_arrays(module: Module) -> None:
    x, zero = module.parameter(0, 4), module.constant(0.0)
    module.tuple("reduce", [(), ()], x, x, zero, zero, dimensions=[0])


def complex_numbers(module: Module) -> None:
    module.add("negate", (4,), module.parameter(0, 4, dtype="c64"), dtype="c64")


def nothing(module: Module) -> None:
    module.add("negate", (0, 4), module.parameter(0, 0, 4))


def dynamic(module: Module) -> None:
    module.parameter(0, 4)
    module.computation.instructions[-1].shape.is_dynamic_dimension[0] = True


def sorting(module: Module) -> None:
    module.tuple("sort", [(4,), (4,)], module.parameter(0, 4))


def two_op_reduction(module: Module) -> None:
    body = module.start()
    first, second = module.parameter(0), module.parameter(1)
    module.add("add", (), module.add("multiply", (), first, first), second)
    module.start()
    module.add(
        "reduce", (), module.parameter(0, 4), module.constant(0.0), dimensions=[0], called_computation_ids=[body]
    )


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (loop, r"workload 'example'.*while.*the op kind 'while' is not supported yet; supported: abs, add"),
        (loop_of_several_arrays, r"the op kind 'while' is not supported"),
        (reduction_of_several_arrays, r"'reduce.3'.*a reduce of several arrays at once is not supported"),
        (sorting, r"the op kind 'sort' is not supported"),
        (complex_numbers, r"'parameter.1'.*element type 'c64' is not supported"),
        (nothing, r"'parameter.1'.*no elements \(shape \[0, 4\]\)"),
        (dynamic, r"'parameter.1'.*shape is dynamic"),
        (two_op_reduction, r"a reduce that applies multiply and add is not supported"),
    ],
)
def test_what_a_program_cannot_hold_is_refused_in_words(fill, message):
    module = Module()
    module.start()
    fill(module)
    with pytest.raises(FrontendError, match=message):
        program(module)


@pytest.mark.parametrize("fill", [dead_loop, dead_loop_of_several_arrays])
def test_unsupported_ops_that_no_output_needs_do_not_matter(fill):
    module = Module()
    module.start()
    fill(module)
    assert opcodes(module) == ["parameter", "negate"]
