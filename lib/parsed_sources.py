"""What Python files say that fingerprints of code need, kept between processes.

Parsing all files of the repository takes seconds, and each dry run and each job of a cluster needs them all. What a
file says is kept by its content, so an edit is never missed.
"""

import ast
import hashlib
import json
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

MOST_KEPT = 2_000
"""Contents; several states of the repository."""
FILE_NAME = re.compile(r"[\w.-]{1,60}")


class ParsedSource(NamedTuple):
    """What a file's content says."""

    digest: str
    """Of the syntax tree without docstrings, hexadecimal."""
    modules: list[str]
    """Dotted names that it imports, absolute ones only; `from a import b` names `a` and `a.b`."""
    words: list[str]
    """Texts in it that may be names of files."""
    presets: list[str]
    """What it gives `load_preset`."""


class ParsedSources:
    """Parsed contents, read from `file` and kept there by `save`; a file that can't be read or written is done without.

    A file of another Python or of another state of this module is not used.
    """

    def __init__(self, file: Path):
        self._file = file
        self._kept = self._read()
        self._asked: dict[str, ParsedSource] = {}

    def of(self, content: bytes) -> ParsedSource:
        """What a Python file with this content says."""
        key = hashlib.sha256(content).hexdigest()
        if key not in self._asked:
            self._asked[key] = self._kept[key] if key in self._kept else parsed_source(content)
        return self._asked[key]

    def save(self) -> None:
        """Keep what was asked for, if any of it is new."""
        if self._asked.keys() <= self._kept.keys():
            return
        others = self._kept if len(self._kept) + len(self._asked) <= MOST_KEPT else {}
        self._kept = others | self._asked
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            draft = self._file.with_name(f".{self._file.name}.{os.getpid()}")
            draft.write_text(json.dumps({"made by": _made_by(), "sources": self._kept}))
            os.replace(draft, self._file)
        except OSError:
            pass  # the next process parses again

    def _read(self) -> dict[str, ParsedSource]:
        try:
            content = json.loads(self._file.read_bytes())
            if content["made by"] != _made_by():
                return {}
            return {key: ParsedSource(*source) for key, source in content["sources"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}


def parsed_source(content: bytes) -> ParsedSource:
    """Parse a Python file's content. Raises SyntaxError."""
    tree = ast.parse(content)
    modules: dict[str, None] = {}
    words: dict[str, None] = {}
    presets: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules |= dict.fromkeys([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and FILE_NAME.fullmatch(node.value):
            words[node.value] = None
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "load_preset" and node.args:
            presets[str(getattr(node.args[0], "value", None))] = None
    digest = hashlib.sha256(ast.dump(_without_docstrings(tree)).encode()).hexdigest()
    return ParsedSource(digest, list(modules), list(words), list(presets))


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [item for item in body if not _is_text(item)] or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def _is_text(item: ast.AST) -> bool:
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, str)


def _made_by() -> list[str]:
    """The Python, whose versions write syntax trees in other ways, and the state of this module."""
    return [sys.version, hashlib.sha256(Path(__file__).read_bytes()).hexdigest()]
