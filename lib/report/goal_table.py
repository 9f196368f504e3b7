"""Goals beside what a study shows, as a table: the same for all kinds of goals."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from lib.report.goals import MET_IN_WORDS
from lib.report.tables import Table, number

NO_BREAK = "\N{NO-BREAK SPACE}"


class AnyGoal(Protocol):
    """What all goals have: see `schemas.goals`."""

    @property
    def what(self) -> str:
        """The figure in words."""
        ...

    @property
    def others(self) -> str:
        """What is known of others."""
        ...

    @property
    def text(self) -> str:
        """Operator and bound."""
        ...


class GoalResult(Protocol):
    """What the results of all kinds of goals have."""

    @property
    def goal(self) -> AnyGoal:
        """What is asked."""
        ...

    @property
    def value(self) -> float:
        """What this study shows; NaN where it can't tell."""
        ...

    @property
    def met(self) -> bool | None:
        """Whether that is enough; None where the study can't tell."""
        ...


Result = TypeVar("Result", bound=GoalResult)


def goal_table(
    title: str,
    results: Sequence[Result],
    details: Mapping[str, Callable[[Result], str]],
    note: str,
    what: Callable[[Result], str] = lambda result: result.goal.what,
    value: Callable[[Result], str] = lambda result: number(result.value),
) -> Table:
    """One row a goal: what is asked, what this study shows, whether that is enough, `details` (heading to cell), what
    is known of others. Goals that are not met are marked."""
    rows = [
        [
            what(result), result.goal.text.replace(" ", NO_BREAK), value(result), MET_IN_WORDS[result.met],
            *(detail(result) for detail in details.values()), result.goal.others,
        ]
        for result in results
    ]  # fmt: skip
    missed = {place for place, result in enumerate(results) if result.met is False}
    return Table(title, ["figure", "goal", "this study", "met?", *details, "others"], rows, note, missed)
