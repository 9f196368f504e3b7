"""From pydantic's validation errors to problems in the words of the study."""

import types
import typing
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from schemas.problem import Path, Problem, allowed_names, got

_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping of keys and values",
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Every problem in `error`, which came from validating `model`."""
    return [problem for details in error.errors(include_url=False) for problem in _problems(details, model)]


def _problems(details: ErrorDetails, model: type[BaseModel]) -> Iterator[Problem]:
    path, parent = _locate(details["loc"], model)
    context = details.get("ctx", {})
    if details["type"] == "inconsistent":
        for inner in context["problems"]:
            yield Problem((*path, *inner.path), inner.text, inner.line)
    elif details["type"] == "missing":
        yield Problem(path, f"missing; {_description(parent, path[-1])}")
    elif details["type"] in ("extra_forbidden", "invalid_key"):
        yield Problem(path, f"unknown key; {allowed_names(path[-1], _keys(parent))}")
    else:
        yield Problem(path, f"{got(details['input'])}; {_allowed(details, path, model)}")


def _allowed(details: ErrorDetails, path: Path, model: type[BaseModel]) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "not_allowed":
        return f"allowed: {context['allowed']}"
    if kind == "literal_error":
        _, leaf = _walk(path, model)
        return allowed_names(details["input"], _literals(leaf))
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"allowed: {words} {context[bound]}"
    if kind == "model_type":
        return f"allowed: a mapping with the keys {', '.join(_keys(_model_at(path, model)))}"
    if kind in _KINDS:
        return f"allowed: {_KINDS[kind]}"
    return details["msg"]


def _description(parent: type[BaseModel] | None, key: Any) -> str:
    if parent is None or key not in parent.model_fields:
        return "it must be given"
    field = parent.model_fields[key]
    literals = _literals(field.annotation)
    allowed = f"allowed: {', '.join(literals)} — " if literals else ""
    return f"{allowed}{(field.description or '').splitlines()[0]}"


def _keys(parent: type[BaseModel] | None) -> list[str]:
    return list(parent.model_fields) if parent is not None else []


def _literals(annotation: Any) -> list[str]:
    origin = typing.get_origin(annotation)
    if origin is typing.Literal:
        return [str(value) for value in typing.get_args(annotation)]
    if origin in (Annotated, typing.Union, types.UnionType):
        return [name for argument in typing.get_args(annotation) for name in _literals(argument)]
    return []


def _locate(location: tuple[int | str, ...], model: type[BaseModel]) -> tuple[Path, type[BaseModel] | None]:
    """The study's path of a pydantic location (which also names union tags and keys), and the model that
    its last key belongs to."""
    path, _ = _walk(location, model)
    _, parent = _walk(path[:-1], model)
    return path, _choose(parent, None)


def _model_at(path: Path, model: type[BaseModel]) -> type[BaseModel] | None:
    return _choose(_walk(path, model)[1], None)


def _walk(location: tuple[int | str, ...], model: type[BaseModel]) -> tuple[Path, Any]:
    """Follow a location through the annotations: the path without tags, and the annotation at its end."""
    path: list[int | str] = []
    annotation: Any = model
    for part in location:
        if part == "[key]":
            continue
        tagged = _tagged(annotation, part)
        if tagged is not None:
            annotation = tagged
            continue
        path.append(part)
        annotation = _child(annotation, part)
    return tuple(path), annotation


def _tagged(annotation: Any, part: int | str) -> type[BaseModel] | None:
    """The arm of a tagged union that `part` is the tag of."""
    for arm in _arms(annotation):
        if typing.get_origin(arm) is Annotated:
            model, *extras = typing.get_args(arm)
            if any(isinstance(extra, Tag) and extra.tag == part for extra in extras):
                return model
    return None


def _arms(annotation: Any) -> tuple[Any, ...]:
    while typing.get_origin(annotation) is Annotated and not any(
        isinstance(extra, Tag) for extra in typing.get_args(annotation)[1:]
    ):
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)
