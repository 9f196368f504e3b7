"""Reading datasets: shards, and what they share."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.dataset.variants import datapaths_of
from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels, kernels_from_arrays, take
from schemas.artifact import MANIFEST, Origin
from schemas.dataset_artifact import TILE_COLUMNS, DatasetArtifact


class Shard(NamedTuple):
    """The labelled kernels of one workload on one hardware variant for one task."""

    kernels: Kernels
    """k unique kernels."""
    table: pd.DataFrame
    """k rows, one a kernel in order: kernel, kernel_class, root, default_executions."""
    rows: pd.DataFrame
    """r rows sorted by kernel: kernel, tile_* (TILE_COLUMNS), is_default, runtime_s (the label), analytical_s and
    analytical_<part> where there is a datapath; measured ones also repeat_s, xla_flops and xla_bytes."""
    configurations: pd.DataFrame
    """How often each kernel runs: configuration (0 the default fusion), kernel, executions."""
    workload: str
    hardware: str
    """Id of the hardware variant."""
    datapath: Datapath
    task: str
    """"tile" or "fusion"."""
    origin: Origin = "simulated"
    """Where the labels come from: simulated, measured or recorded."""

    @property
    def has_estimate(self) -> bool:
        """Whether rows have the analytical model's estimate: not where the hardware has no datapath."""
        return "analytical_s" in self.rows

    @property
    def row_offset(self) -> np.ndarray:
        """int64[k + 1] cuts `rows` into kernels; every kernel has at least one row."""
        return np.searchsorted(self.rows["kernel"].to_numpy(), np.arange(self.kernels.number + 1)).astype(np.int64)

    @property
    def tiles(self) -> np.ndarray:
        """int32[r, 8] tile of each row, in the order of the canonical loops."""
        return np.ascontiguousarray(self.rows[list(TILE_COLUMNS)].to_numpy(np.int32))


def shards_of(artifact: DatasetArtifact, hardware: Collection[str] | None = None) -> list[Shard]:
    """The shards that a dataset artifact holds: one a variant, in order of the ids; of `hardware` only, if given.

    They share the kernels, unless some have no rows on a variant.
    """
    spec, rows = artifact.manifest.spec, artifact["rows.parquet"]
    datapaths = datapaths_of(spec["hardware"])
    ends = np.array([0, len(rows)])
    if "variant" in rows:
        ends = np.searchsorted(rows["variant"].to_numpy(), np.arange(len(datapaths) + 1))
        rows = rows.drop(columns="variant")
    kernels = kernels_from_arrays(artifact["kernels.npz"])
    shards = []
    for number, (id, datapath) in enumerate(datapaths.items()):
        if hardware is None or id in hardware:
            of_variant = rows.iloc[ends[number] : ends[number + 1]].reset_index(drop=True)
            shard = Shard(
                kernels=kernels,
                table=artifact["kernels.parquet"],
                rows=of_variant,
                configurations=artifact["configurations.parquet"],
                workload=spec["workload"],
                hardware=id,
                datapath=datapath,
                task=spec["task"],
                origin=artifact.manifest.origin,
            )
            shards.append(with_kernels(shard, np.bincount(of_variant["kernel"], minlength=kernels.number) > 0))
    return shards


def read_shards(
    paths: Iterable[str],
    *,
    dataset: str | None = None,
    task: str | None = None,
    workloads: Collection[str] | None = None,
    hardware: Collection[str] | None = None,
) -> Iterator[Shard]:
    """Read dataset artifacts (folders or manifests) one at a time, in the order given.

    Where `dataset`, `task`, `workloads` or `hardware` are given, only shards of these are read; others are
    skipped by their manifests alone. Raises ArtifactError for a damaged one.
    """
    for path in paths:
        spec = DatasetArtifact.read_manifest(_folder(path)).spec
        wanted = (
            (dataset is None or spec["dataset"] == dataset)
            and (task is None or spec["task"] == task)
            and (workloads is None or spec["workload"] in workloads)
            and (hardware is None or not hardware_of(spec).isdisjoint(hardware))
        )
        if wanted:
            yield from shards_of(DatasetArtifact.read(path), hardware)


def load_shards(paths: Iterable[str], **wanted: Any) -> list[Shard]:
    """All of :func:`read_shards` at once, in memory."""
    return list(read_shards(paths, **wanted))


def hardware_of(spec: Mapping[str, Any]) -> frozenset[str]:
    """Ids of the hardware variants of a shard, from its manifest's spec."""
    return frozenset(spec["hardware"].get("variants") or [spec["hardware"]["id"]])


def _folder(path: str) -> Path:
    return Path(path).parent if Path(path).name == MANIFEST else Path(path)


def fingerprints(shards: Iterable[Shard]) -> frozenset[str]:
    """Fingerprints of all kernels of the shards."""
    return frozenset(fingerprint for shard in shards for fingerprint in shard.kernels.fingerprint)


def remove_shared(shards: Iterable[Shard], test_fingerprints: frozenset[str]) -> list[Shard]:
    """The training or validation shards without the kernels that occur in test programs; shards left empty
    are dropped.

    Common layers occur in many networks: trained on, they would be remembered and not predicted. They
    are never taken out of test, since a test program is made of them too.
    """
    kept = (without_kernels_of(shard, test_fingerprints) for shard in shards)
    return [shard for shard in kept if shard.kernels.number]


def without_kernels_of(shard: Shard, removed: frozenset[str]) -> Shard:
    """The shard without the kernels whose fingerprints are in `removed`."""
    return with_kernels(shard, np.array([f not in removed for f in shard.kernels.fingerprint], dtype=bool))


def with_kernels(shard: Shard, keep: np.ndarray) -> Shard:
    """The shard with the kernels (bool[k]) to keep, numbered anew."""
    if keep.all():
        return shard
    place = np.cumsum(keep, dtype=np.int32) - 1

    def renumbered(frame: pd.DataFrame) -> pd.DataFrame:
        kernel = frame["kernel"].to_numpy()
        frame = frame[keep[kernel]].reset_index(drop=True)
        return frame.assign(kernel=place[kernel[keep[kernel]]].astype(np.int32))

    return shard._replace(
        kernels=take(shard.kernels, np.flatnonzero(keep)),
        table=renumbered(shard.table),
        rows=renumbered(shard.rows),
        configurations=renumbered(shard.configurations),
    )


def with_rows(shard: Shard, keep: np.ndarray) -> Shard:
    """The shard with the rows (bool[r]) to keep, and the kernels that have any of them."""
    kernel = shard.rows["kernel"].to_numpy()
    kernels = np.zeros(shard.kernels.number, bool)
    kernels[kernel[keep]] = True
    return with_kernels(shard._replace(rows=shard.rows[keep].reset_index(drop=True)), kernels)
