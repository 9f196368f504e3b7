"""What the models of the study share: the base class and the types of ids, lists and sections."""

import re
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator

from schemas.base import StrictModel
from schemas.problem import Problem, inconsistent, not_allowed

ID_PATTERN = r"^[a-z][a-z0-9-]*$"


class StudyModel(StrictModel):
    """A part of the study. A key without a value takes its default; numbers are not read from text."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _empty_means_default(cls, written: Any) -> Any:
        if written is None:
            return {}
        if isinstance(written, dict):
            return {key: value for key, value in written.items() if value is not None}
        return written

    @model_validator(mode="after")
    def _consistent(self) -> "StudyModel":
        problems = self.inconsistencies()
        if problems:
            raise inconsistent(problems)
        return self

    def inconsistencies(self) -> list[Problem]:
        """Values that don't go together, for subclasses; paths are relative to this model."""
        return []


def _checked_id(written: str) -> str:
    if written == "all":
        raise not_allowed("an id other than all, which means every entry")
    if not re.fullmatch(ID_PATTERN, written):
        raise not_allowed("an id of lower-case letters, digits and hyphens that starts with a letter")
    return written


def _checked_ids(written: Any) -> list[str]:
    if not isinstance(written, list) or not written or not all(isinstance(item, str) for item in written):
        raise not_allowed("a list of ids, at least one")
    twice = sorted({item for item in written if written.count(item) > 1})
    if twice:
        raise not_allowed(f"each id once ({', '.join(twice)} is listed more than once)")
    return written


def _checked_selection(written: Any) -> list[str] | Literal["all"]:
    if written == "all":
        return "all"
    if not isinstance(written, list) or not written or not all(isinstance(item, str) for item in written):
        raise not_allowed("all, or a list of ids")
    return _checked_ids(written)


Item = TypeVar("Item")


def _each_once(items: Any) -> Any:
    if not items or any(item in items[:place] for place, item in enumerate(items)):
        raise not_allowed("a list of at least one item, each once")
    return items


_ID_SCHEMA = {"type": "string", "pattern": ID_PATTERN}
_ID_LIST_SCHEMA = {"type": "array", "items": _ID_SCHEMA, "minItems": 1, "uniqueItems": True}

Id = Annotated[str, AfterValidator(_checked_id), WithJsonSchema(_ID_SCHEMA)]
IdList = Annotated[list[str], PlainValidator(_checked_ids), WithJsonSchema(_ID_LIST_SCHEMA)]
Selection = Annotated[
    list[str] | Literal["all"],
    PlainValidator(_checked_selection),
    WithJsonSchema({"anyOf": [{"const": "all"}, _ID_LIST_SCHEMA]}),
]
"""`all`, or a list of ids."""
EachOnce = Annotated[Item, AfterValidator(_each_once)]
"""`EachOnce[list[int]]`: at least one item, each once."""
PositiveInt = Annotated[int, Field(ge=1)]


def _empty_section(written: Any) -> Any:
    return {} if written is None else written


Entry = TypeVar("Entry", bound=StudyModel)
Section = Annotated[dict[Id, Entry], BeforeValidator(_empty_section)]
"""A section of the study: entries by id; an empty section has none."""


def select(selection: list[str] | Literal["all"], everything: list[str]) -> list[str]:
    """The ids that a selection means, sorted."""
    return sorted(everything if selection == "all" else selection)
