"""`source:` of a dataset: files of recorded measurements in place of workloads."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import PrivateAttr, ValidationInfo, model_validator

from schemas.problem import Problem, got, inconsistent
from schemas.study_base import StudyModel

PARTS_OF_FOLDERS = {"train": "train", "valid": "validation", "validation": "validation", "test": "test"}
"""Part of the split by the name of a subfolder, as TpuGraphs calls them."""
_NUMBER = re.compile(r"_-?[0-9a-f]{6,}$")
"""What TpuGraphs puts behind a program's name for each of its kernels."""


class RecordedProgram(NamedTuple):
    """Recorded kernels of one program in one subfolder."""

    folder: str
    """The subfolder, which says what TpuGraphs uses the file for."""
    name: str
    """The program, as an id."""
    files: tuple[str, ...]
    """One a kernel, relative to the source's folder, sorted."""


class RecordedSource(StudyModel):
    """Where recorded labels come from."""

    tpugraphs: str
    """Folder, relative to the study file, whose subfolders hold npz files of TpuGraphs' tile collection, one a kernel.
    The kernels of a subfolder that belong to one program are called by both: `train-resnet-v1-50`."""
    _programs: dict[str, RecordedProgram] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _listed(self, info: ValidationInfo) -> "RecordedSource":
        folder = Path((info.context or {}).get("folder", ".")) / self.tpugraphs
        self._programs.update(_programs_in(folder))
        if not self._programs:
            text = f"{got(self.tpugraphs)}; allowed: a folder whose subfolders (train, valid, test) hold npz files"
            raise inconsistent([Problem(("tpugraphs",), text)])
        return self

    @property
    def programs(self) -> dict[str, RecordedProgram]:
        """By id, sorted."""
        return self._programs

    def split(self) -> dict[str, list[str]] | None:
        """The split that the subfolders say; None where one of the three parts has no folder, or a folder no part."""
        parts: dict[str, list[str]] = {"train": [], "validation": [], "test": []}
        for id, program in self._programs.items():
            if program.folder not in PARTS_OF_FOLDERS:
                return None
            parts[PARTS_OF_FOLDERS[program.folder]].append(id)
        return parts if all(parts.values()) else None

    def resolved(self, id: str) -> dict[str, Any]:
        """What a shard gets instead of a program."""
        return {"format": "tpugraphs", "files": list(self._programs[id].files)}


def _programs_in(folder: Path) -> dict[str, RecordedProgram]:
    files: dict[tuple[str, str], list[str]] = {}
    for path in sorted(folder.glob("*/*.npz")):
        key = path.parent.name, _NUMBER.sub("", path.stem)
        files.setdefault(key, []).append(f"{path.parent.name}/{path.name}")
    programs = [RecordedProgram(part, _slug(name), tuple(paths)) for (part, name), paths in files.items()]
    return {f"{_slug(program.folder)}-{program.name}": program for program in programs}


def _slug(name: str) -> str:
    """The name as part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
