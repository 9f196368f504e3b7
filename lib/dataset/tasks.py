"""Makes the shards of the two tasks: tiles of a kernel, and kernels under fusion configurations."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.cost.cost_model import CostModel
from lib.dataset.labels import labelled_rows
from lib.dataset.seeds import shard_seed
from lib.fusion import FusionSpace
from lib.fusion.default_kernels import default_kernels
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.program.extraction import KernelExtractor, ProgramKernels
from lib.program.kernels import KERNEL_CLASSES, Kernels, concatenate, kernels_to_arrays, take, unique
from lib.program.program import Program
from lib.schedule.default import NoTileFits, default_schedule
from lib.schedule.tiles import tile_counts, tile_space_and_default


class NothingToLabel(ValueError):
    """A task that has no rows of a program."""


class ShardContents(NamedTuple):
    """What a shard holds; see `schemas.dataset_artifact.DatasetArtifact` for the columns."""

    kernels: Kernels
    table: pd.DataFrame
    rows: pd.DataFrame
    configurations: pd.DataFrame

    def files(self) -> dict:
        """Contents of the artifact's files by name."""
        return {
            "kernels.npz": kernels_to_arrays(self.kernels),
            "kernels.parquet": self.table,
            "rows.parquet": self.rows,
            "configurations.parquet": self.configurations,
        }


def make_shard(program: Program, spec: Mapping[str, Any], label: CostModel, analytical: CostModel) -> ShardContents:
    """The shard of a resolved entry `spec` of a dataset, of a program at its batch.

    Raises ValueError naming workload and hardware where a kernel can't run there or the task has no rows.
    """
    datapath = datapath_from_spec(spec["hardware"]["datapath"])
    seed = shard_seed(spec["seed"], spec["workload"])
    try:
        if spec["task"] == "tile":
            kernels = default_kernels(program)
            return tile_shard(kernels, datapath, label, analytical, spec["tiles_per_kernel"], seed)
        return fusion_shard(program, datapath, label, analytical, spec["configurations"], seed)
    except (NoTileFits, NothingToLabel) as error:
        where = f"workload '{spec['workload']}' on hardware '{spec['hardware']['id']}', {spec['task']} task"
        raise ValueError(f"{where}: {error}") from error


def tile_shard(
    program_kernels: ProgramKernels,
    datapath: Datapath,
    label: CostModel,
    analytical: CostModel,
    tiles_per_kernel: int,
    seed: int,
) -> ShardContents:
    """The tile task: up to `tiles_per_kernel` tiles, the default one among them, of each kernel of the
    default fusion that has a choice (two tiles or more).

    Raises NothingToLabel where none has, and NoTileFits for a kernel of which no tile fits.
    """
    counts = tile_counts(program_kernels.kernels, datapath)
    if not counts.all():
        default_schedule(program_kernels.kernels, datapath, program_kernels.roots)  # which says what does not fit
    chosen = np.flatnonzero(counts >= 2)
    if not len(chosen):
        raise NothingToLabel(
            f"none of the program's {program_kernels.kernels.number} kernels has a choice of tiles on this hardware,"
            " so the tile task has no rows of it; give the workload a larger batch, or leave it or the hardware out of"
            " the dataset"
        )
    kernels = take(program_kernels.kernels, chosen)
    schedules, is_default = tile_space_and_default(kernels, datapath, tiles_per_kernel, seed)
    executions = program_kernels.executions[chosen].astype(np.int32)
    roots = [program_kernels.roots[index] for index in chosen]
    return ShardContents(
        kernels=kernels,
        table=_kernel_table(kernels, roots, executions),
        rows=labelled_rows(kernels, schedules, is_default, datapath, label, analytical),
        configurations=_configuration_table([(np.arange(kernels.number), executions)]),
    )


def fusion_shard(
    program: Program,
    datapath: Datapath,
    label: CostModel,
    analytical: CostModel,
    configurations: int,
    seed: int,
) -> ShardContents:
    """The fusion task: all distinct kernels of the default fusion and of `configurations` random ones, each
    with its default tile. Raises NoTileFits."""
    rng = np.random.default_rng(seed)
    space, extractor = FusionSpace(program), KernelExtractor(program)
    fusions = [space.default()] + [space.random(rng) for _ in range(configurations)]
    parts = [extractor.extract(space.group(fuse)) for fuse in fusions]
    kernels, place = unique(concatenate([part.kernels for part in parts]))
    places = np.split(place, np.cumsum([part.kernels.number for part in parts])[:-1])
    executions = np.zeros(kernels.number, dtype=np.int32)
    executions[places[0]] = parts[0].executions
    _, first = np.unique(place, return_index=True)
    all_roots = [root for part in parts for root in part.roots]
    roots = [all_roots[index] for index in first]
    return ShardContents(
        kernels=kernels,
        table=_kernel_table(kernels, roots, executions),
        rows=labelled_rows(
            kernels,
            default_schedule(kernels, datapath, roots),
            np.ones(kernels.number, dtype=bool),
            datapath,
            label,
            analytical,
        ),
        configurations=_configuration_table([(p, part.executions) for p, part in zip(places, parts, strict=True)]),
    )


def _kernel_table(kernels: Kernels, roots: list[str], executions: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "kernel": np.arange(kernels.number, dtype=np.int32),
            "kernel_class": np.array(KERNEL_CLASSES, dtype=object)[kernels.kernel_class],
            "root": np.array(roots, dtype=object),
            "default_executions": executions,
        }
    )


def _configuration_table(configurations: list[tuple[np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """One row a configuration and kernel, from (kernel int[n], executions int[n]) of each configuration."""
    lengths = [len(kernel) for kernel, _ in configurations]
    table = pd.DataFrame(
        {
            "configuration": np.repeat(np.arange(len(configurations), dtype=np.int32), lengths),
            "kernel": np.concatenate([kernel for kernel, _ in configurations]).astype(np.int32),
            "executions": np.concatenate([executions for _, executions in configurations]).astype(np.int32),
        }
    )
    return table.sort_values(["configuration", "kernel"], ignore_index=True)
