"""Programs for every batch."""

import pytest

from lib.program.batch import affine_program
from lib.program.program import BatchError
from tests.lib.program.program_examples import Writer, dense, padded_convolution


@pytest.mark.parametrize("example", [dense, padded_convolution])
def test_with_batch_gives_the_program_of_that_batch(example):
    program = affine_program(example(2), example(4))
    for batch in (1, 2, 3, 4, 100):
        moved = program.with_batch(batch)
        assert moved.batch == batch
        assert moved.instructions == example(batch).instructions
        assert moved.with_batch(2) == program


def test_window_sizes_are_affine():
    # The weight gradient of a convolution slides a window over the batch in some layouts.
    def example(batch):
        w = Writer()
        x = w.input(3 * batch + 1, 7)
        return w.program(
            w.add("slice", (batch, 7), x, slice_start=(batch, 0), slice_limit=(2 * batch, 7), slice_stride=(1, 1)),
            batch=batch,
        )

    assert affine_program(example(2), example(4)).with_batch(9).instructions == example(9).instructions


def test_integer_values_follow_the_batch_and_float_values_that_change_are_dropped():
    def example(batch):
        w = Writer()
        count = w.constant(float(49 * batch), dtype="s32")
        return w.program(count, w.constant(1 / batch), w.constant(0.5), batch=batch)

    program = affine_program(example(2), example(4)).with_batch(10)
    assert [one.value for one in program.instructions] == [(490.0,), None, (0.5,)]


def test_fixed_batch_is_refused_in_words():
    assert dense(2).with_batch(2) == dense(2)
    with pytest.raises(BatchError, match=r"fixed batch 2.*batch 8"):
        dense(2).with_batch(8)


def test_batch_below_one_is_refused():
    with pytest.raises(BatchError, match="at least 1"):
        affine_program(dense(2), dense(4)).with_batch(0)


def test_sizes_that_are_not_affine_are_refused():
    def example(batch):
        w = Writer()
        return w.program(w.input((batch * batch) // 4 + 1, name="odd"), batch=batch)

    with pytest.raises(BatchError, match=r"'odd' .*size of 2 at batch 2 and 5 at batch 4"):
        affine_program(example(2), example(4))


def test_graphs_that_differ_are_refused():
    with pytest.raises(BatchError, match="graph depends on the batch"):
        affine_program(dense(2), padded_convolution(4))
    w, v = Writer(), Writer()
    low, high = w.program(w.add("negate", (2,), w.input(2))), v.program(v.add("abs", (4,), v.input(4)), batch=4)
    with pytest.raises(BatchError, match=r"'negate-1' \(negate\).*'abs-1' \(abs\)"):
        affine_program(low, high)
