"""The base of every pydantic model in the repository."""

from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    """Immutable, refuses unknown keys; attribute docstrings are the field descriptions."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        validate_default=True,
    )
