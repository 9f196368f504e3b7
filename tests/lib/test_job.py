"""What a person sees of a job: errors in words, compiled libraries' chatter only in the log."""

import subprocess
import sys
from pathlib import Path

import pytest

from lib.job import REPOSITORY, in_words
from lib.program.program import BatchError
from lib.schedule.schedules import schedules_for_tiles
from schemas.artifact import ArtifactError

SCRIPT = """
import os, sys
from pathlib import Path
from types import SimpleNamespace
from lib.job import Job

Job(SimpleNamespace(params=SimpleNamespace(spec={{}}, code=""), input=[], wildcards=None, threads=1,
                    output=[{folder!r} + "/manifest.json"], log=[{folder!r} + "/log/job.log"]))
os.write(2, b"chatter of a compiled library\\n")
print("for the terminal", file=sys.stderr)
{statement}
"""

RAISE_ARTIFACT_ERROR = (
    "from schemas.artifact import ArtifactError; raise ArtifactError(Path('results/x/a.npz'), 'sha256', 'differs')"
)


def run_job(folder: Path, statement: str) -> tuple[int, str, str]:
    """Exit status, standard error and log of a script that ends with `statement`."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(folder=str(folder), statement=statement)],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr, (folder / "log" / "job.log").read_text(encoding="utf-8")


def test_chatter_goes_to_the_log_and_python_to_the_terminal(tmp_path):
    status, terminal, log = run_job(tmp_path, "import logging; logging.getLogger('tilewright').info('step 1')")
    assert (status, terminal) == (0, "for the terminal\n")
    assert "chatter of a compiled library" in log
    assert "step 1" in log


def test_an_error_of_our_own_is_told_in_words_with_the_log_that_has_its_traceback(tmp_path):
    status, terminal, log = run_job(tmp_path, RAISE_ARTIFACT_ERROR)
    assert status == 1
    assert "Error: results/x/a.npz: sha256: differs" in terminal
    assert "what to do: delete the folder" in terminal
    assert f"traceback: {tmp_path}/log/job.log" in terminal
    assert "Traceback" not in terminal
    assert "Traceback" in log
    assert "chatter of a compiled library" in log


def test_a_bug_shows_its_traceback(tmp_path):
    status, terminal, log = run_job(tmp_path, "{}['key']")
    assert status == 1
    assert "Traceback" in terminal
    assert "KeyError: 'key'" in terminal
    assert "KeyError: 'key'" in log


def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return error, error.__traceback__
    raise AssertionError("nothing was raised")


def test_which_errors_say_themselves_what_is_wrong():
    from lib.frontends import trace

    assert "unknown source kind" in str(in_words(*raised(trace, {"id": "a", "source": {"kind": "x"}}, Path())))
    assert in_words(BatchError("batch 3"), None) == "batch 3"
    full = str(in_words(OSError(28, "No space left on device"), None))
    assert full.startswith("OSError: [Errno 28] No space left on device\n  what to do: the disk is full; make room")
    assert "--cores 1" in str(in_words(MemoryError("10 GiB"), None))
    assert in_words(*raised(int, "x")) is None


def test_a_library_s_value_error_in_our_own_line_needs_its_traceback():
    assert in_words(*raised(schedules_for_tiles, "no", "tiles")) is None


@pytest.mark.parametrize("error", [KeyError("a"), ArithmeticError("b"), RuntimeError("c")])
def test_which_errors_need_a_traceback(error):
    assert in_words(error, None) is None


def test_artifact_error_is_its_own_words():
    error = ArtifactError(Path("a"), "size", "0 bytes")
    assert in_words(error, None) == str(error)
