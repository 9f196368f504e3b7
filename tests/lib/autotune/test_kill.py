"""A run that the operating system kills: continued, it runs nothing twice and ends with the same bytes."""

import multiprocessing
import signal
from pathlib import Path

import pytest

from tests.lib.autotune.killed_run import run


@pytest.fixture(scope="module", params=["tiles", "fusion", "both"])
def whole(request, tmp_path_factory):
    """Task, folder and batches of a run that nothing stopped."""
    folder = tmp_path_factory.mktemp("whole") / "artifact"
    return request.param, folder, run(folder, request.param)


def contents_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_a_killed_run_continues(whole, share, tmp_path):
    task, folder, batches = whole
    again = tmp_path / "artifact"
    killed = multiprocessing.get_context("spawn").Process(target=run, args=(again, task, int(share * batches)))
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    assert not again.exists()
    before = again.with_suffix(".asked").read_text().splitlines()
    run(again, task)
    asked = again.with_suffix(".asked").read_text().splitlines()
    assert 0 < len(before) < len(asked)
    assert len(asked) == len(set(asked))
    assert sorted(asked) == sorted(folder.with_suffix(".asked").read_text().splitlines())
    assert contents_of(again) == contents_of(folder)
