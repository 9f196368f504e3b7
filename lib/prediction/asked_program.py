"""The program to predict: a folder that the workflow has made, or a file with an HLO module."""

from pathlib import Path
from typing import Literal

from lib.cost.explain import read_program
from lib.program.program import Program

Sizing = Literal["bfloat16", "as-traced"]


def program_at(
    path: Path, *, batch: int | None = None, sizing: Sizing = "bfloat16", trip_count: int | None = None
) -> Program:
    """The simplified program at `path`.

    `batch`: instead of the traced program's own; the sizes of an HLO file are fixed. `sizing` and `trip_count`: of an
    HLO file, as the keys of a workload. Raises ValueError and FrontendError in words about the path.
    """
    if path.is_dir():
        program = read_program(path)
        return program if batch is None else program.with_batch(batch)
    if not path.exists():
        raise ValueError(f"{path}: there is no such file or folder; give RESULTS/program/WORKLOAD or a file with HLO")
    if batch is not None:
        raise ValueError(f"{path}: the sizes in an HLO file are fixed; leave --batch out, or trace the model anew")
    return _program_of_hlo(path, sizing, trip_count)


def _program_of_hlo(path: Path, sizing: Sizing, trip_count: int | None) -> Program:
    from lib.frontends import trace  # imports TensorFlow
    from lib.program.simplify import simplify

    spec = {
        "id": path.stem,
        "source": {"kind": "hlo", "name": path.name},
        "batch": 1,
        "trip_count": trip_count,
    }
    return simplify(trace(spec, path.parent), sizing)
