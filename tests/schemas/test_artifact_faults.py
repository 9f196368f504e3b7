"""Artifacts when the disk is full, and when the process that writes one is killed at any step."""

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.artifact import ArtifactError
from tests.schemas.test_artifact import Sample, contents, write

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("size", [0, 10, 100, 300])
def test_a_full_disk_leaves_what_was_there(tmp_path, size):
    """A limit on the size of files stands in for the disk: both end a write half-way, with an OSError."""
    write(tmp_path / "a")
    before = {file.name: file.read_bytes() for file in (tmp_path / "a").iterdir()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        with pytest.raises(OSError, match="large"):
            write(tmp_path / "a", **{"note.txt": "x" * 1000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {file.name: file.read_bytes() for file in (tmp_path / "a").iterdir()} == before
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_kill_at_any_step_leaves_an_old_a_new_or_no_artifact(tmp_path):
    """tests/schemas/killed_writes.py writes a second artifact over a first one, and is killed before one step after the
    other that changes the disk."""
    write(tmp_path / "old")
    write(tmp_path / "new", **{"note.txt": "new"})
    done = subprocess.run(
        [sys.executable, "-m", "tests.schemas.killed_writes", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    killed = sorted((tmp_path / "killed").iterdir())
    assert len(killed) > len(Sample.files)
    states = set()
    for folder in killed:
        try:
            states.add(Sample.read(folder / "a")["note.txt"])
        except ArtifactError as error:
            states.add("none" if (error.path.name, error.field) == ("manifest.json", "file") else str(error))
        write(folder / "a", **{"note.txt": "new"})
        for file in (tmp_path / "new").iterdir():
            assert (folder / "a" / file.name).read_bytes() == file.read_bytes()
        assert len(list((folder / "a").iterdir())) == len(Sample.files) + 1
    assert states == {contents()["note.txt"], "none", "new"}


def test_a_table_of_countless_rows_is_not_opened(tmp_path, monkeypatch):
    """A few kilobytes of Parquet can hold billions of equal rows."""
    monkeypatch.setattr("schemas.artifact_files.UNPACKED_LIMIT_BYTES", 1_000_000)
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(pd.DataFrame({"kernel": [1] * 200_000}), preserve_index=False), file)
    assert file.stat().st_size < 10_000
    with pytest.raises(ValueError, match="200000 rows of 1 columns would take more than 1000000 bytes"):
        Sample.files["rows.parquet"].load(file)


def test_what_a_killed_job_left_beside_an_artifact_harms_nothing(tmp_path):
    write(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / ".a-left")
    assert Sample.read(tmp_path / "a")["note.txt"] == contents()["note.txt"]
