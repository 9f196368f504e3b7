"""Programs as arrays and back."""

import numpy as np
import pytest

from lib.program.batch import affine_program
from lib.program.program_table import integer_columns, program_from_arrays, program_to_arrays
from schemas.program_artifact import PLAIN, SIZES, program_arrays
from tests.lib.program.program_examples import dense, padded_convolution


@pytest.mark.parametrize("example", [dense, padded_convolution])
def test_round_trip_is_exact(example):
    for program in (example(2), affine_program(example(2), example(4)).with_batch(16)):
        arrays = program_to_arrays(program)
        assert program_from_arrays(arrays) == program
        assert set(arrays) == set(program_arrays())


def test_names_may_hold_any_letter():
    program = dense()
    first = program.instructions[0].replace(name="größe/1")
    program = program.replace(instructions=(first, *program.instructions[1:]))
    assert program_from_arrays(program_to_arrays(program)) == program


def test_equal_programs_give_equal_arrays():
    one, other = (program_to_arrays(affine_program(dense(2), dense(4))) for _ in range(2))
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_the_artifact_declares_the_columns():
    assert {name for name, sized in integer_columns().items() if sized} == set(SIZES)
    assert {name for name, sized in integer_columns().items() if not sized} == set(PLAIN)
