"""Trials of a search on disk, so that it continues after a kill, or when it is given more trials."""

import time
from collections.abc import Sequence
from typing import Any

from lib.journal import Journal
from lib.search.optimise import Trial
from lib.search.outcome import Outcome

INTERVAL_S = 1.0
"""Trials are written once a second, as writing through to the disk may take longer than a trial."""


class TrialJournal:
    """The trials of one island. Without a journal, nothing is kept.

    What an outcome's `detail` holds must be of JSON types.
    """

    def __init__(self, journal: Journal | None):
        self._journal = journal
        self._pending: list[dict[str, Any]] = []
        self._written_s = time.monotonic()

    def history(self) -> Sequence[Trial]:
        """The trials so far."""
        records = self._journal.records if self._journal is not None else []
        return [_trial(entry) for record in records for entry in record["trials"]]

    def record(self, trial: Trial) -> None:
        """Keep one more trial, the next one."""
        self._pending.append({"number": trial.number, "point": trial.point, "outcome": trial.outcome._asdict()})
        if time.monotonic() - self._written_s >= INTERVAL_S:
            self.write()

    def write(self) -> None:
        """Put on disk what isn't there yet."""
        if self._journal is not None and self._pending:
            self._journal.append({"trials": self._pending})
        self._pending, self._written_s = [], time.monotonic()


def _trial(entry: dict[str, Any]) -> Trial:
    outcome = entry["outcome"] | {"objectives": tuple(entry["outcome"]["objectives"])}
    return Trial(entry["number"], entry["point"], Outcome(**outcome))
