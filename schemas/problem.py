"""Problems of a study: where, what was written, what is allowed, and the nearest known name.

Validators raise the two kinds of error made here; :mod:`schemas.validation_messages` turns them, and
pydantic's own, into :class:`Problem`.
"""

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticCustomError

NAMES_LISTED = 24
"""Longer lists of allowed names are cut to those nearest to what was written."""
VALUE_LENGTH = 60
"""Longer values are cut in messages, in characters."""

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a study."""

    path: Path
    """Keys from the top of the study to the value."""
    text: str
    """What is wrong and what is allowed."""
    line: int | None = None
    """Line of the study file, counted from 1; None: found from the path."""


def got(value: Any) -> str:
    """A value as messages quote it, cut to a readable length."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
    return f"got {text if len(text) <= VALUE_LENGTH else text[: VALUE_LENGTH - 3] + '...'}"


def nearest(name: Any, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a misspelling of; None if none is near."""
    matches = _near(name, known, count=1, cutoff=0.6)
    return matches[0] if matches else None


def _near(name: Any, known: Iterable[str], count: int, cutoff: float) -> list[str]:
    """Known names like `name`, the most similar first, upper and lower case alike."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    return [by_folded[match] for match in difflib.get_close_matches(str(name).casefold(), by_folded, count, cutoff)]


def allowed_names(name: Any, known: Iterable[str]) -> str:
    """`allowed: a, b, c; did you mean 'b'?` for a name that is not among `known`."""
    names = list(known)
    if not names:
        return "none is known"
    listed = ", ".join(names)
    if len(names) > NAMES_LISTED:
        near = _near(name, names, count=5, cutoff=0.5)
        listed = f"one of {len(names)} names" + (f", among them {', '.join(near)}" if near else "")
    suggestion = nearest(name, names)
    return f"allowed: {listed}" + (f"; did you mean '{suggestion}'?" if suggestion else "")


def not_allowed(allowed: str) -> PydanticCustomError:
    """The error of a single value; `allowed` says in words what may stand there."""
    return PydanticCustomError("not_allowed", "{allowed}", {"allowed": allowed})


def inconsistent(problems: list[Problem]) -> PydanticCustomError:
    """The error of values that don't go together; paths are relative to the model that raises it."""
    return PydanticCustomError("inconsistent", "{texts}", {
        "texts": "; ".join(problem.text for problem in problems), "problems": problems,
    })  # fmt: skip
