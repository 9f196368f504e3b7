"""YAML with line numbers, read as YAML 1.2 reads it.

PyYAML reads YAML 1.1, where `1e-3` is text, `yes` and `on` are booleans and the last of two equal keys
wins in silence. Here the plain scalars are those of YAML 1.2's core schema, keys are always text, and a
duplicate key is a problem. Tags, several documents, very deep nesting and aliases that expand to very
much are refused.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from schemas.problem import Path, Problem

DEEPEST = 32
"""Levels of nesting; a study needs about six."""
TOO_DEEP = f"nested more than {DEEPEST} levels deep"
MOST_VALUES = 100_000
"""Values in a file, aliases expanded; a large study has a few thousand."""

_INT = re.compile(r"[-+]?[0-9]+")
_BASED_INT = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?(\.inf|\.Inf|\.INF)|(\.nan|\.NaN|\.NAN)")
_WORDS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}


class YamlError(Exception):
    """The text is no YAML that can be read; `line` counts from 1."""

    def __init__(self, line: int, problem: str):
        super().__init__(problem)
        self.line, self.problem = line, problem


@dataclass
class YamlSource:
    """A YAML document as plain data, with the line of every key and item."""

    data: Any
    """dict, list, str, int, float, bool or None; keys are text."""
    lines: dict[Path, int] = field(default_factory=dict)
    """Path to the line of its key or item, counted from 1; the content of an alias is not in it."""
    problems: list[Problem] = field(default_factory=list)
    """Duplicate keys and keys that aren't text."""

    def line(self, path: Path) -> int:
        """The line of `path`, or of the nearest thing around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 1


def read_yaml(text: str) -> YamlSource:
    """Parse one document. Raises YamlError."""
    source = YamlSource(None)
    try:
        _Composer(text, source).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = error.problem or "can't be read"
        if "nesting depth" in problem:  # libyaml's own bound, which it reaches as it reads ahead
            raise YamlError(line, TOO_DEEP) from None
        raise YamlError(line, _syntax_problem(text, line, problem)) from None
    except yaml.YAMLError as error:
        raise YamlError(1, f"can't be read: {error}") from None
    return source


def _syntax_problem(text: str, line: int, problem: str) -> str:
    lines = text.splitlines()
    written = lines[line - 1] if line <= len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return "a tab indents this line; YAML is indented by spaces only"
    return f"not valid YAML: {problem}"


class _Composer:
    """Builds plain data from parser events; nesting is bounded before it is followed."""

    def __init__(self, text: str, source: YamlSource):
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._events = yaml.parse(text, Loader=loader)
        self._source = source
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0

    def document(self) -> None:
        self._next()  # the stream starts
        event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            return
        self._source.data = self._value(self._next(), ())
        self._next()  # the document ends
        event = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            raise YamlError(_line(event), "a second document starts here; allowed: one")

    def _next(self) -> Any:
        return next(self._events)

    def _value(self, event: Any, path: Path) -> Any:
        if len(path) > DEEPEST:
            raise YamlError(_line(event), TOO_DEEP)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if event.tag is not None and event.tag != "!":
            raise YamlError(_line(event), f"the tag {event.tag} is not supported; write plain values")
        before = self._values
        self._count(1, event)
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event.value) if event.implicit[0] else event.value
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(path)
        else:
            value = self._mapping(path)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._values - before)
        return value

    def _alias(self, event: yaml.AliasEvent) -> Any:
        if event.anchor not in self._anchors:
            raise YamlError(_line(event), f"the alias *{event.anchor} has no finished anchor before it")
        value, values = self._anchors[event.anchor]
        self._count(values, event)
        return value

    def _count(self, values: int, event: yaml.Event) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            raise YamlError(_line(event), f"more than {MOST_VALUES} values, aliases expanded")

    def _sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            place = (*path, len(items))
            self._source.lines[place] = _line(event)
            items.append(self._value(event, place))
        return items

    def _mapping(self, path: Path) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        first_line: dict[str, int] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            line = _line(event)
            if not isinstance(event, yaml.ScalarEvent):
                self._value(event, path)
                self._value(self._next(), path)
                self._source.problems.append(Problem(path, "a key is no text; allowed: plain words", line))
                continue
            key = event.value
            place = (*path, key)
            if key in mapping:
                text = f"written twice, first on line {first_line[key]}; keep one"
                self._source.problems.append(Problem(place, text, line))
                self._value(self._next(), path)
                continue
            first_line[key] = self._source.lines[place] = line
            mapping[key] = self._value(self._next(), place)
        return mapping


def _line(event: Any) -> int:
    return event.start_mark.line + 1


def _scalar(text: str) -> Any:
    """A plain scalar by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text) and len(text) < 1000:
        return int(text)
    if _BASED_INT.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SPECIAL_FLOAT.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text
