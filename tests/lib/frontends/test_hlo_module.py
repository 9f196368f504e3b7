"""HLO modules as programs: what is inlined, what is refused, and how."""

import numpy as np
from tensorflow.compiler.xla import xla_data_pb2

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


def test_an_op_of_several_results_is_done_once():
    module = Module()
    larger = module.start()
    module.tuple(
        "tuple", [(), ()], *(module.add("maximum", (), module.parameter(i), module.parameter(i + 2)) for i in (0, 1))
    )
    module.start()
    x, place, start = module.parameter(0, 4, 8), module.add("iota", (4, 8), dimensions=[1]), module.constant(0.0)
    both = module.tuple("reduce", [(4,), (4,)], x, place, start, start, dimensions=[1], called_computation_ids=[larger])
    first, second = (module.add("get-tuple-element", (4,), both, tuple_index=i) for i in (0, 1))
    alone = program(module)  # the last instruction alone is needed
    assert [one.opcode for one in alone.instructions] == ["parameter", "iota", "constant", "reduce"]
    assert alone.instructions[-1].body_ops == 2
    module.add("add", (4,), first, second)
    assert opcodes(module)[-3:] == ["reduce", "other-result", "add"]
