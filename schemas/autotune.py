"""The `autotune:` section."""

from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from schemas.problem import not_allowed


def _empty(written: Any) -> dict:
    if written:
        raise not_allowed("nothing yet: autotuners come with a later release")
    return {}


AutotuneSection = Annotated[dict, PlainValidator(_empty), WithJsonSchema({"type": "object", "maxProperties": 0})]
"""Accepted only empty."""
