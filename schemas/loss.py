"""Losses of the learned model: their names, weighted sums of them, and which of them rank."""

import math
from typing import Annotated, Any, Literal, get_args

from pydantic import PlainValidator, WithJsonSchema

from schemas.problem import allowed_names, not_allowed

LossName = Literal["pairwise-logistic", "pairwise-hinge", "listmle", "centred-log-mse", "log-mse"]
LOSS_NAMES: tuple[str, ...] = get_args(LossName)
RANK_LOSSES = frozenset(LOSS_NAMES) - {"log-mse"}
"""Losses over the rows of a kernel that no common factor of their times changes."""


def loss_weights(loss: str | dict[str, float]) -> dict[str, float]:
    """Weight of each loss in what training minimises: a name, or names with weights."""
    return {loss: 1.0} if isinstance(loss, str) else loss


def is_rank_loss(loss: str | dict[str, float]) -> bool:
    """Whether a model trained with it predicts scores that are comparable within a kernel only.

    One rank loss in a sum is enough: it stretches differences between rows, and these then aren't times.
    """
    return any(name in RANK_LOSSES for name in loss_weights(loss))


def _checked_loss(written: Any) -> str | dict[str, float]:
    names = written if isinstance(written, dict) else [written]
    if not isinstance(written, str | dict) or not names:
        raise not_allowed("the name of a loss, or a mapping of names to weights")
    for name in names:
        if name not in LOSS_NAMES:
            raise not_allowed(allowed_names(name, LOSS_NAMES).removeprefix("allowed: "))
    if isinstance(written, str):
        return written
    if not all(type(weight) in (int, float) and 0 < weight < math.inf for weight in written.values()):
        raise not_allowed("weights that are numbers above 0")
    return {name: float(written[name]) for name in LOSS_NAMES if name in written}


_WEIGHT_SCHEMA = {"type": "number", "exclusiveMinimum": 0}
Loss = Annotated[
    str | dict[str, float],
    PlainValidator(_checked_loss),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(LOSS_NAMES), "type": "string"},
                {
                    "type": "object",
                    "properties": dict.fromkeys(LOSS_NAMES, _WEIGHT_SCHEMA),
                    "additionalProperties": False,
                    "minProperties": 1,
                },
            ]
        }
    ),
]
"""The name of a loss, or a weighted sum: weights by name."""
