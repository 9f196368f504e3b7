"""Quantities: values by hand, wrong units, writing and reading back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemas.quantity import BANDWIDTH, FREQUENCY, SIZE, TIME, Bandwidth, Frequency, Quantity, Size, Time


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        (Size, "16 MiB", 16 * 1024 * 1024),
        (Size, "8KiB", 8192),
        (Size, "1.5 KiB", 1536),
        (Size, 0, 0),
        (Size, "0", 0),
        (Size, "7 B", 7),
        (Time, "5 us", 5e-6),
        (Time, "5 µs", 5e-6),
        (Time, "2 s", 2.0),
        (Frequency, "0.94 GHz", 0.94e9),
        (Frequency, "940 MHz", 0.94e9),
        (Bandwidth, "900 GB/s", 900e9),
        (Bandwidth, "56 GB/s", 56e9),
        (Bandwidth, "1e2 MB/s", 1e8),
    ],
)
def test_values(kind, written, value):
    parsed = TypeAdapter(kind).validate_python(written)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    "written", ["0.9 GH", "0.9 ghz", "0.9", 0.9, "fast", "", "-1 GHz", "1 GHz/s", True, None, [1], float("nan")]
)
def test_a_wrong_unit_is_answered_with_the_allowed_ones(written):
    with pytest.raises(ValidationError, match=r"a frequency such as 0\.94 GHz, in Hz, kHz, MHz, GHz"):
        TypeAdapter(Frequency).validate_python(written)


@pytest.mark.parametrize("written", ["0.3 B", 0.5, "16 MB", "16 Mb"])
def test_sizes_are_whole_bytes_in_binary_units(written):
    with pytest.raises(ValidationError, match="in B, KiB, MiB, GiB, a whole number of bytes"):
        TypeAdapter(Size).validate_python(written)


@pytest.mark.parametrize("written", [32, "32", 32.0])
def test_a_number_without_a_unit_is_refused(written):
    with pytest.raises(ValidationError, match=r"a size such as 16 MiB, in B, KiB, MiB, GiB.*; the unit is missing"):
        TypeAdapter(Size).validate_python(written)


@pytest.mark.parametrize(
    ("quantity", "value", "written"),
    [
        (SIZE, 16777216, "16 MiB"),
        (SIZE, 1536, "1.5 KiB"),
        (SIZE, 0, "0"),
        (SIZE, 1000, "1000 B"),
        (FREQUENCY, 940e6, "940 MHz"),
        (BANDWIDTH, 448e9, "448 GB/s"),
        (TIME, 5e-6, "5 us"),
    ],
)
def test_writing(quantity: Quantity, value, written):
    assert quantity.write(value) == written


@settings(deadline=None)  # a busy machine is no failure
@given(st.integers(0, 2**40))
def test_sizes_are_read_as_they_are_written(value):
    assert SIZE.parse(SIZE.write(value)) == value
