"""What simplification takes out, and what it leaves."""

import pytest

from lib.program.batch import affine_program
from lib.program.order import depth_first
from lib.program.program import DotDimensions
from lib.program.simplify import simplify
from tests.lib.program.program_examples import NHWC, Writer, dense, padded_convolution, window


def opcodes(program) -> list[str]:
    return [one.opcode for one in program.instructions]


def output(program):
    return program.instructions[program.outputs[0]]


def simplified(writer: Writer, *outputs: int, sizing="as-traced"):
    program = simplify(writer.program(*outputs), sizing)
    assert simplify(program, sizing) == program
    return program


def test_zero_pad_moves_into_the_window():
    program = simplify(padded_convolution(), "as-traced")
    assert "pad" not in opcodes(program)
    convolution = program.instructions[opcodes(program).index("convolution")]
    assert convolution.window == window(3, 2, high=1)
    assert program.instructions[convolution.operands[0]].dimensions == (2, 8, 8, 3)


def test_interior_pad_becomes_base_dilation():
    w = Writer()
    padded = w.add(
        "pad", (2, 15, 15, 3), w.input(2, 8, 8, 3), w.constant(0.0),
        padding_low=(0, 0, 0, 0), padding_high=(0, 0, 0, 0), padding_interior=(0, 1, 1, 0),
    )  # fmt: skip
    root = w.add("convolution", (2, 13, 13, 4), padded, w.weight(3, 3, 3, 4), window=window(3), convolution=NHWC)
    assert output(simplified(w, root)).window == window(3, base=2)


def test_pad_that_others_read_or_that_is_not_zero_stays():
    w = Writer()
    fields = {"padding_low": (0, 1, 1, 0), "padding_high": (0, 1, 1, 0), "padding_interior": (0, 0, 0, 0)}
    x, kernel = w.input(2, 8, 8, 3), w.weight(3, 3, 3, 4)
    shared = w.add("pad", (2, 10, 10, 3), x, w.constant(0.0), **fields)
    ones = w.add("pad", (2, 10, 10, 3), x, w.constant(1.0), **fields)
    convolutions = [
        w.add("convolution", (2, 8, 8, 4), pad, kernel, window=window(3), convolution=NHWC) for pad in (shared, ones)
    ]
    program = simplified(w, *convolutions, w.add("negate", (2, 10, 10, 3), shared))
    assert opcodes(program).count("pad") == 2


def test_pad_of_a_pooling_window_moves_if_it_pads_with_the_starting_value():
    for value, pads in ((float("-inf"), 0), (0.0, 1)):
        w = Writer()
        padded = w.add(
            "pad", (10, 10), w.input(8, 8), w.constant(value),
            padding_low=(1, 1), padding_high=(1, 1), padding_interior=(0, 0),
        )  # fmt: skip
        pool = w.add("reduce-window", (8, 8), padded, w.constant(float("-inf")), reducer="maximum", window=window(3))
        assert opcodes(simplified(w, pool)).count("pad") == pads


def test_bfloat16_sizing_narrows_floats_only():
    w = Writer()
    x = w.input(4)
    narrow = w.add("convert", (4,), x, dtype="bf16")
    wide = w.add("convert", (4,), narrow)
    integer = w.add("convert", (4,), wide, dtype="s32")
    positive = w.add("compare", (4,), wide, w.filled(0.0, 4), dtype="pred", comparison="GT")
    program = simplified(w, integer, positive, sizing="bfloat16")
    assert [one.dtype for one in program.instructions if one.opcode in ("parameter", "convert", "compare")] == [
        "bf16", "s32", "pred",
    ]  # fmt: skip


def test_as_traced_sizing_keeps_converts():
    w = Writer()
    narrow = w.add("convert", (4,), w.input(4), dtype="bf16")
    assert opcodes(simplified(w, w.add("convert", (4,), narrow))) == ["parameter", "convert", "convert"]


def test_scalar_arithmetic_is_folded():
    w = Writer()
    count = w.add("multiply", (), w.constant(7.0, dtype="s32"), w.constant(7.0, dtype="s32"), dtype="s32")
    mean = w.add("divide", (5,), w.input(5), w.add("broadcast", (5,), w.add("convert", (), count)))
    program = simplified(w, mean)
    # A division by a constant is a multiplication by its inverse.
    assert opcodes(program) == ["parameter", "constant", "broadcast", "multiply"]
    assert program.instructions[1].value[0] == pytest.approx(1 / 49)


def test_a_scalar_broadcast_to_one_element_stays_a_broadcast():
    w = Writer()
    program = simplified(w, w.add("add", (1,), w.input(1), w.filled(2.0, 1)))
    assert opcodes(program) == ["parameter", "constant", "broadcast", "add"]


@pytest.mark.parametrize(
    ("reducer", "start", "left"),
    [("add", 0.0, []), ("maximum", float("-inf"), []), ("add", 3.0, ["add"]), ("maximum", 0.0, ["maximum"])],
)
def test_a_reduction_of_one_element_is_nothing_but_its_starting_value(reducer, start, left):
    w = Writer()
    program = simplified(w, w.add("reduce", (4,), w.input(4, 1), w.constant(start), axes=(1,), reducer=reducer))
    assert [one for one in opcodes(program) if one in ("reduce", "add", "maximum")] == left


def test_a_window_of_one_element_is_nothing_if_it_starts_from_nothing():
    for start, left in ((0.0, 0), (3.0, 1)):
        w = Writer()
        pool = w.add("reduce-window", (4, 4), w.input(4, 4), w.constant(start), reducer="add", window=window(1))
        assert opcodes(simplified(w, pool)).count("reduce-window") == left


def test_integers_to_a_negative_power_are_not_folded():
    w = Writer()
    power = w.add("power", (), w.constant(2.0, dtype="s32"), w.constant(-1.0, dtype="s32"), dtype="s32")
    assert output(simplified(w, power)).opcode == "constant"


def test_form_only_chains_are_merged():
    w = Writer()
    x = w.input(6, 4)
    there = w.add("reshape", (24,), w.add("reshape", (6, 1, 4), x))
    back = w.add("reshape", (6, 4), there)
    turned = w.add("transpose", (4, 6), back, axes=(1, 0))
    assert opcodes(simplified(w, w.add("transpose", (6, 4), turned, axes=(1, 0)))) == ["parameter"]


def test_broadcasts_are_merged_across_unit_dimensions():
    # softmax as TensorFlow writes it: [2] -> [2, 1] -> [2, 1] -> [2] -> [2, 10]
    w = Writer()
    x = w.add("reshape", (2, 1), w.input(2))
    x = w.add("broadcast", (2, 1), x, axes=(0, 1))
    x = w.add("reshape", (2,), x)
    program = simplified(w, w.add("broadcast", (2, 10), x, axes=(0,)))
    assert opcodes(program) == ["parameter", "broadcast"]
    assert output(program).axes == (0,)


def test_elementwise_ops_move_before_broadcasts_and_reshapes():
    w = Writer()
    scale = w.add("broadcast", (2, 8, 4), w.weight(4), axes=(2,))
    program = simplified(w, w.add("rsqrt", (2, 8, 4), w.add("add", (2, 8, 4), scale, w.filled(1e-3, 2, 8, 4))))
    assert program.instructions[opcodes(program).index("rsqrt")].dimensions == (4,)
    w = Writer()
    mean = w.add("reshape", (1, 1, 1, 4), w.weight(4))
    program = simplified(w, w.add("negate", (1, 1, 1, 4), mean))
    assert opcodes(program) == ["parameter", "negate", "reshape"]


def test_equal_subexpressions_are_merged_but_comparisons_are_told_apart():
    w = Writer()
    x, y = w.input(4), w.input(4)
    sums = [w.add("add", (4,), x, y) for _ in range(2)]
    flags = [w.add("compare", (4,), x, y, dtype="pred", comparison=way) for way in ("GT", "LT")]
    both = w.add("and", (4,), *flags, dtype="pred")
    program = simplified(w, w.add("select", (4,), both, w.add("multiply", (4,), *sums), x))
    assert opcodes(program).count("add") == 1
    assert opcodes(program).count("compare") == 2


def test_neutral_elements_powers_and_known_choices():
    w = Writer()
    x = w.input(4)
    same = w.add("multiply", (4,), w.add("add", (4,), x, w.filled(0.0, 4)), w.filled(1.0, 4))
    same = w.add("power", (4,), w.add("divide", (4,), same, w.filled(1.0, 4)), w.filled(1.0, 4))
    chosen = w.add("select", (4,), w.constant(1.0, dtype="pred"), w.add("negate", (4,), w.add("negate", (4,), same)), x)
    assert opcodes(simplified(w, chosen)) == ["parameter"]
    w = Writer()
    assert opcodes(simplified(w, w.add("power", (4,), w.input(4), w.filled(2.0, 4)))) == ["parameter", "multiply"]


def test_dead_code_is_dropped_and_outputs_keep_their_order():
    w = Writer()
    x = w.input(4)
    w.add("negate", (4,), x)
    first, second = w.add("tanh", (4,), x), w.add("sqrt", (4,), x)
    program = simplified(w, second, first)
    assert [program.instructions[index].opcode for index in program.outputs] == ["sqrt", "tanh"]
    assert len(program.instructions) == 3


def test_the_largest_operand_comes_last():
    # Attention: the small value projection must not stand between softmax and the dot that reads it.
    w = Writer()
    scores = w.add("exponential", (64, 64), w.input(64, 64))
    values = w.add("dot", (64, 8), w.input(64, 8), w.weight(8, 8), dot=DotDimensions((1,), (0,)))
    program = simplified(w, w.add("dot", (64, 8), scores, values, dot=DotDimensions((1,), (0,))))
    assert opcodes(program)[-2:] == ["exponential", "dot"]


@pytest.mark.parametrize("example", [dense, padded_convolution])
def test_simplification_keeps_slopes(example):
    program = simplify(affine_program(example(2), example(4)), "bfloat16")
    assert simplify(program, "bfloat16") == program
    for batch in (7, 64):
        # The order follows the sizes, so it may differ; in the order of the operands both are the same.
        one, other = program.with_batch(batch).replace(slopes=None), simplify(example(batch), "bfloat16")
        assert depth_first(one, largest_last=False) == depth_first(other, largest_last=False)
