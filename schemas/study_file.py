"""Reading a study file: every problem at once, each with its line and what is allowed."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schemas.builder_module import builder_problem
from schemas.problem import Problem, got
from schemas.study import SECTIONS, Study
from schemas.study_references import id_problems
from schemas.validation_messages import problems_of
from schemas.workload import FILES, written_ids
from schemas.yaml_source import YamlError, YamlSource, read_yaml

LARGEST_BYTES = 4 * 2**20
"""Of a study file; a large study has some ten thousand bytes."""
TEMPLATE = "__use_yte__"
"""The key by which Snakemake takes a YAML file for a template, whose expressions it runs as Python."""
OVERRIDABLE = ("seed", "results", "measurements")
"""Top-level scalars that the command line may override."""
_REFUSED = (
    f"only {', '.join(OVERRIDABLE[:-1])} and {OVERRIDABLE[-1]} can be overridden on the command line; "
    "for anything else edit the study or give another one with --configfile"
)


class StudyError(Exception):
    """A study that can't be used; the message lists every problem, a line each."""


def only_study(files: Sequence[Path]) -> Path:
    """The one file of `--configfile`, which takes all words that follow. Raises StudyError."""
    if len(files) > 1:
        given = ", ".join(str(file) for file in files)
        raise StudyError(
            f"A study is one file; --configfile was given {given}. Give one of them; --configfile takes all words that "
            "follow, so what is to be made goes before it."
        )
    return files[0]


def load_study(path: str | Path, overrides: dict[str, Any] | None = None) -> Study:
    """The checked study of a file.

    `overrides` are snakemake's `--config` values; only `seed` and `results` can be overridden. Raises
    StudyError that lists all problems as `FILE:LINE: dotted.key: got ...; allowed: ...`, sorted by line.
    """
    path = _relative(Path(path))
    source = read_study_file(path)
    overrides = overrides or {}
    study, found = _checked(source.data | {key: overrides[key] for key in OVERRIDABLE if key in overrides}, path.parent)
    problems = [problem for problem in [*source.problems, *found] if not _overridden(problem, overrides)]
    located = sorted(
        ((problem.line or source.line(problem.path), problem) for problem in problems), key=lambda pair: pair[0]
    )
    messages = [
        *refused_overrides(overrides),
        *(f"--config: {_message(problem)}" for problem in found if _overridden(problem, overrides)),
        *(f"{path}:{line}: {_message(problem)}" for line, problem in located),
    ]
    if messages:
        raise StudyError("\n".join(messages))
    return study


def refused_overrides(keys: Iterable[str]) -> list[str]:
    """A line for each key that `--config` can't override."""
    return [f"--config: {key}: {_REFUSED}" for key in keys if key not in OVERRIDABLE]


def _relative(path: Path) -> Path:
    """The path as seen from the working directory, if it lies in it: shorter in messages."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _overridden(problem: Problem, overrides: dict[str, Any]) -> bool:
    return bool(problem.path) and problem.path[0] in overrides


def _message(problem: Problem) -> str:
    return ": ".join([".".join(str(part) for part in problem.path), problem.text] if problem.path else [problem.text])


def read_study_file(path: Path) -> YamlSource:
    """The file as plain data, a mapping; what stands in it is not checked yet. Raises StudyError."""
    try:
        if path.exists() and not path.is_dir() and not path.is_file():
            raise StudyError(f"{path}: is no file but a device or a pipe; a study is one YAML file")
        if path.is_file() and (size := path.stat().st_size) > LARGEST_BYTES:
            raise StudyError(f"{path}: has {size} bytes; allowed: at most {LARGEST_BYTES}; a study is one YAML file")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        remedy = "name one that is there (snakemake: --configfile FILE, make: STUDY=FILE)"
        raise StudyError(f"{path}: there is no such study file; {remedy}") from None
    except IsADirectoryError:
        raise StudyError(f"{path}: is a folder; a study is one YAML file") from None
    except UnicodeDecodeError:
        raise StudyError(f"{path}: is not a text file in UTF-8; a study is one YAML file") from None
    except OSError as error:
        raise StudyError(f"{path}: can't be read: {error.strerror}") from None
    try:
        source = read_yaml(text)
    except YamlError as error:
        raise StudyError(f"{path}:{error.line}: {error.problem}") from None
    sections = ", ".join(Study.model_fields)
    if source.data is None:
        raise StudyError(f"{path}: the study is empty; allowed keys: {sections}")
    if not isinstance(source.data, dict):
        raise StudyError(f"{path}:1: {got(source.data)}; allowed: a mapping with the keys {sections}")
    if TEMPLATE in source.data:
        where = f"{path}:{source.line((TEMPLATE,))}: {TEMPLATE}"
        raise StudyError(f"{where}: a study is plain data without code; allowed keys: {sections}")
    return source


def _checked(data: dict[str, Any], folder: Path) -> tuple[Study, list[Problem]]:
    """The study and all of its problems; broken entries are taken out, so that the rest is checked too."""
    problems = list(id_problems(data))
    inconsistencies: list[Problem] = []
    known = {section: _ids(data.get(section)) for section in SECTIONS}
    if known["workloads"]:
        known["workloads"] = [id for ids in written_ids(data["workloads"]).values() for id in ids]
    context = {"known": known, "problems": inconsistencies, "folder": folder}
    try:
        study = Study.model_validate(data, context=context)
    except ValidationError as error:
        problems += problems_of(error, Study)
        sound = _without(data, {details["loc"][:2] for details in error.errors(include_url=False)})
        study = Study.model_validate(sound, context=context)
    return study, [*problems, *inconsistencies, *_source_problems(study, folder)]


def _ids(section: Any) -> list[str]:
    return list(section) if isinstance(section, dict) else []


def _without(data: dict[str, Any], broken: set[tuple[int | str, ...]]) -> dict[str, Any]:
    """The data without broken entries of sections, and without broken keys at the top."""
    sound = {}
    for key, value in data.items():
        if (key,) in broken:
            continue
        if key in SECTIONS and isinstance(value, dict):
            value = {id: entry for id, entry in value.items() if (key, id) not in broken}
        sound[key] = value
    return sound


def _source_problems(study: Study, folder: Path) -> list[Problem]:
    """Files and modules of workloads that don't exist."""
    problems = []
    for id, workload in {study.program_of(id): entry for id, entry in study.workloads.items()}.items():
        key = workload.source
        if key in FILES:
            name = getattr(workload, key)
            is_folder = key == "saved_model"
            if not ((folder / name).is_dir() if is_folder else (folder / name).is_file()):
                text = f"{got(name)}; there is no {'folder' if is_folder else 'file'} {folder / name}"
                problems.append(Problem(("workloads", id, key), text))
        wrong = builder_problem(workload.builder, folder) if workload.builder is not None else None
        if wrong is not None:
            problems.append(Problem(("workloads", id, "builder"), f"{got(workload.builder)}; {wrong}"))
    return problems
