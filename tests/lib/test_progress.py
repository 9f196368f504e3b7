"""Progress: one line that is rewritten on a terminal, lines in the log otherwise."""

import io
import logging
import sys

import pytest

from lib import progress as subject
from lib.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(subject, "LOG_INTERVAL_S", 0.0)
    monkeypatch.setattr(subject, "TERMINAL_INTERVAL_S", 0.0)


def test_a_log_gets_lines(monkeypatch, caplog):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with caplog.at_level(logging.INFO, "tilewright"), Progress("train", 10) as progress:
        progress.update(5, "loss 0.5")
        progress.update(10)
    counts = [record.message.split(" (")[0] for record in caplog.records]
    assert counts == ["train: 5/10", "train: 10/10", "train: 10/10"]
    assert caplog.records[0].message.endswith("loss 0.5")
    assert sys.stderr.getvalue() == ""


def test_a_terminal_gets_one_rewritten_line(monkeypatch, caplog):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with caplog.at_level(logging.INFO, "tilewright"), Progress("train", 4) as progress:
        for done in range(1, 5):
            progress.update(done)
    written = sys.stderr.getvalue()
    assert written.count("\r") == 5
    assert written.count("\n") == 1
    assert written.rstrip().split("\r\x1b[2K")[-1].startswith("train: 4/4")
    assert caplog.records == []
