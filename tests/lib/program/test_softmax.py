"""Softmax in three and in two passes, counted by hand."""

import numpy as np
import pytest

from lib.fusion.default_kernels import default_kernels
from lib.program.extraction import kernel_work
from lib.program.program import DotDimensions, Program
from lib.program.softmax import softmaxes, with_softmax
from tests.lib.program.program_examples import Writer

ROWS, COLUMNS = 4, 512
N = ROWS * COLUMNS
BYTES = 2


def attention(read_between: bool = False, sum_axes: tuple[int, ...] = (1,), batch: int = ROWS) -> Program:
    """softmax(q k) v: [4, 64] x [64, 512], softmax over 512, x [512, 64]; bfloat16."""
    w = Writer()
    wide, narrow = {"dtype": "bf16"}, {"dtype": "bf16", "axes": (1,)}
    scores = w.add(
        "dot", (batch, COLUMNS), w.input(batch, 64, **wide), w.input(64, COLUMNS, **wide),
        dot=DotDimensions((1,), (0,)), **wide,
    )  # fmt: skip
    lowest = w.constant(float("-inf"), dtype="bf16")
    largest = w.add("reduce", (batch,), scores, lowest, reducer="maximum", **narrow)
    spread = w.add("broadcast", (batch, COLUMNS), largest, axes=(0,), **wide)
    shifted = w.add("subtract", (batch, COLUMNS), scores, spread, **wide)
    exponential = w.add("exponential", (batch, COLUMNS), shifted, **wide)
    kept = tuple(extent for axis, extent in enumerate((batch, COLUMNS)) if axis not in sum_axes)
    zero = w.constant(0.0, dtype="bf16")
    total = w.add("reduce", kept, exponential, zero, axes=sum_axes, reducer="add", dtype="bf16")
    others = tuple(axis for axis in (0, 1) if axis not in sum_axes)
    spread_sum = w.add("broadcast", (batch, COLUMNS), total, axes=others, **wide)
    quotient = w.add("divide", (batch, COLUMNS), exponential, spread_sum, **wide)
    out = w.add(
        "dot", (batch, 64), quotient, w.input(COLUMNS, 64, **wide), dot=DotDimensions((1,), (0,)), **wide
    )  # fmt: skip
    return w.program(out, shifted) if read_between else w.program(out)


def moved(program: Program, form) -> tuple[float, float, float]:
    """Bytes read and written, and exponentials, of all kernels."""
    found = default_kernels(program, softmax=form)
    work = kernel_work(found.kernels)
    runs = found.executions
    return work.bytes_read @ runs, work.bytes_written @ runs, work.transcendentals @ runs


QUERIES_KEYS_VALUES = BYTES * (ROWS * 64 + 64 * COLUMNS + COLUMNS * 64)
RESULT = BYTES * ROWS * 64


def test_three_passes_by_hand():
    found = default_kernels(attention())
    # Scores; maximum; exponentials; sum; division and second product.
    assert len(found.occurrence_kernel) == 5
    read, written, exponentials = moved(attention(), "three-pass")
    # Maximum and exponentials read the scores, sum and product read the exponentials; a number a row read twice.
    assert read == QUERIES_KEYS_VALUES + BYTES * (4 * N + 2 * ROWS)
    assert written == RESULT + BYTES * (2 * N + 2 * ROWS)
    assert exponentials == N


def test_two_passes_by_hand():
    found = default_kernels(attention(), softmax="two-pass")
    # Scores; maximum and sum; normalisation and second product.
    assert len(found.occurrence_kernel) == 3
    read, written, exponentials = moved(attention(), "two-pass")
    # The scores are read twice and the exponentials stored nowhere; a pair of numbers a row.
    assert read == QUERIES_KEYS_VALUES + BYTES * (2 * N + 2 * ROWS)
    assert written == RESULT + BYTES * (N + 2 * ROWS)
    assert exponentials == 3 * N


def test_the_first_pass_is_one_kernel_with_two_exponentials_an_element():
    found = default_kernels(attention(), softmax="two-pass")
    work = kernel_work(found.kernels)
    first = found.occurrence_kernel[1]
    assert work.transcendentals[first] == 2 * N
    # Running maximum, two differences, product, and what the reduction adds.
    assert work.vector_ops[first].sum() == (2 + 4 + 1) * N
    assert work.bytes_read[first] == BYTES * N
    assert work.bytes_written[first] == 2 * BYTES * ROWS


def test_a_form_is_the_program_itself_where_nothing_changes():
    program = attention()
    assert with_softmax(program, "three-pass") is program
    dot = Writer()
    out = dot.add("dot", (4, 8), dot.input(4, 16), dot.weight(16, 8), dot=DotDimensions((1,), (0,)))
    plain = dot.program(out)
    assert with_softmax(plain, "two-pass") is plain


def test_outputs_follow_their_instructions():
    program = attention()
    two = with_softmax(program, "two-pass")
    assert [two.instructions[output].name for output in two.outputs] == [
        program.instructions[output].name for output in program.outputs
    ]
    assert len(softmaxes(program)) == 1
    assert softmaxes(two) == []
    for index, instruction in enumerate(two.instructions):
        assert all(operand < index for operand in instruction.operands)
    names = [instruction.name for instruction in two.instructions]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("program", [attention(read_between=True), attention(sum_axes=(0,))])
def test_what_is_no_softmax_stays(program):
    """Somebody else reads the shifted scores, as for a gradient; the sum runs over another dimension."""
    assert softmaxes(program) == []
    assert with_softmax(program, "two-pass") is program


def test_kernels_between_are_those_of_the_three_pass_form():
    three, two = default_kernels(attention()), default_kernels(attention(), softmax="two-pass")
    assert three.kernels.fingerprint[0] == two.kernels.fingerprint[0]
    assert two.occurrence_leaves.tolist() == [False, False, True]
    assert np.array_equal(two.occurrence_edge, [[0, 1, 0], [0, 2, 0], [1, 2, 1]])
