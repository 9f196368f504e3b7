"""Journals: what a job finds after a kill."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lib.journal import RECORDS, JobRunsAlreadyError, Journal, fingerprint, sole_job

REPOSITORY = Path(__file__).parents[2]
ARRAYS = {"weights": np.arange(6, dtype=np.float32).reshape(2, 3)}


def test_records_and_arrays_are_found_again(tmp_path):
    journal = Journal(tmp_path / "job")
    assert journal.records == []
    assert journal.arrays() == {}
    journal.append({"step": 1, "metric": 0.1 + 0.2}, ARRAYS)
    journal.append({"step": 2, "metric": float("nan")})
    again = Journal(tmp_path / "job")
    assert again.records[0] == {"step": 1, "metric": 0.1 + 0.2}
    assert np.isnan(again.records[1]["metric"])
    np.testing.assert_array_equal(again.arrays()["weights"], ARRAYS["weights"])


def test_only_the_newest_arrays_are_kept(tmp_path):
    journal = Journal(tmp_path)
    journal.append({"step": 1}, ARRAYS)
    journal.append({"step": 2}, {"weights": np.zeros(1)})
    assert [file.name for file in tmp_path.glob("*.npz")] == ["1.npz"]
    np.testing.assert_array_equal(Journal(tmp_path).arrays()["weights"], np.zeros(1))


@pytest.mark.parametrize("left", range(1, 20, 3))
def test_a_record_cut_short_is_as_if_it_had_not_been_written(tmp_path, left):
    journal = Journal(tmp_path)
    journal.append({"trial": 1})
    whole = (tmp_path / RECORDS).stat().st_size
    journal.append({"trial": 2})
    with (tmp_path / RECORDS).open("r+b") as stream:
        stream.truncate(whole + left)
    again = Journal(tmp_path)
    assert again.records == [{"trial": 1}]
    again.append({"trial": 3})
    assert Journal(tmp_path).records == [{"trial": 1}, {"trial": 3}]


def test_a_damaged_record_ends_the_journal_in_words(tmp_path, caplog):
    journal = Journal(tmp_path)
    for trial in range(3):
        journal.append({"trial": trial})
    content = (tmp_path / RECORDS).read_bytes()
    (tmp_path / RECORDS).write_bytes(content.replace(b'"trial": 1', b'"trial": 7'))
    assert Journal(tmp_path).records == [{"trial": 0}]
    assert "the first 1 records hold" in caplog.text


def test_damaged_arrays_start_the_job_anew_in_words(tmp_path, caplog):
    Journal(tmp_path / "job").append({"step": 1}, ARRAYS)
    file = tmp_path / "job" / "0.npz"
    file.write_bytes(file.read_bytes()[:-1])
    assert Journal(tmp_path / "job").records == []
    assert "0.npz: missing or damaged, so the job starts anew" in caplog.text


def test_the_fingerprint_leaves_out_what_may_be_raised(tmp_path):
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    spec = {"trials": 50, "space": [1, 2]}
    one = fingerprint(spec, "code", [manifest], raisable={"trials"})
    assert one == fingerprint(spec | {"trials": 100}, "code", [manifest], raisable={"trials"})
    assert one != fingerprint(spec | {"space": [1]}, "code", [manifest], raisable={"trials"})
    assert one != fingerprint(spec, "other code", [manifest], raisable={"trials"})
    manifest.write_text('{"files": 1}')
    assert one != fingerprint(spec, "code", [manifest], raisable={"trials"})


def test_a_journal_says_what_it_starts_from(tmp_path, caplog):
    with caplog.at_level("INFO"):
        first = Journal.of_job(tmp_path, "model", "ranker-seed-1", "0" * 16)
        first.append({"step": 1})
        assert caplog.messages == []
        Journal.of_job(tmp_path, "model", "ranker-seed-1", "0" * 16)
        Journal.of_job(tmp_path, "model", "ranker-seed-1", "1" * 16)
    assert first.folder == tmp_path / ".journal" / "model" / f"ranker-seed-1-{'0' * 16}"
    assert caplog.messages[0] == f"continues from {first.folder}, 1 records"
    assert caplog.messages[1].startswith("starts anew: settings, code, data or software are not those of")


WRITER = """
import sys
from pathlib import Path
import numpy as np
from lib.journal import Journal

journal = Journal(Path(sys.argv[1]))
for step in range(10**9):
    journal.append({"step": step}, {"state": np.full(1000, step)})
    print(step, flush=True)
"""


def test_a_kill_leaves_the_newest_record_with_its_arrays(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with process:
        said = [process.stdout.readline() for _ in range(20)]
        process.kill()
    journal = Journal(tmp_path)
    steps = [record["step"] for record in journal.records]
    assert steps == list(range(len(steps)))
    assert len(steps) >= len(said)
    np.testing.assert_array_equal(journal.arrays()["state"], np.full(1000, steps[-1]))


def test_a_second_process_on_the_same_job_is_refused_in_words(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from lib.journal import sole_job\n"
        "with sole_job(Path(sys.argv[1]), 'search', 'b7-island-1'): print('in', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=REPOSITORY, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"in\n"
        with pytest.raises(JobRunsAlreadyError) as caught, sole_job(tmp_path, "search", "b7-island-1"):
            pass
        with sole_job(tmp_path, "search", "b7-island-2"):  # another job is free
            pass
        process.kill()
    message = str(caught.value)
    assert message.startswith(f"process {process.pid} on ")
    assert f"works on search b7-island-1 in {tmp_path} already" in message
    assert "Wait until it has ended, or end it" in message
    with sole_job(tmp_path, "search", "b7-island-1"):  # a kill frees it
        pass
