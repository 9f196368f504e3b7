"""Reads the artifacts of a study for the report."""

import math
from pathlib import Path
from typing import Any

import pandas as pd

from lib.program.program_table import program_from_arrays
from lib.program.work import program_work
from lib.report.measured_data import read_measured
from lib.report.report_data import WALL_TIME_COLUMNS, ReportData
from schemas.artifact import Artifact, Manifest
from schemas.autotune_artifact import AutotuneArtifact
from schemas.dataset_artifact import DatasetArtifact
from schemas.difference_artifact import DifferenceArtifact
from schemas.evaluation_artifact import EvaluationArtifact
from schemas.fidelity_artifact import FidelityArtifact
from schemas.model_artifact import ModelArtifact
from schemas.program_artifact import ProgramArtifact
from schemas.search_artifact import SearchArtifact, SearchSummaryArtifact

MIB = 2**20


def read_report_data(spec: dict[str, Any], inputs: Any, results: Path) -> ReportData:
    """Read and check everything. `inputs`: lists of manifest paths named programs, shards,
    differences, models, evaluations, autotunes, searches, search_summaries, fidelity. Raises ArtifactError for a
    damaged artifact."""
    shards = {Path(path).parent: DatasetArtifact.read_manifest(Path(path).parent) for path in inputs.shards}
    models = _grouped(ModelArtifact, inputs.models)
    software: dict[str, str] = {}
    for manifest in (*shards.values(), *(seed.manifest for seeds in models.values() for seed in seeds)):
        software |= manifest.software
    return ReportData(
        spec=spec,
        programs=pd.DataFrame([_program_row(spec["workloads"], Path(path)) for path in inputs.programs]),
        shards=pd.DataFrame(
            [_shard_row(folder, manifest) for folder, manifest in shards.items()],
            columns=["dataset", "task", "hardware", "workload", "kernels", "rows"],
        ),
        models=models,
        evaluations={Path(path).parent.name: EvaluationArtifact.read(path) for path in inputs.evaluations},
        autotunes=_grouped(AutotuneArtifact, inputs.autotunes),
        searches=_grouped(SearchArtifact, inputs.searches),
        search_summaries={Path(path).parent.name: SearchSummaryArtifact.read(path) for path in inputs.search_summaries},
        differences={
            (Path(path).parent.parent.name, Path(path).parent.name): DifferenceArtifact.read(path)
            for path in inputs.differences
        },
        fidelity={Path(path).parent.name: FidelityArtifact.read(path) for path in inputs.fidelity},
        measured=read_measured(shards),
        wall_times=read_wall_times(results / "benchmark"),
        software=software,
        results=str(results),
    )


def _grouped(kind: type[Artifact], manifests: list[str]) -> dict[str, list[Any]]:
    """Artifacts at `.../ID/PART/manifest.json` by id, in the given order."""
    found: dict[str, list[Any]] = {}
    for manifest in manifests:
        found.setdefault(Path(manifest).parents[1].name, []).append(kind.read(manifest))
    return found


def _program_row(workloads: dict[str, Any], path: Path) -> dict[str, Any]:
    workload = workloads[path.parent.name]
    program = program_from_arrays(ProgramArtifact.read(path)["program.npz"]).with_batch(workload["batch"])
    work = program_work(program)
    return {
        "workload": workload["id"],
        "family": workload["family"],
        "mode": workload["mode"],
        "batch": workload["batch"],
        "instructions": len(program.instructions),
        "gflop": work["flops"] / 1e9,
        "weight_mib": work["weight_bytes"] / MIB,
    }


def _shard_row(folder: Path, manifest: Manifest) -> dict[str, Any]:
    dataset, task, hardware, workload = folder.parts[-4:]
    return {
        "dataset": dataset,
        "task": task,
        "hardware": hardware,
        "workload": workload,
        "kernels": manifest.files["kernels.parquet"].rows,
        "rows": manifest.files["rows.parquet"].rows,
    }


def read_wall_times(benchmarks: Path) -> pd.DataFrame:
    """Snakemake's benchmark files, one row a job, of its last run: rule, job, wall_s, cpu_s, max_rss_mb (the latter two
    NaN for very short jobs). A file that a kill left half-written is passed over."""
    rows = []
    for file in sorted(benchmarks.rglob("*.tsv")):
        rule, *job = file.relative_to(benchmarks).with_suffix("").parts
        try:
            last = pd.read_csv(file, sep="\t", na_values=["-", "NA"]).iloc[-1]
            row = rule, "/".join(job), float(last["s"]), float(last.get("cpu_time", math.nan)), float(last["max_rss"])
        except (pd.errors.EmptyDataError, pd.errors.ParserError, IndexError, KeyError, ValueError):
            continue
        rows.append(row)
    return pd.DataFrame(rows, columns=WALL_TIME_COLUMNS)
