"""What this machine has measured, kept in one file for all studies, so that nothing is measured twice.

A measurement belongs to a module's text and to a *setup*: the device, its software, cores, threads, how visits are
timed. The file is an SQLite database in write-ahead mode: several processes may read and write it, and a kill loses
nothing but what was not measured yet.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

FILE = "measurements.sqlite"
VERSION = 2
"""Of the tables."""
BUSY_S = 60.0
"""Longest wait for another process that writes."""

_TABLES = """
CREATE TABLE IF NOT EXISTS setup (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, description TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS visit (
  setup INTEGER NOT NULL, module TEXT NOT NULL, number INTEGER NOT NULL, seconds REAL NOT NULL CHECK (seconds > 0),
  compile_s REAL NOT NULL, spent_s REAL NOT NULL, load_average REAL NOT NULL, flops REAL, bytes REAL,
  PRIMARY KEY (setup, module, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failure (
  setup INTEGER NOT NULL, module TEXT NOT NULL, reason INTEGER NOT NULL, message TEXT NOT NULL, timeout_s REAL NOT NULL,
  spent_s REAL NOT NULL, PRIMARY KEY (setup, module)
) WITHOUT ROWID;
"""


class Visit(NamedTuple):
    """One visit to a module: loaded, warmed up, run in batches."""

    seconds: float
    """Of one run, in the fastest batch."""
    compile_s: float
    """Wall seconds that loading took."""
    spent_s: float
    """Wall seconds of all of it: loading, warm-up, batches."""
    load_average: float
    """Of the machine, over the last minute."""
    flops: float | None
    """By the compiler's own count; None where it has none, and in later visits."""
    bytes: float | None
    """Likewise."""


class Failure(NamedTuple):
    """Why a module has no runtime."""

    reason: int
    """`lib.cost.cost_model.Reason`."""
    message: str
    timeout_s: float
    """The limit that it ran under."""
    spent_s: float


class MeasurementCacheError(RuntimeError):
    """A cache that can't be used; the message says where it is and what to do."""


class MeasurementCache:
    """The measurements of one setup."""

    def __init__(self, folder: Path | None, setup: Mapping[str, Any]):
        """`folder` None: in memory, for this process alone. Raises MeasurementCacheError."""
        self.file = None if folder is None else folder / FILE
        description = json.dumps(setup, sort_keys=True)
        digest = hashlib.sha256(description.encode()).hexdigest()
        with self._in_words():
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.file or ":memory:", timeout=BUSY_S, isolation_level=None)
            self._prepare()
            self._database.execute(
                "INSERT OR IGNORE INTO setup (digest, description) VALUES (?, ?)", (digest, description)
            )
            found = self._database.execute("SELECT id FROM setup WHERE digest = ?", (digest,)).fetchone()
        self._setup: int = found[0]

    def close(self) -> None:
        """Nothing may be asked afterwards."""
        self._database.close()

    def visits(self, module: str) -> list[Visit]:
        """The visits to a module, by the digest of its text, in order."""
        columns = ", ".join(Visit._fields)
        query = f"SELECT {columns} FROM visit WHERE setup = ? AND module = ? ORDER BY number"
        with self._in_words():
            return [Visit(*row) for row in self._database.execute(query, (self._setup, module))]

    def failure(self, module: str, timeout_s: float) -> Failure | None:
        """Why a module failed, if it did; one that was stopped sooner than after `timeout_s` may have another try."""
        query = "SELECT reason, message, timeout_s, spent_s FROM failure WHERE setup = ? AND module = ?"
        with self._in_words():
            row = self._database.execute(query, (self._setup, module)).fetchone()
        failure = None if row is None else Failure(*row)
        return failure if failure is None or failure.timeout_s >= timeout_s else None

    def add_visit(self, module: str, number: int, one: Visit) -> None:
        """Keep a visit, on disk before this returns; one of the same number stays as it is."""
        values = (self._setup, module, number, *one)
        with self._in_words():
            self._database.execute(f"INSERT OR IGNORE INTO visit VALUES ({', '.join('?' * len(values))})", values)

    def add_failure(self, module: str, failure: Failure) -> None:
        """Keep a failure in place of an earlier one."""
        with self._in_words():
            values = (self._setup, module, *failure)
            self._database.execute("INSERT OR REPLACE INTO failure VALUES (?, ?, ?, ?, ?, ?)", values)

    def _prepare(self) -> None:
        """Check the file, or make it anew."""
        self._patiently("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._patiently("BEGIN IMMEDIATE")
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            text = f"its version is {version}, this program reads {VERSION}"
            raise MeasurementCacheError(f"{self.file}: {text}. {self._remedy()}")
        problem = self._database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            raise sqlite3.DatabaseError(problem)
        for statement in filter(str.strip, _TABLES.split(";")):
            self._database.execute(statement)
        self._database.execute(f"PRAGMA user_version = {VERSION}")
        self._database.execute("COMMIT")

    def _patiently(self, statement: str) -> None:
        """Run a statement for which SQLite itself does not wait while another process opens the file."""
        until = time.monotonic() + BUSY_S
        while True:
            try:
                self._database.execute(statement)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.05)
            else:
                return

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            raise MeasurementCacheError(
                f"{self.file}: the measurements can't be read or kept there: {error}. What to do: `measurements:` of "
                "the study names a folder on a disk of this machine that you may write to."
            ) from error
        except sqlite3.DatabaseError as error:
            raise MeasurementCacheError(f"{self.file}: is damaged: {error}. {self._remedy()}") from error

    def _remedy(self) -> str:
        return (
            "What to do: delete the file (and those beside it that begin like it) and run snakemake again; what was in "
            "it is measured anew."
        )
