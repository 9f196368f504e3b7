"""Hand-made shards for tests: runtimes in microseconds that can be checked with pencil and paper."""

from pathlib import Path

import numpy as np
import pandas as pd

from lib.dataset.shards import Shard
from lib.hardware.datapath import datapath_from_spec
from lib.program.kernels import KERNEL_CLASSES, Kernels, kernels_to_arrays, take
from schemas.dataset_artifact import ANALYTICAL_PARTS, TILE_COLUMNS, DatasetArtifact
from tests.kernel_examples import example_kernels

DATAPATH_SPEC = {
    "clock_hz": 1e9, "cores": 1, "pes_x": 1, "pes_y": 1, "systolic_rows": 128, "systolic_columns": 128,
    "vector_lanes": 512, "l1_config": "shared", "l1_input_bytes": 1 << 16, "l1_weight_bytes": 1 << 16,
    "l1_output_bytes": 1 << 16, "l2_config": "disabled", "l2_input_multiplier": 1, "l2_weight_multiplier": 1,
    "l2_output_multiplier": 1, "global_buffer_bytes": 1 << 24, "dram_kind": "hbm2", "dram_channels": 2,
    "dram_bytes_per_s": 4e11, "number_format": "bfloat16", "depthwise_mapping": "diagonal", "vector_path": "direct",
    "array_efficiency": 1.0, "register_sublanes": 8, "register_lanes": 128,
    "native_batch": 8,
}  # fmt: skip


def hand_made_shard(
    runtimes_us: list[list[float]],
    estimates_us: list[list[float]],
    *,
    executions: list[int] | None = None,
    default: list[int] | None = None,
    task: str = "tile",
    workload: str = "net",
    hardware: str = "edge",
    kernels: Kernels | None = None,
) -> Shard:
    """A shard of `len(runtimes_us)` of the example kernels; one inner list a kernel, one number a row.

    `executions`: of each kernel in the default fusion, 1 unless given. `default`: which row of each kernel is the
    default one, the first unless given. Tiles are made up: batch 1 everywhere.
    """
    count = len(runtimes_us)
    kernels = take(example_kernels(), np.arange(count)) if kernels is None else kernels
    times = np.array(executions or [1] * count, dtype=np.int32)
    chosen = default or [0] * count
    number = np.arange(count, dtype=np.int32)
    table = pd.DataFrame(
        {
            "kernel": number,
            "kernel_class": [KERNEL_CLASSES[c] for c in kernels.kernel_class],
            "root": [f"root-{k}" for k in range(count)],
            "default_executions": times,
        }
    )
    rows = pd.DataFrame({"kernel": np.repeat(number, [len(r) for r in runtimes_us])})
    for column in TILE_COLUMNS:
        rows[column] = np.int32(1)
    rows["is_default"] = [position == chosen[k] for k, r in enumerate(runtimes_us) for position in range(len(r))]
    rows["runtime_s"] = np.array([v for r in runtimes_us for v in r]) * 1e-6
    rows["analytical_s"] = np.array([v for r in estimates_us for v in r]) * 1e-6
    for part in ANALYTICAL_PARTS:
        rows[f"analytical_{part}"] = 1e-6
    runs = times > 0
    configurations = pd.DataFrame({"configuration": np.int32(0), "kernel": number[runs], "executions": times[runs]})
    return Shard(kernels, table, rows, configurations, workload, hardware, datapath_from_spec(DATAPATH_SPEC), task)


def write_shard(folder: Path, shard: Shard, *, dataset: str = "default") -> Path:
    """Write the shard as an artifact; returns the path of its manifest."""
    spec = {
        "dataset": dataset,
        "task": shard.task,
        "hardware": {"id": shard.hardware, "datapath": DATAPATH_SPEC},
        "workload": shard.workload,
    }
    contents = {
        "kernels.npz": kernels_to_arrays(shard.kernels),
        "kernels.parquet": shard.table,
        "rows.parquet": shard.rows,
        "configurations.parquet": shard.configurations,
    }
    DatasetArtifact.write(folder, id=folder.name, origin="simulated", code="", spec=spec, contents=contents)
    return folder / "manifest.json"
