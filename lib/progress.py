"""Progress of long work: one rewritten line on a terminal, an occasional line in a log otherwise."""

import logging
import sys
import time

LOG = logging.getLogger("tilewright")
LOG_INTERVAL_S = 10.0
TERMINAL_INTERVAL_S = 0.2


class Progress:
    """Counts towards `total`; use as a context manager and call :meth:`update`."""

    def __init__(self, label: str, total: int):
        self.label, self.total, self.done, self.note = label, total, 0, ""
        self._terminal = sys.stderr.isatty()
        self._shown = self._started = time.monotonic()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *exception) -> None:
        self._show(last=True)

    def update(self, done: int, note: str = "") -> None:
        """Say how far the work is; shown at most every few seconds."""
        self.done, self.note = done, note
        if time.monotonic() - self._shown >= (TERMINAL_INTERVAL_S if self._terminal else LOG_INTERVAL_S):
            self._show()

    def _show(self, last: bool = False) -> None:
        self._shown = time.monotonic()
        elapsed = self._shown - self._started
        left = elapsed * (self.total - self.done) / self.done if self.done else float("nan")
        text = f"{self.label}: {self.done}/{self.total} ({elapsed:.0f} s, {left:.0f} s left) {self.note}".rstrip()
        if self._terminal:
            print(f"\r\x1b[2K{text}", end="\n" if last else "", file=sys.stderr, flush=True)
        else:
            LOG.info(text)
