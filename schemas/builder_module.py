"""Whether a builder that a study names is there: looked up in its module's source, of which nothing is run."""

import ast
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from schemas.problem import allowed_names


def builder_problem(builder: str, folder: Path) -> str | None:
    """What is wrong with `package.module:function`, in words; None if nothing is, or if the source doesn't tell.

    The module lies in the repository or in `folder`, the study's.
    """
    module, _, function = builder.partition(":")
    source = _source_of(module, folder)
    if source is None:
        return "allowed: a module in the repository or beside the study file"
    if source.suffix != ".py":
        return None
    try:
        tree = _parsed(source.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        return f"{source.name} can't be read as Python: {error}"
    names = set(_names(tree.body))
    if function in names or "*" in names:
        return None
    public = sorted(name for name in _functions(tree.body) if not name.startswith("_"))
    return f"module '{module}' has no function '{function}'; {allowed_names(function, public)}"


@cache
def _parsed(source: bytes) -> ast.Module:
    """Kept, since a study names many builders of one module."""
    return ast.parse(source)


def _source_of(module: str, folder: Path) -> Path | None:
    """The file of the module: beside the study, else where Python finds it; None if it doesn't."""
    beside = folder.joinpath(*module.split("."))
    for file in (beside.with_suffix(".py"), beside / "__init__.py"):
        if file.is_file():
            return file
    try:
        found = find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(found.origin or "") if found is not None else None


def _functions(body: Iterable[ast.stmt]) -> Iterable[str]:
    """Names of functions at the top of a module, those under `if` and `try` among them."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement.name
        elif isinstance(statement, ast.If | ast.Try | ast.ExceptHandler):
            yield from _functions(ast.iter_child_nodes(statement))  # type: ignore[arg-type]


def _names(body: Iterable[ast.stmt]) -> Iterable[str]:
    """Names that a module defines at its top; `*` where it imports all names of another one."""
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name
            case ast.Import() | ast.ImportFrom():
                yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
            case ast.Assign() | ast.AnnAssign():
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
            case ast.If() | ast.Try() | ast.With() | ast.ExceptHandler():
                yield from _names(ast.iter_child_nodes(statement))  # type: ignore[arg-type]
