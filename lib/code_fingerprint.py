"""Fingerprint of a script and of everything in the repository that it imports.

Snakemake does not see edits of imported modules. Each rule therefore gets, as a parameter, a digest over
the syntax trees (no comments, no docstrings) of its script and of all repository modules that it imports
transitively, and over the files that these name: presets, and what lies beside a module (a page's template).
A static walk: nothing is imported.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lib.parsed_sources import ParsedSources

ROOT = Path(__file__).parents[1]
PACKAGES = ("lib", "schemas", "workflow")
PRESETS = ROOT / "schemas" / "presets"


def code_fingerprint(script: Path, builder: str | None = None, study_folder: Path | None = None) -> str:
    """16 hexadecimal digits for `script` and the repository modules behind it.

    `builder`: dotted name of a module named in the study, of the repository or beside the study; in the latter
    case the modules beside the study that it imports count too.
    """
    files = {Path(script).resolve()}
    beside = None
    if builder is not None:
        files |= _module_files(builder)
        if not in_repository(builder):
            beside = (study_folder or Path.cwd()).resolve()
            files |= _module_beside(beside, builder)
    digest = hashlib.sha256()
    for file in sorted(_reachable(files, beside), key=_place):
        digest.update(f"{file.name}\0{_source(file).digest}\0".encode())
    _parsed_sources(ROOT).save()
    return digest.hexdigest()[:16]


def in_repository(module: str) -> bool:
    """Whether the dotted name is a module of this repository."""
    return bool(_module_files(module))


def imported_files(script: Path) -> frozenset[Path]:
    """The script and all repository files that it imports, directly or not."""
    return _reachable({Path(script).resolve()})


def _place(file: Path) -> tuple[bool, str]:
    """Where a file stands in the digest: the repository's first, wherever the study lies."""
    return not file.is_relative_to(ROOT), str(file)


def _reachable(files: set[Path], beside: Path | None = None) -> frozenset[Path]:
    pending, seen = list(files), set()
    while pending:
        file = pending.pop()
        if file not in seen:
            seen.add(file)
            pending.extend(_source(file).imports)
            if beside is not None and file.is_relative_to(beside):
                pending.extend(_imports_beside(file, beside))
    return frozenset(seen)


class _Source(NamedTuple):
    """What a file's content says."""

    digest: str
    imports: frozenset[Path]


@cache
def _source(file: Path) -> _Source:
    content = file.read_bytes()
    if file.suffix != ".py":
        return _Source(hashlib.sha256(content).hexdigest(), frozenset())
    parsed = _parsed_sources(ROOT).of(content)
    found: set[Path] = set()
    for module in parsed.modules:
        found |= _module_files(module)
    for word in parsed.words:
        found |= _data(PRESETS).get(word, frozenset()) | _data(file.parent).get(word, frozenset())
    for preset in parsed.presets:
        found |= _data(PRESETS).get(f"{preset}.yaml", frozenset())
    return _Source(parsed.digest, frozenset(found))


@cache
def _parsed_sources(checkout: Path) -> ParsedSources:
    return ParsedSources(checkout / ".cache" / "parsed-sources.json")


@cache
def _data(folder: Path) -> dict[str, frozenset[Path]]:
    """Files in a folder that are no code, by name; of a folder in the presets, all files in it."""
    found = {
        file.name: frozenset({file})
        for file in folder.glob("*.*")
        if file.is_file() and file.suffix not in (".py", ".pyc")
    }
    if folder == PRESETS:
        for inner in folder.iterdir():
            if inner.is_dir() and inner.name != "__pycache__":
                found[inner.name] = frozenset(file for file in inner.rglob("*") if file.is_file())
    return found


@cache
def _module_files(module: str) -> frozenset[Path]:
    parts = module.split(".")
    if parts[0] not in PACKAGES:
        return frozenset()
    found = set()
    for length in range(1, len(parts) + 1):
        base = ROOT.joinpath(*parts[:length])
        found |= {file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()}
    return frozenset(found)


def _imports_beside(file: Path, folder: Path) -> frozenset[Path]:
    """Modules in the study's folder that one of them imports, by full name or relatively."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found |= _module_beside(folder, alias.name)
        elif isinstance(node, ast.ImportFrom):
            start = file.parents[node.level - 1] if node.level else folder
            module = node.module or ""
            for name in [module, *(f"{module}.{alias.name}".strip(".") for alias in node.names)]:
                found |= _module_beside(start, name) if name else frozenset()
    return frozenset(found)


def _module_beside(folder: Path, module: str) -> frozenset[Path]:
    parts = module.split(".")
    bases = [folder.joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
    files = (file for base in bases for file in (base.with_suffix(".py"), base / "__init__.py"))
    return frozenset(file.resolve() for file in files if file.is_file())
