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
    "string_pattern_mismatch": "text without braces and control characters, at least one character",
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
    kind, location = details["type"], details["loc"]
    if location and location[-1] == "[key]" and kind != "extra_forbidden":  # pydantic's mark: the key itself is wrong
        location = location[:-1]
    path, annotations = _walk(location, model)
    if kind == "inconsistent":
        for inner in details["ctx"]["problems"]:
            yield Problem((*path, *inner.path), inner.text, inner.line)
    elif kind == "missing":
        yield Problem(path, f"missing; {_description(_model(annotations[-2]), str(path[-1]))}")
    elif kind == "extra_forbidden":
        yield Problem(path, f"unknown key; {allowed_names(path[-1], _keys(annotations[-2]))}")
    else:
        yield Problem(path, f"{got(details['input'])}; {_allowed(details, annotations[-1])}")


def _allowed(details: ErrorDetails, annotation: Any) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "not_allowed":
        return f"allowed: {context['allowed']}"
    if kind == "literal_error":
        return allowed_names(details["input"], _literals(annotation))
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"allowed: {words} {context[bound]:g}"
    if kind == "model_type":
        return f"allowed: a mapping with the keys {', '.join(_keys(annotation))}"
    return f"allowed: {_KINDS[kind]}" if kind in _KINDS else details["msg"]


def _description(parent: type[BaseModel] | None, key: str) -> str:
    """What a missing key is: its allowed values, if they are few, and its description."""
    assert parent is not None  # only a model can miss a key
    field = parent.model_fields[key]
    literals = _literals(field.annotation)
    description = " ".join((field.description or "").split())
    return f"allowed: {', '.join(literals)} ({description.rstrip('.')})" if literals else description.rstrip(".")


def _walk(location: tuple[int | str, ...], model: type[BaseModel]) -> tuple[Path, list[Any]]:
    """The study's path of a pydantic location, which also names union tags, and the
    annotations along it: one more than the path has parts."""
    path: list[int | str] = []
    annotations: list[Any] = [model]
    for part in location:
        arm = _tagged_arm(annotations[-1], part)
        if arm is not None:
            annotations[-1] = arm
        else:
            path.append(part)
            annotations.append(_child(annotations[-1], part))
    return tuple(path), annotations


def _arms(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or the annotation alone."""
    return typing.get_args(annotation) if _is_union(annotation) else (annotation,)


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _bare(annotation: Any) -> Any:
    """The annotation without `Annotated`."""
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is Annotated else annotation


def _tagged_arm(annotation: Any, part: int | str) -> Any:
    """The member of a tagged union whose tag is `part`, if there is one."""
    for arm in _arms(annotation if _is_union(annotation) else _bare(annotation)):
        if typing.get_origin(arm) is Annotated:
            bare, *extras = typing.get_args(arm)
            if any(isinstance(extra, Tag) and extra.tag == part for extra in extras):
                return bare
    return None


def _model(annotation: Any) -> type[BaseModel] | None:
    for arm in map(_bare, _arms(_bare(annotation))):
        if isinstance(arm, type) and issubclass(arm, BaseModel):
            return arm
    return None


def _keys(annotation: Any) -> list[str]:
    model = _model(annotation)
    return list(model.model_fields) if model else []


def _child(annotation: Any, part: int | str) -> Any:
    model = _model(annotation)
    if model is not None:
        return model.model_fields[str(part)].annotation if part in model.model_fields else None
    for arm in map(_bare, _arms(_bare(annotation))):
        if typing.get_origin(arm) in (dict, list):
            return typing.get_args(arm)[-1]
    return None


def _literals(annotation: Any) -> list[str]:
    bare = _bare(annotation)
    if typing.get_origin(bare) is typing.Literal:
        return [str(value) for value in typing.get_args(bare)]
    return [name for arm in _arms(bare) if arm is not bare for name in _literals(arm)]
