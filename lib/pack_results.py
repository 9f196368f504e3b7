"""A study's results as one file, for another machine or checkout: `make pack STUDY=...`, there `make unpack FILE=...`.

The file is a plain tar of the folder of results (artifacts, journals, logs, benchmarks, with their dates) and of
Snakemake's records of them. Records are needed there to see later which jobs an edit makes stale, and journals so that
a search with more trials goes on where it was.
"""

import io
import json
import os
import shutil
import tarfile
import tempfile
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from lib.command_line import run_command
from lib.job import print_answer
from schemas.study_file import load_study

RECORDS = Path(".snakemake") / "metadata"
LOCKS = Path(".snakemake") / "locks"
ABOUT = "tilewright-results.json"
FORMAT = 1
USAGE = "usage: python -m lib.pack_results pack STUDY [FILE] | unpack FILE"
DRAFTS = (".scratch", ".draft")
"""Endings of what a job that was killed left behind."""


class PackError(Exception):
    """Results that can't be packed, or a file that can't be unpacked; the message says why and what to do."""


def pack(study: Path, file: Path | None = None) -> Path:
    """Write the results of `study`, which lie below the working directory, into `file` (default: `NAME.tar`).

    Raises PackError, StudyError.
    """
    results = Path(load_study(study).results)
    if results.is_absolute() or ".." in results.parts:
        raise PackError(f"{results}: only results below the working directory can be packed; set the study's `results`")
    if not any(results.glob("*")):
        raise PackError(f"{results}: there are no results of {study}; run it first")
    if any(LOCKS.glob("*")):
        raise PackError("a run works on these results, or was killed: wait until it has ended, or `snakemake --unlock`")
    file = file or Path(f"{results.name}.tar")
    draft = file.with_name(f".{file.name}.draft")
    try:
        with tarfile.open(draft, "w") as archive:
            about = json.dumps({"format": FORMAT, "results": results.as_posix()}).encode()
            entry = tarfile.TarInfo(ABOUT)
            entry.size = len(about)
            archive.addfile(entry, io.BytesIO(about))
            for path in [*_files_below(results), *_records_of(results)]:
                archive.add(path, path.as_posix(), recursive=False)
        os.replace(draft, file)
    finally:
        draft.unlink(missing_ok=True)
    return file


def unpack(file: Path) -> Path:
    """Put the results in `file` below the working directory, whole or not at all; returns their folder.

    Raises PackError.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=".unpack-", dir=".") as draft, tarfile.open(file, "r:") as archive:
            results = _results_in(archive, file)
            if results.exists():
                raise PackError(f"{results}: there are results already; move them away, or unpack in another folder")
            for member in archive:
                _extract(archive, member, results, Path(draft), file)
            results.parent.mkdir(parents=True, exist_ok=True)
            if (Path(draft) / RECORDS).is_dir():
                shutil.copytree(Path(draft) / RECORDS, RECORDS, dirs_exist_ok=True)
            os.replace(Path(draft) / results, results)
    except tarfile.TarError as error:
        raise PackError(f"{file}: is damaged, cut short or no file of `make pack` ({error}); copy it again") from None
    return results


def _files_below(results: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(results):
        folders[:] = sorted(name for name in folders if not name.endswith(DRAFTS))
        yield from (Path(folder) / name for name in sorted(files) if not name.endswith(DRAFTS))


def _records_of(results: Path) -> Iterator[Path]:
    """Snakemake's records of files in `results`: named like those in base 64, in several parts where that is long."""
    for record in sorted(path for path in RECORDS.rglob("*") if path.is_file()):
        parts = record.relative_to(RECORDS).parts
        encoded = "".join([part.removeprefix("@") for part in parts[:-1]] + [parts[-1]])
        if Path(urlsafe_b64decode(encoded).decode()).is_relative_to(results):
            yield record


def _results_in(archive: tarfile.TarFile, file: Path) -> Path:
    """The folder that the archive says it holds."""
    first = archive.next()
    stream = archive.extractfile(first) if first is not None and first.name == ABOUT else None
    if stream is None:
        raise PackError(f"{file}: is no file of `make pack`")
    about = json.loads(stream.read(10_000))
    if about["format"] != FORMAT:
        raise PackError(f"{file}: has format {about['format']}, this program reads {FORMAT}; pack it anew")
    results = Path(about["results"])
    if results.is_absolute() or ".." in results.parts or results == Path("."):
        raise PackError(f"{file}: its results would lie outside of the working directory, in {results}")
    return results


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, results: Path, draft: Path, file: Path) -> None:
    """Write one member below `draft`; only plain files of the results and records are taken."""
    name = PurePosixPath(member.name)
    if member.name == ABOUT:
        return
    inside = not name.is_absolute() and ".." not in name.parts and any(
        name.is_relative_to(folder.as_posix()) for folder in (results, RECORDS)
    )  # fmt: skip
    stream = archive.extractfile(member) if member.isreg() and inside else None
    if stream is None:
        raise PackError(f"{file}: holds {member.name}, which is no file of the results; nothing was unpacked")
    target = draft / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    os.utime(target, (member.mtime, member.mtime))


def main(arguments: list[str]) -> int:
    """Pack or unpack as the command line says; 1 and what is wrong on standard error if that can't be done."""

    def answer() -> str:
        match arguments:
            case ["pack", study, *file] if len(file) <= 1:
                written = pack(Path(study), Path(file[0]) if file and file[0] else None)
                return (
                    f"Packed: {written} ({written.stat().st_size / 1e6:.1f} MB). There: make unpack FILE={written.name}"
                )
            case ["unpack", file]:
                return f"Unpacked: {unpack(Path(file))}"
        raise PackError(USAGE)

    return print_answer(answer)


if __name__ == "__main__":
    run_command(main)
