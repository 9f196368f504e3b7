"""What two runs of one study must have in common."""

from pathlib import Path

APART = ("report", "log", "benchmark", ".journal")
"""What a run says of times and places."""


def artifact_files(results: Path) -> dict[str, bytes]:
    """All files of all artifacts, by their path in the results."""
    files = (file for file in results.rglob("*") if file.is_file() and file.relative_to(results).parts[0] not in APART)
    return {file.relative_to(results).as_posix(): file.read_bytes() for file in files}


def different_files(one: Path, other: Path) -> list[str]:
    """Files that only one of two results has, or that differ."""
    first, second = artifact_files(one), artifact_files(other)
    assert first, f"{one} holds no artifact"
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
