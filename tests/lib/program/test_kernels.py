"""Kernels as a structure of arrays: taking, joining, telling apart, and to files and back."""

import numpy as np
import pytest

from lib.program.kernel_builder import KernelsBuilder
from lib.program.kernels import (
    DTYPES,
    OFFSETS,
    PER_KERNEL,
    TRAILING,
    Kernels,
    concatenate,
    empty_kernels,
    kernels_from_arrays,
    kernels_to_arrays,
    take,
    unique,
)
from lib.program.op_kinds import op_kind_numbers
from schemas.kernel_arrays import KERNEL_ARRAYS
from tests.kernel_examples import convolution_relu, dot, elementwise, example_kernels


def built(*rows) -> Kernels:
    builder = KernelsBuilder()
    for row in rows:
        builder.add(row)
    return builder.build()


def assert_equal(one: Kernels, other: Kernels) -> None:
    for name in DTYPES:
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype == np.dtype(DTYPES[name]), name
        np.testing.assert_array_equal(left, right, err_msg=name)
    assert one.fingerprint == other.fingerprint


def test_take_follows_the_index_and_may_repeat():
    rows = convolution_relu(), dot(), elementwise()
    assert_equal(take(built(*rows), np.array([2, 0, 0])), built(rows[2], rows[0], rows[0]))
    assert_equal(take(built(*rows), np.array([1])), built(dot()))


def test_take_moves_the_heroes_with_their_ops():
    # elementwise: add, then the hero logistic; dot: the hero alone.
    kernels = take(built(dot(), elementwise()), np.array([1, 0]))
    names = list(op_kind_numbers())
    assert kernels.hero.tolist() == [1, 2]
    assert [names[kernels.op_kind[hero]] for hero in kernels.hero] == ["logistic", "dot"]
    # Edges are numbered within the kernel: operands 0 and 1, then the ops.
    assert kernels.edge.tolist() == [[0, 2], [1, 2], [2, 3], [0, 2], [1, 2]]
    assert kernels.edge_offset.tolist() == [0, 3, 5]


def test_concatenate_is_one_after_the_other():
    first, second = built(convolution_relu(), elementwise()), built(dot())
    assert_equal(concatenate([first, second]), built(convolution_relu(), elementwise(), dot()))
    assert_equal(concatenate([first, empty_kernels()]), first)
    assert_equal(concatenate([empty_kernels(), first]), first)


def test_taking_and_joining_nothing_gives_no_kernels():
    none = take(example_kernels(), np.array([], dtype=np.int64))
    for kernels in (none, concatenate([]), concatenate([none, none]), built()):
        assert kernels.number == 0
        assert_equal(kernels, empty_kernels())


def test_an_index_out_of_range_is_refused():
    with pytest.raises(IndexError):
        take(example_kernels(), np.array([99]))


def test_unique_keeps_the_first_of_equal_kernels_in_order():
    kernels, place = unique(built(dot(), elementwise(), dot(), elementwise(batch=8), elementwise()))
    assert_equal(kernels, built(dot(), elementwise(), elementwise(batch=8)))
    assert place.tolist() == [0, 1, 0, 2, 1]
    assert place.dtype == np.int32


def test_unique_of_nothing():
    kernels, place = unique(empty_kernels())
    assert (kernels.number, place.tolist()) == (0, [])


def test_arrays_and_back():
    for kernels in (example_kernels(), empty_kernels()):
        arrays = kernels_to_arrays(kernels)
        assert_equal(kernels_from_arrays(arrays), kernels)
        assert arrays["fingerprint"].dtype == "S32"


def test_the_artifacts_declare_these_arrays():
    assert set(KERNEL_ARRAYS) == {*DTYPES, "fingerprint"} == set(Kernels._fields)
    assert {name: array.dtype for name, array in KERNEL_ARRAYS.items() if name in DTYPES} == DTYPES


def test_every_array_is_cut_by_one_offset_or_has_one_row_a_kernel():
    cut = [name for names in OFFSETS.values() for name in names]
    assert sorted([*cut, *PER_KERNEL, *OFFSETS, "hero"]) == sorted(DTYPES)
    kernels = example_kernels()
    for offset, names in OFFSETS.items():
        for name in names:
            assert getattr(kernels, name).shape == (getattr(kernels, offset)[-1], *TRAILING.get(name, ()))
