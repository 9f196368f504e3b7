"""Cells that keep the numbers behind their texts."""

from lib.report.tables import Table, doubtful, interval, number, numeric_columns, raw


def test_a_text_keeps_its_number_with_all_digits():
    assert number(1 / 3) == "0.333"
    assert raw(number(1 / 3)) == {"value": "0.3333333333333333"}
    assert raw(number(1234567.25)) == {"value": "1234567.25"}
    assert raw(number(1234567.0)) == {}  # the text says it: 1,234,567
    assert raw(number(0.25)) == {}
    assert raw(number(None)) == raw("words") == {}


def test_an_interval_keeps_three_numbers():
    cell = interval(1 / 3, 0.25, 2000.5)
    assert cell == "0.333 [0.25, 2,000]"
    assert raw(cell) == {"value": "0.3333333333333333", "low": "0.25", "high": "2000.5"}


def test_a_doubtful_number_is_marked_and_still_one():
    assert doubtful(6.8) == "6.8 (?)"
    assert raw(doubtful(6.8)) == {"value": "6.8"}
    assert doubtful(None) == "-"


def test_a_column_is_numeric_where_all_of_its_cells_are():
    rows = [["a", number(1.5), doubtful(2.0), "16 MiB", "1"], ["b", "-", number(3.0), "1 GHz", "one"]]
    assert numeric_columns(Table("title", list("abcde"), rows)) == [False, True, True, True, False]
