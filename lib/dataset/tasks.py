"""Makes the shards of the two tasks: tiles of a kernel, and kernels under fusion configurations."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.cost.cost_model import CostModel
from lib.dataset.fusion_configurations import fusion_kernels
from lib.dataset.labels import labelled_rows
from lib.dataset.seeds import shard_seed
from lib.dataset.variants import datapaths_of
from lib.fusion.default_kernels import default_kernels
from lib.hardware.datapath import Datapath
from lib.program.extraction import ProgramKernels
from lib.program.kernels import KERNEL_CLASSES, Kernels, concatenate, kernels_to_arrays, take, unique
from lib.program.program import Program
from lib.schedule.default import NoTileFits, default_schedule
from lib.schedule.schedules import Schedules
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
    datapaths = datapaths_of(spec["hardware"])
    seed = shard_seed(spec["seed"], spec["workload"])
    most_kernels = spec.get("kernels_per_program")
    try:
        if spec["task"] == "tile":
            kernels, tiles = default_kernels(program), spec["tiles_per_kernel"]
            return tile_shard(kernels, datapaths, label, analytical, tiles, seed, most_kernels)
        walks, annealing = spec.get("walks", 0), spec.get("annealing", 0)
        parts = fusion_kernels(program, spec["configurations"], walks, annealing, seed)
        return fusion_shard(parts, datapaths, label, analytical, seed, most_kernels)
    except (NoTileFits, NothingToLabel) as error:
        where = f"workload '{spec['workload']}' on hardware '{spec['hardware']['id']}', {spec['task']} task"
        raise ValueError(f"{where}: {error}") from error


def tile_shard(
    program_kernels: ProgramKernels,
    datapaths: Mapping[str, Datapath],
    label: CostModel,
    analytical: CostModel,
    tiles_per_kernel: int,
    seed: int,
    most_kernels: int | None = None,
) -> ShardContents:
    """The tile task: up to `tiles_per_kernel` tiles, the default one among them, of each kernel of the default fusion
    that has a choice (two tiles or more) on the variant; of at most `most_kernels` kernels.

    Raises NothingToLabel where no kernel has a choice on any variant, and NoTileFits where no tile of one fits.
    """
    counts = {id: tile_counts(program_kernels.kernels, datapath) for id, datapath in datapaths.items()}
    for id, count in counts.items():
        if not count.all():  # the default schedule says what does not fit
            _named(id, datapaths, lambda d: default_schedule(program_kernels.kernels, d, program_kernels.roots))
    chosen = np.flatnonzero(np.max(list(counts.values()), axis=0) >= 2)
    if not len(chosen):
        raise NothingToLabel(
            f"none of the program's {program_kernels.kernels.number} kernels has a choice of tiles on this hardware,"
            " so the tile task has no rows of it; give the workload a larger batch, or leave it or the hardware out of"
            " the dataset"
        )
    kernels = take(program_kernels.kernels, chosen)
    chosen = chosen[sampled_kernels(kernels, most_kernels, seed)]
    kernels = take(program_kernels.kernels, chosen)
    frames = []
    for id, datapath in datapaths.items():
        with_choice = np.flatnonzero(counts[id][chosen] >= 2)
        some = take(kernels, with_choice)
        schedules, is_default = tile_space_and_default(some, datapath, tiles_per_kernel, seed)
        rows = labelled_rows(some, schedules, is_default, datapath, label, analytical)
        frames.append(rows.assign(kernel=with_choice[rows["kernel"].to_numpy()].astype(np.int32)))
    executions = program_kernels.executions[chosen].astype(np.int32)
    return ShardContents(
        kernels=kernels,
        table=kernel_table(kernels, [program_kernels.roots[index] for index in chosen], executions),
        rows=_rows_of_variants(frames),
        configurations=configuration_table([(np.arange(kernels.number), executions)]),
    )


def fusion_shard(
    parts: list[ProgramKernels],
    datapaths: Mapping[str, Datapath],
    label: CostModel,
    analytical: CostModel,
    seed: int,
    most_kernels: int | None = None,
) -> ShardContents:
    """The fusion task: all distinct kernels of the configurations `parts`, of which the first is the default one, or
    `most_kernels` of them drawn by the seed; each with its default tile on every variant. Raises NoTileFits."""
    distinct = distinct_kernels(parts)
    kernels, roots, runs = distinct = distinct.kept(sampled_kernels(distinct.kernels, most_kernels, seed))
    defaults = np.ones(kernels.number, dtype=bool)
    frames = []
    for id, datapath in datapaths.items():
        schedules = _named(id, datapaths, lambda d: default_schedule(kernels, d, roots))
        frames.append(labelled_rows(kernels, schedules, defaults, datapath, label, analytical))
    return ShardContents(
        kernels=kernels,
        table=kernel_table(kernels, roots, distinct.executions),
        rows=_rows_of_variants(frames),
        configurations=configuration_table(runs),
    )


class DistinctKernels(NamedTuple):
    """The distinct kernels of several configurations, some of them."""

    kernels: Kernels
    roots: list[str]
    """Name of the root where each first occurs."""
    runs: list[tuple[np.ndarray, np.ndarray]]
    """Of each configuration: kernels int32[n] and executions int32[n]."""

    @property
    def executions(self) -> np.ndarray:
        """int32[k] of the first configuration, the default one."""
        executions = np.zeros(self.kernels.number, dtype=np.int32)
        kernel, runs = self.runs[0]
        executions[kernel] = runs
        return executions

    def kept(self, kept: np.ndarray) -> "DistinctKernels":
        """The kernels `kept` (int64[m], ascending) alone."""
        number = np.full(self.kernels.number, -1, dtype=np.int32)
        number[kept] = np.arange(len(kept))
        runs = [(number[kernel], executions) for kernel, executions in self.runs]
        return DistinctKernels(
            take(self.kernels, kept),
            [self.roots[index] for index in kept],
            [(kernel[kernel >= 0], executions[kernel >= 0]) for kernel, executions in runs],
        )


def distinct_kernels(parts: list[ProgramKernels]) -> DistinctKernels:
    """All kernels of the configurations `parts`, each once; the first configuration is the default one."""
    kernels, place = unique(concatenate([part.kernels for part in parts]))
    _, first = np.unique(place, return_index=True)
    all_roots = [root for part in parts for root in part.roots]
    places = np.split(place.astype(np.int32), np.cumsum([part.kernels.number for part in parts])[:-1])
    runs = [(p, part.executions) for p, part in zip(places, parts, strict=True)]
    return DistinctKernels(kernels, [all_roots[index] for index in first], runs)


def sampled_kernels(kernels: Kernels, most: int | None, seed: int) -> np.ndarray:
    """int64: which `most` kernels are kept, ascending (None: all). Those whose fingerprint and seed have the smallest
    hash, so a kernel's place does not depend on the others."""
    if most is None or kernels.number <= most:
        return np.arange(kernels.number)
    hashes = [hashlib.sha256(f"{seed}:{fingerprint}".encode()).digest() for fingerprint in kernels.fingerprint]
    return np.sort(np.argsort(np.array(hashes, dtype="S32"), kind="stable")[:most])


def _named(id: str, datapaths: Mapping[str, Datapath], schedules_on: Callable[[Datapath], Schedules]) -> Schedules:
    """The schedules on a variant; of several, an error names it."""
    try:
        return schedules_on(datapaths[id])
    except NoTileFits as error:
        raise NoTileFits(f"variant '{id}': {error}" if len(datapaths) > 1 else str(error)) from error


def _rows_of_variants(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """The rows of each variant one after the other; of several, a column `variant` numbers them."""
    if len(frames) == 1:
        return frames[0]
    rows = pd.concat(frames, ignore_index=True)
    rows.insert(0, "variant", np.repeat(np.arange(len(frames), dtype=np.int32), [len(frame) for frame in frames]))
    return rows


def kernel_table(kernels: Kernels, roots: list[str], executions: np.ndarray) -> pd.DataFrame:
    """One row a kernel, in order."""
    return pd.DataFrame(
        {
            "kernel": np.arange(kernels.number, dtype=np.int32),
            "kernel_class": np.array(KERNEL_CLASSES, dtype=object)[kernels.kernel_class],
            "root": np.array(roots, dtype=object),
            "default_executions": executions,
        }
    )


def configuration_table(configurations: list[tuple[np.ndarray, np.ndarray]]) -> pd.DataFrame:
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
