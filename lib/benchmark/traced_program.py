"""EfficientNets as the FAST paper has them: traced once and kept, since tracing takes half a minute."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lib.code_fingerprint import ROOT, code_fingerprint
from schemas.artifact import ArtifactError
from schemas.program_artifact import ProgramArtifact
from schemas.workload import Workload

BUILDER = "workflow.studies.fast_workloads"


def traced_program(folder: Path, variant: str = "b7") -> Path:
    """Folder of the program's artifact below `folder`; traced anew where the code behind it has changed."""
    workload = Workload(builder=f"{BUILDER}:efficientnet", arguments={"variant": variant}, family="efficientnet")
    spec = workload.resolved(f"efficientnet-{variant}")
    target = folder / spec["id"]
    code = code_fingerprint(ROOT / "workflow" / "scripts" / "program.py", BUILDER)
    if _code_of(target) != code:
        _trace_apart(target, spec, code)
    return target


def _trace_apart(folder: Path, spec: dict[str, Any], code: str) -> None:
    """In a process of its own: TensorFlow's threads and memory would be part of what is measured afterwards."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(_trace, folder, spec, code).result()


def _code_of(folder: Path) -> str | None:
    try:
        return ProgramArtifact.read_manifest(folder).code
    except ArtifactError:
        return None


def _trace(folder: Path, spec: dict[str, Any], code: str) -> None:
    """TensorFlow's messages go to a file beside the artifact."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".log").open("wb") as log:
        os.dup2(log.fileno(), 2)
    from lib.frontends import trace
    from lib.program.program_table import program_to_arrays
    from lib.program.simplify import simplify

    program = simplify(trace(spec, ROOT), spec["sizing"]).with_batch(1)
    contents: dict[str, Any] = {"program.npz": program_to_arrays(program)}
    ProgramArtifact.write(folder, id=spec["id"], origin="none", code=code, spec=spec, contents=contents)
