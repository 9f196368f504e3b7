"""The program to predict: a folder that the workflow has made, or a file that holds a model or a tensor program."""

from pathlib import Path
from typing import Literal

from lib.cost.explain import read_program
from lib.program.program import Program
from schemas.artifact import MANIFEST
from schemas.workload import FIXED_BATCH, Workload

Sizing = Literal["bfloat16", "as-traced"]
SOURCE_OF_SUFFIX = {".keras": "keras_file", ".mlir": "stablehlo", ".mlirbc": "stablehlo", ".stablehlo": "stablehlo"}
"""Key of a workload by the file's suffix; any other file holds an HLO module."""
SAVED_MODEL = "saved_model.pb"
"""What a SavedModel's folder holds."""


def program_at(
    path: Path, *, batch: int | None = None, sizing: Sizing = "bfloat16", trip_count: int | None = None
) -> Program:
    """The simplified program at `path`: a folder RESULTS/program/WORKLOAD, a file with HLO or StableHLO, a Keras file
    or a SavedModel.

    `batch`: instead of the traced program's own; sizes in HLO and StableHLO are fixed. `sizing` and `trip_count`: of a
    file, as the keys of a workload. Raises ValueError and FrontendError in words about the path.
    """
    if not path.exists():
        raise ValueError(
            f"{path}: there is no such file or folder; give RESULTS/program/WORKLOAD or a file, e.g. with an HLO module"
        )
    source = source_of(path)
    if source is None:
        program = read_program(path)
        return program if batch is None else program.with_batch(batch)
    if batch is not None and source in FIXED_BATCH:
        raise ValueError(f"{path}: the sizes in an HLO file are fixed; leave --batch out, or trace the model anew")
    entry = {source: path.name, "batch": batch or 1, "sizing": sizing, "trip_count": trip_count}
    return _traced(Workload.model_validate(entry), path)


def source_of(path: Path) -> str | None:
    """The key of a workload that reads the file or folder; None for a program's folder and any other."""
    if path.is_dir():
        return "saved_model" if (path / SAVED_MODEL).exists() and not (path / MANIFEST).exists() else None
    return SOURCE_OF_SUFFIX.get(path.suffix, "hlo")


def batch_of(path: Path, program: Program) -> int | None:
    """Samples of a run of the program at `path`; None where its file does not tell."""
    return None if source_of(path) in FIXED_BATCH else program.batch


def _traced(workload: Workload, path: Path) -> Program:
    from lib.frontends import trace  # imports TensorFlow
    from lib.program.simplify import simplify

    return simplify(trace(workload.resolved(path.stem), path.parent), workload.sizing).with_batch(workload.batch)
