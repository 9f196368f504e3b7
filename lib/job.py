"""What every workflow script does first: its log, its parameters, its folder."""

import errno
import logging
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
LOG = logging.getLogger("tilewright")
GO_ON = "and run the same command again: nothing that was finished is lost"
ELSEWHERE = "give the results another folder (snakemake: --config results=FOLDER), or copy them there first"
REMEDIES = {
    errno.ENOSPC: f"the disk is full; make room {GO_ON}",
    errno.EDQUOT: f"your share of the disk is used up; make room {GO_ON}",
    errno.EFBIG: f"files may not become this large here (ulimit -f); raise that {GO_ON}",
    errno.EROFS: f"nothing can be written there; {ELSEWHERE}",
    errno.EACCES: f"you may not write or read there; {ELSEWHERE}",
    errno.EPERM: f"you may not write or read there; {ELSEWHERE}",
}
"""What to do about errors of the system that a person can mend, by number."""


class Job:
    """The `snakemake` object of a script, reduced to what scripts may use.

    Attributes: `spec` (the resolved study entry, a plain dict), `code` (fingerprint of the script and the
    modules that it imports), `folder` (where the artifact goes), `input` (named inputs), `wildcards`.
    """

    def __init__(self, snakemake: Any):
        self.spec: dict = snakemake.params.spec
        self.code: str = snakemake.params.code
        self.input = snakemake.input
        self.wildcards = snakemake.wildcards
        self.threads: int = snakemake.threads
        self.folder = Path(snakemake.output[0]).parent
        _start_log(Path(snakemake.log[0]))

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder in the job's, for files as large as its data; gone afterwards, at the latest when a job
        that was killed runs again."""
        folder = self.folder / ".scratch"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def write_text(self, name: str, text: str) -> None:
        """Write a file into the job's folder, whole or not at all."""
        draft = self.folder / f".{name}.draft"
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, self.folder / name)


def in_words(error: BaseException, trace: TracebackType | None) -> str | None:
    """What a person is told of an error that says itself what is wrong; None for one that needs its traceback.

    The former are errors of this repository's own classes, a ValueError that its code raised, and the system's.
    """
    frames = traceback.extract_tb(trace)
    last = Path(frames[-1].filename) if frames else Path()
    own_class = type(error).__module__.partition(".")[0] in ("lib", "schemas")
    raised_here = any(last.is_relative_to(REPOSITORY / part) for part in ("lib", "schemas"))
    own_value = type(error) is ValueError and raised_here and (frames[-1].line or "").startswith("raise")
    if own_class or own_value:
        return str(error)
    if isinstance(error, OSError):
        remedy = REMEDIES.get(error.errno or 0)
        return f"{type(error).__name__}: {error}" + (f"\n  what to do: {remedy}" if remedy else "")
    if isinstance(error, MemoryError):
        return f"{type(error).__name__}: {error}\n  what to do: run fewer jobs at once: snakemake --cores 1"
    return None


def print_answer(answer: Callable[[], str]) -> int:
    """Print what a command answers, exit status 0; 1 and what is wrong on standard error where an error says it."""
    try:
        text = answer()
    except Exception as error:
        words = in_words(error, error.__traceback__)
        if words is None:
            raise
        print(words, file=sys.stderr)
        return 1
    print(text)
    return 0


def _start_log(file: Path) -> None:
    """Log to `file`, what compiled libraries print included; Python's own standard error stays the terminal."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"")
    logging.basicConfig(
        filename=file, filemode="a", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", force=True
    )
    logging.raiseExceptions = False  # a line that a full disk does not take is no reason for a traceback of its own
    sys.stderr.flush()
    sys.stderr = open(os.dup(2), "w", buffering=1, errors="backslashreplace")  # noqa: SIM115 (until the job ends)
    with file.open("ab") as log:
        os.dup2(log.fileno(), 2)

    def show_exception(kind, error, trace):
        LOG.error("failed", exc_info=(kind, error, trace))
        words = in_words(error, trace)
        if words is None:
            sys.__excepthook__(kind, error, trace)
        else:
            print(f"\nError: {words}\n  traceback: {file}\n", file=sys.stderr, flush=True)

    sys.excepthook = show_exception
