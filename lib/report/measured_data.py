"""What the shards of measured variants say besides their labels, for the report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from lib.dataset.shards import Shard, load_shards
from schemas.artifact import Manifest

SHARD_COLUMNS = (
    "dataset", "task", "hardware", "workload", "kernels", "rows", "failed", "noise_floor_pct", "noise_limit_pct",
    "load_average", "default_sum_s", "whole_program_s", "whole_program_message",
)  # fmt: skip
FAILURE_COLUMNS = ("hardware", "workload", "kernel", "tile", "message")
BESIDE_COLUMNS = (
    "hardware", "simulated_on", "workload", "root", "kernel_class", "executions", "runtime_s", "predicted_s",
)  # fmt: skip


def _empty(columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(columns=list(columns))


@dataclass(frozen=True)
class MeasuredData:
    """Empty of a study that measures nothing."""

    shards: pd.DataFrame = field(default_factory=lambda: _empty(SHARD_COLUMNS))
    """One row a measured shard."""
    failures: pd.DataFrame = field(default_factory=lambda: _empty(FAILURE_COLUMNS))
    """One row a kernel or tile that was left out; `tile` as text, empty: the compiler's own pick."""
    devices: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Hardware variant to what its first shard's manifest says of the device."""
    beside: pd.DataFrame = field(default_factory=lambda: _empty(BESIDE_COLUMNS))
    """One row a kernel of the fusion task that a simulated variant of the study has too: measured `runtime_s`,
    simulated `predicted_s`."""


def read_measured(shards: Mapping[Path, Manifest]) -> MeasuredData:
    """Of all shards of a study, by folder. Raises ArtifactError for a damaged one."""
    measured = {folder: manifest for folder, manifest in shards.items() if manifest.origin == "measured"}
    if not measured:
        return MeasuredData()
    rows, failures = [], []
    devices: dict[str, dict[str, Any]] = {}
    for folder, manifest in measured.items():
        dataset, task, hardware, workload = folder.parts[-4:]
        device = manifest.device or {}
        devices.setdefault(hardware, device)
        failed = device.get("failures", [])
        counts = manifest.files["kernels.parquet"].rows, manifest.files["rows.parquet"].rows
        about = [device.get(name) for name in SHARD_COLUMNS[7:]]
        rows.append((dataset, task, hardware, workload, *counts, len(failed), *about))
        failures += [
            (hardware, workload, one["kernel"], "x".join(map(str, one["tile"] or [])), one["message"]) for one in failed
        ]
    return MeasuredData(
        shards=pd.DataFrame(rows, columns=list(SHARD_COLUMNS)),
        failures=pd.DataFrame(failures, columns=list(FAILURE_COLUMNS)),
        devices=devices,
        beside=_beside(shards),
    )


def _beside(shards: Mapping[Path, Manifest]) -> pd.DataFrame:
    """Measured and simulated shards of the fusion task share kernels where they are of one workload and were drawn
    alike, which fingerprints tell."""
    of_origin: dict[str, dict[str, list[Path]]] = {"measured": {}, "simulated": {}}
    for folder, manifest in shards.items():
        if manifest.origin in of_origin and manifest.spec["task"] == "fusion":
            of_origin[manifest.origin].setdefault(manifest.spec["workload"], []).append(folder)
    frames = [
        _joined(measured, simulated)
        for workload in sorted(set(of_origin["measured"]) & set(of_origin["simulated"]))
        for measured in load_shards(map(str, of_origin["measured"][workload]))
        for simulated in load_shards(map(str, of_origin["simulated"][workload]))
    ]
    return pd.concat(frames, ignore_index=True) if frames else _empty(BESIDE_COLUMNS)


def _joined(measured: Shard, simulated: Shard) -> pd.DataFrame:
    table = measured.table.assign(
        hardware=measured.hardware,
        simulated_on=simulated.hardware,
        workload=measured.workload,
        executions=measured.table["default_executions"],
        runtime_s=measured.rows["runtime_s"].to_numpy(),
        fingerprint=measured.kernels.fingerprint,
    )
    theirs = pd.Series(simulated.rows["runtime_s"].to_numpy(), index=simulated.kernels.fingerprint)
    table["predicted_s"] = table["fingerprint"].map(theirs)
    return table.dropna(subset=["predicted_s"])[list(BESIDE_COLUMNS)]
