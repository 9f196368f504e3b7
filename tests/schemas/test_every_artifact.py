"""What test_artifact.py and test_artifact_faults.py show of one artifact holds for every kind."""

import importlib
from pathlib import Path

import pytest

from schemas.artifact import Artifact
from schemas.artifact_files import ArraysSpec, ModelSpec, TableSpec, TextSpec

SCHEMAS = Path(__file__).parents[2] / "schemas"
MODULES = [importlib.import_module(f"schemas.{file.stem}") for file in sorted(SCHEMAS.glob("*_artifact.py"))]
KINDS = [
    kind
    for module in MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Artifact) and kind.__module__ == module.__name__
]


def test_all_are_here():
    assert {kind.__name__ for kind in KINDS} >= {
        "ProgramArtifact", "DatasetArtifact", "DifferenceArtifact", "ModelArtifact", "EvaluationArtifact",
        "AutotuneArtifact", "SearchArtifact", "SearchSummaryArtifact", "FidelityArtifact",
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_it_is_written_and_read_as_all_are(kind):
    """So it is refused when cut, garbled, of another version, or with a pickle or too much in it."""
    assert kind.files
    assert {type(file) for file in kind.files.values()} <= {TableSpec, ArraysSpec, ModelSpec, TextSpec}
    assert not {"write", "read", "read_manifest"} & set(vars(kind))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_its_runtimes_are_finite_and_not_negative(kind):
    for name, table in kind.files.items():
        if isinstance(table, TableSpec):
            for column, said in table.columns.items():
                if column.endswith("runtime_s"):
                    assert said.minimum is not None, f"{name}: {column}"
                    assert said.minimum >= 0, f"{name}: {column}"
