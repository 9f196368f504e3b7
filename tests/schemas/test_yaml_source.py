"""YAML as version 1.2 reads it, with lines, duplicates found and hostile documents refused."""

import pytest

from schemas.yaml_source import YamlError, read_yaml


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e-3", 1e-3),
        ("2.0e-3", 2e-3),
        ("1.", 1.0),
        ("10", 10),
        ("-3", -3),
        ("007", 7),
        ("0x10", 16),
        ("0o17", 15),
        ("true", True),
        ("yes", "yes"),
        ("on", "on"),
        ("null", None),
        ("~", None),
        ("", None),
        ("2021-01-01", "2021-01-01"),
        ("1:30", "1:30"),
        ("'10'", "10"),
        ("1_000", "1_000"),
    ],
)
def test_plain_scalars(written, value):
    read = read_yaml(f"key: {written}").data["key"]
    assert read == value
    assert type(read) is type(value)


def test_keys_are_text():
    assert read_yaml("on: 1\n2: {true: 3}").data == {"on": 1, "2": {"true": 3}}


def test_lines_of_keys_and_items():
    source = read_yaml("a: 1\nb:\n  c: [x,\n    y]\n  d:\n    - 5\n    - 6\n")
    assert source.line(("a",)) == 1
    assert source.line(("b", "c")) == 3
    assert source.line(("b", "c", 1)) == 4
    assert source.line(("b", "d", 1)) == 7
    assert source.line(("b", "d", "missing")) == 5
    assert source.line(()) == 1


def test_duplicate_keys_are_found_and_the_first_wins():
    source = read_yaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")
    assert source.data == {"a": 1, "b": {"c": 1}}
    assert [(problem.path, problem.line) for problem in source.problems] == [(("b", "c"), 4), (("a",), 5)]
    assert source.problems[1].text == "written twice, first on line 1; keep one"


def test_aliases_repeat_a_value():
    assert read_yaml("a: &x [1, 2]\nb: *x\n").data == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "not valid YAML"),
        ("a:\n\tb: 1\n", 2, "a tab indents this line"),
        ("a: 1\n--- \nb: 2\n", 2, "a second document"),
        ("a: !!python/object:os.system x\n", 1, "the tag"),
        ("a: &x\n  - *x\n", 2, "no finished anchor"),
        ("a: *nowhere\n", 1, "no finished anchor"),
        ("a: 1\nb: " + "[" * 40 + "]" * 40, 2, "nested more than 32 levels"),
        ("a: 1\nb: " + "[" * 5000 + "]" * 5000, 2, "nested more than 32 levels"),
        ("a: \x00", 1, "can't be read"),
    ],
)
def test_what_is_refused(text, line, problem):
    with pytest.raises(YamlError, match=problem) as caught:
        read_yaml(text)
    assert caught.value.line == line


def test_aliases_that_expand_without_end_are_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(YamlError, match="more than 100000 values"):
        read_yaml("\n".join(lines))
