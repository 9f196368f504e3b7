"""Journals: how far a long job is, on disk, so that it continues after a kill.

A journal is a folder `RESULTS/.journal/RULE/ID-FINGERPRINT`. It is no output of a rule: Snakemake deletes
declared outputs before it runs a job again. `records` holds one record a line and only ever grows; a record
is written through to the disk before the job goes on, and arrays that belong to it are there before it is.
So a kill at any moment, of the machine too, loses at most the work since the last record.

The fingerprint tells what would make other results: settings, code, data, software. Another one is another
journal, which starts anew. Rules leave out of it what may be raised without changing the results so far
(the trials of a search).
"""

import fcntl
import hashlib
import io
import json
import logging
import os
import platform
import shutil
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from schemas.software import software_versions

LOG = logging.getLogger("tilewright")

FOLDER = ".journal"
RECORDS = "records"
FINGERPRINT_DIGITS = 16


def fingerprint(
    spec: Mapping[str, Any], code: str, inputs: Iterable[str | os.PathLike[str]] = (), *, raisable: Collection[str] = ()
) -> str:
    """16 hexadecimal digits over what decides a job's results.

    `spec`: the job's settings, of which the keys in `raisable` are left out; `code`: fingerprint of its code;
    `inputs`: manifests, which hold the checksums of all data. Versions of the software count too.
    """
    settings = {key: value for key, value in spec.items() if key not in raisable}
    about = {"settings": settings, "code": code, "software": software_versions()}
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for manifest in inputs:
        digest.update(hashlib.sha256(Path(manifest).read_bytes()).digest())
    return digest.hexdigest()[:FINGERPRINT_DIGITS]


class JobRunsAlreadyError(RuntimeError):
    """Another process works on the same job of the same results."""


@contextmanager
def sole_job(results: Path, rule: str, id: str) -> Iterator[None]:
    """Keep other processes from working on job `id` of `rule` in these results meanwhile, whatever their settings.

    The operating system frees the lock with the process, however that ends. Raises JobRunsAlreadyError.
    """
    file = results / FOLDER / rule / f"{id}.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            owner = stream.read().strip() or "another process"
            raise JobRunsAlreadyError(
                f"{owner} works on {rule} {id} in {results} already (lock {file}). Wait until it has ended, or end it; "
                "give a second run another results folder."
            ) from None
        stream.truncate(0)
        stream.write(f"process {os.getpid()} on {platform.node()}")
        stream.flush()
        yield


class Journal:
    """Records of one job, in order; each a JSON object, some with arrays. One process writes at a time."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._records: list[dict[str, Any]] = []
        self._newest_arrays: str | None = None
        self._read()

    @classmethod
    def of_job(cls, results: Path, rule: str, id: str, fingerprint: str) -> Self:
        """The journal of job `id` of `rule`; logs what it starts from.

        Journals of the same id with other fingerprints are left alone: going back to their settings, code and
        data continues them.
        """
        rules_folder = results / FOLDER / rule
        journal = cls(rules_folder / f"{id}-{fingerprint}")
        others = [f for f in rules_folder.glob(f"{id}-{'?' * FINGERPRINT_DIGITS}") if f != journal.folder]
        if journal.records:
            LOG.info("continues from %s, %d records", journal.folder, len(journal.records))
        elif others:
            LOG.info("starts anew: settings, code, data or software are not those of %s", others[0])
        return journal

    @property
    def records(self) -> list[dict[str, Any]]:
        """All whole records, oldest first."""
        return list(self._records)

    def append(self, record: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None) -> None:
        """Add a record, on disk before this returns. `arrays` replace those of every earlier record."""
        self.folder.mkdir(parents=True, exist_ok=True)
        entry: dict[str, Any] = {"record": dict(record)}
        if arrays is not None:
            entry["arrays"] = f"{len(self._records)}.npz"
            content = io.BytesIO()
            np.savez(content, allow_pickle=False, **arrays)
            entry["sha256"] = hashlib.sha256(content.getbuffer()).hexdigest()
            _write_through(self.folder / entry["arrays"], content.getvalue())
        line = json.dumps(entry, sort_keys=True, allow_nan=True)  # NaN: no value
        with (self.folder / RECORDS).open("ab") as stream:
            stream.write(f"{zlib.crc32(line.encode()):08x} {line}\n".encode())
            stream.flush()
            os.fsync(stream.fileno())
        self._records.append(entry["record"])
        if arrays is not None:
            self._newest_arrays = entry["arrays"]
            for older in self.folder.glob("*.npz"):
                if older.name != self._newest_arrays:
                    older.unlink()

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that came with the newest record that had some; none without one."""
        if self._newest_arrays is None:
            return {}
        with np.load(self.folder / self._newest_arrays, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}

    def remove(self) -> None:
        """Delete the folder: the job has finished and what it made is elsewhere."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._records, self._newest_arrays = [], None

    def _read(self) -> None:
        """Take in the whole records; a line cut short by a kill is cut off, and one with other damage ends the rest."""
        file, good, sha256 = self.folder / RECORDS, 0, ""
        content = file.read_bytes() if file.is_file() else b""
        while (end := content.find(b"\n", good)) >= 0:
            check, _, line = content[good:end].partition(b" ")
            if check != b"%08x" % zlib.crc32(line):
                break
            entry = json.loads(line)
            self._records.append(entry["record"])
            if "arrays" in entry:
                self._newest_arrays, sha256 = entry["arrays"], entry["sha256"]
            good = end + 1
        if self._newest_arrays and not _has_sha256(self.folder / self._newest_arrays, sha256):
            LOG.warning("%s: missing or damaged, so the job starts anew", self.folder / self._newest_arrays)
            self.remove()
        elif good < len(content):
            LOG.warning("%s: the end is cut off or damaged; the first %d records hold", file, len(self._records))
            os.truncate(file, good)


def _write_through(file: Path, content: bytes) -> None:
    """Make `file` hold `content`, whole or not at all, on disk before this returns."""
    draft = file.with_name(f".{file.name}.draft")
    with draft.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(draft, file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _has_sha256(file: Path, sha256: str) -> bool:
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256
