"""Artifacts: the validated folders that pass between the rules of the workflow.

An artifact is one folder with a `manifest.json` and the files that its class declares. It is checked
when it is written and when it is read; a damaged, hand-edited or older one is refused with its path,
the field and what to do. Files are written beside the folder and moved in, the manifest last, so a
reader never sees half an artifact.
"""

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel, ValidationError

from schemas.artifact_files import FileSpec
from schemas.base import StrictModel
from schemas.software import software_versions

Origin = Literal["simulated", "measured", "recorded", "none"]
MANIFEST = "manifest.json"
REMEDY = "delete the folder and run snakemake again to make it anew"
NOT_WRITTEN = "nothing was written; this is a fault of the program (or of your builder), please report it"


class ArtifactError(Exception):
    """An artifact that can't be trusted; the message names path, field and remedy."""

    def __init__(self, path: Path, field: str, problem: str, remedy: str = REMEDY):
        super().__init__(f"{path}: {field}: {problem}\n  what to do: {remedy}")
        self.path, self.field, self.problem = path, field, problem

    @property
    def is_another_folder(self) -> bool:
        """Whether there is no artifact of the wanted kind at all, rather than a damaged one."""
        return self.field == "schema_name" or (self.path.name == MANIFEST and self.field == "file")


class FileEntry(StrictModel):
    """One file of an artifact."""

    sha256: str
    """Of the file's bytes, hexadecimal."""
    bytes: int
    """Size of the file in bytes."""
    rows: int | None
    """Rows of a table, None for other files."""


class Manifest(StrictModel):
    """What an artifact is and where it comes from; no times, so that equal runs give equal bytes."""

    schema_name: str
    """The artifact class's name."""
    version: int
    """The artifact class's version; an older one is refused."""
    id: str
    """What the artifact is of, e.g. `default/tile/tpu-v3/mobilenet-v2`."""
    origin: Origin
    """Where the runtimes in it come from."""
    code: str
    """Fingerprint of the script that made it and of all repository modules that the script imports."""
    spec: Any
    """The resolved study entry that it was made from."""
    files: dict[str, FileEntry]
    """File name to checksum."""
    software: dict[str, str]
    """Versions of Python and of the libraries that shape the numbers."""
    device: dict[str, Any] | None = None
    """Of measured runtimes: the device, its software, how it was measured, how noisy it was. Else not written."""


class Artifact:
    """Base class. A subclass names its version and its files; contents are reached with :meth:`__getitem__`."""

    version: ClassVar[int] = 1
    files: ClassVar[dict[str, FileSpec]] = {}

    def __init__(self, manifest: Manifest, contents: dict[str, Any]):
        self.manifest = manifest
        self._contents = contents

    def __getitem__(self, name: str) -> Any:
        """The content of a file: DataFrame, dict of arrays, pydantic model or text."""
        return self._contents[name]

    @classmethod
    def write(
        cls,
        path: str | os.PathLike[str],
        *,
        id: str,
        origin: Origin,
        code: str,
        spec: Any,
        contents: dict[str, pd.DataFrame | dict[str, np.ndarray] | BaseModel | str],
        device: dict[str, Any] | None = None,
    ) -> Self:
        """Validate `contents` and make the folder `path` hold exactly them; `device` is that of measured runtimes.

        Raises ArtifactError naming the file and field that don't fit the class's declaration.
        """
        target = Path(path)
        missing, extra = set(cls.files) - set(contents), set(contents) - set(cls.files)
        if missing or extra:
            raise ArtifactError(
                target,
                "files",
                f"missing {sorted(missing)}, not declared {sorted(extra)}",
                NOT_WRITTEN,
            )
        cls._validate(target, contents, NOT_WRITTEN)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            entries = {}
            for name, spec_of_file in sorted(cls.files.items()):
                spec_of_file.save(draft / name, contents[name])
                entries[name] = FileEntry(
                    sha256=_sha256(draft / name),
                    bytes=(draft / name).stat().st_size,
                    rows=spec_of_file.rows(contents[name]),
                )
            manifest = Manifest(
                schema_name=cls.__name__, version=cls.version, id=id, origin=origin, code=code, spec=spec,
                files=entries, software=software_versions(), device=device,
            )  # fmt: skip
            written = manifest.model_dump(mode="json", exclude={"device"} if device is None else None)
            text = json.dumps(written, indent=1, sort_keys=True, allow_nan=False)
            (draft / MANIFEST).write_text(text + "\n", encoding="utf-8")
            target.mkdir(exist_ok=True)
            (target / MANIFEST).unlink(missing_ok=True)
            for stale in set(os.listdir(target)) - set(cls.files):
                stale_path = target / stale
                shutil.rmtree(stale_path) if stale_path.is_dir() else stale_path.unlink()
            for name in [*sorted(cls.files), MANIFEST]:
                os.replace(draft / name, target / name)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return cls(manifest, dict(contents))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read and check the folder `path` (or the path of its manifest).

        Raises ArtifactError for a missing, damaged, hand-edited, foreign or older artifact.
        """
        folder = Path(path)
        if folder.name == MANIFEST:
            folder = folder.parent
        manifest = cls.read_manifest(folder)
        contents = {}
        for name, spec_of_file in cls.files.items():
            file = folder / name
            entry = manifest.files.get(name)
            if entry is None:
                raise ArtifactError(folder / MANIFEST, f"files.{name}", "not listed")
            if not file.is_file():
                raise ArtifactError(file, "file", "missing")
            if file.stat().st_size != entry.bytes:
                raise ArtifactError(file, "size", f"{file.stat().st_size} bytes where the manifest says {entry.bytes}")
            if _sha256(file) != entry.sha256:
                raise ArtifactError(file, "sha256", "the content is not what the manifest was written for")
            try:
                contents[name] = spec_of_file.load(file)
            except Exception as error:
                raise ArtifactError(file, "content", f"can't be read: {error}") from error
        cls._validate(folder, contents, REMEDY)
        return cls(manifest, contents)

    @classmethod
    def read_manifest(cls, folder: Path) -> Manifest:
        """The manifest alone, checked for this class and version."""
        file = Path(folder) / MANIFEST
        try:
            manifest = Manifest.model_validate_json(file.read_bytes())
        except FileNotFoundError as error:
            raise ArtifactError(file, "file", "missing") from error
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "content"
            raise ArtifactError(file, field, first["msg"]) from error
        if manifest.schema_name != cls.__name__:
            raise ArtifactError(file, "schema_name", f"is a {manifest.schema_name}, expected a {cls.__name__}")
        if manifest.version != cls.version:
            raise ArtifactError(file, "version", f"is {manifest.version}, this program reads {cls.version}")
        return manifest

    @classmethod
    def _validate(cls, path: Path, contents: dict[str, Any], remedy: str) -> None:
        for name, spec_of_file in cls.files.items():
            problem = spec_of_file.problem(contents[name])
            if problem:
                field, text = problem
                raise ArtifactError(path / name, field, text, remedy)
        problem = cls.check(contents)
        if problem:
            raise ArtifactError(path, *problem, remedy)

    @classmethod
    def check(cls, contents: dict[str, Any]) -> tuple[str, str] | None:
        """Checks across files, for subclasses: (field, problem) or None."""
        return None


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
