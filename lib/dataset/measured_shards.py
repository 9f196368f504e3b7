"""Shards whose labels are measured on a device: the kernels of a program, each compiled and run by itself.

Fusion task (XLA): the kernels of the default and of other fusion configurations, and the program compiled whole beside
their sum. Tile task (IREE): the matrix ops of the unfused program, each with the compiler's own pick and a seeded
sample of other tiles. What can't be built, compiled or run is left out, counted and listed.
"""

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.cost.analytical import Analytical
from lib.cost.cost_model import Reason
from lib.dataset.fusion_configurations import fusion_configurations
from lib.dataset.labels import rows_of
from lib.dataset.seeds import shard_seed
from lib.dataset.tasks import (
    DistinctKernels,
    NothingToLabel,
    ShardContents,
    configuration_table,
    distinct_kernels,
    kernel_table,
    sampled_kernels,
)
from lib.dataset.variants import datapaths_of, has_datapath
from lib.hardware.datapath import Datapath
from lib.program.kernels import take
from lib.program.program import Program
from lib.schedule.default import default_tiles
from lib.schedule.schedules import Schedules, schedules_for_tiles
from lib.targets.iree_module import tile_module
from lib.targets.measured_tiles import device_tile_space, first_roots, own_tiles, tiled_kernels
from lib.targets.measurer import Measurer
from lib.targets.measuring import Measurements
from lib.targets.module import Module
from lib.targets.xla_module import KernelModules, program_module

LOG = logging.getLogger("tilewright")

NO_TILE = "no tile of it fits the datapath's buffers, so there is no estimate"


class Candidates(NamedTuple):
    """What is to be measured: r rows of distinct kernels, sorted by kernel."""

    distinct: DistinctKernels
    schedules: Schedules
    is_default: np.ndarray
    """bool[r]"""
    modules: list[Module | str]
    """Of each row; in words where there is none."""


class MeasuredShard(NamedTuple):
    """A shard, and what its manifest says of the device."""

    contents: ShardContents
    device: dict[str, Any]
    """What `Measurements.device` says, and `failures` (kernel, tile, message of each), `default_sum_s` (seconds of all
    kernels of the default fusion together, null where one of them failed) and `whole_program_s` (of the program
    compiled whole, null where that failed or is not asked); `whole_program_message`: why it failed, else empty."""


def make_measured_shard(program: Program, spec: Mapping[str, Any], measurer: Measurer) -> MeasuredShard:
    """The shard of a resolved entry `spec` of a dataset on a variant that is measured, of a program at its batch.

    Raises ValueError naming workload and hardware where nothing could be measured.
    """
    hardware = spec["hardware"]
    (datapath,) = datapaths_of(hardware).values()
    described = datapath if has_datapath(hardware) else None
    seed = shard_seed(spec["seed"], spec["workload"])
    try:
        if spec["task"] == "tile":
            candidates = tile_candidates(program, spec["tiles_per_kernel"], spec.get("kernels_per_program"), seed)
            return measured_shard(candidates, described, measurer, spec["workload"])
        settings = (spec["configurations"], spec.get("walks", 0), spec.get("annealing", 0))
        candidates = fusion_candidates(program, *settings, spec.get("kernels_per_program"), seed, described)
        return measured_shard(candidates, described, measurer, spec["workload"], whole=program_or_words(program))
    except NothingToLabel as error:
        where = f"workload '{spec['workload']}' on hardware '{hardware['id']}', {spec['task']} task"
        raise ValueError(f"{where}: {error}") from error


def program_or_words(program: Program) -> Module | str:
    """The module of the whole program, or why there is none."""
    try:
        return program_module(program)
    except ValueError as error:
        return str(error)


def fusion_candidates(
    program: Program, random: int, walks: int, annealing: int, most: int | None, seed: int, datapath: Datapath | None
) -> Candidates:
    """The distinct kernels of the default fusion and of others, each with the tile that the datapath's compiler would
    take, the whole kernel where there is none. Of more than `most` kernels those of the default fusion, whose sum
    stands for the program, and a sample of the others."""
    configurations = fusion_configurations(program, random, walks, annealing, seed)
    members: dict[str, np.ndarray] = {}
    for configuration in reversed(configurations):
        members |= configuration.found.first_members(configuration.groups)
    distinct = distinct_kernels([configuration.found for configuration in configurations])
    distinct = distinct.kept(_with_the_default_ones(distinct, most, seed))
    kernels, made = distinct.kernels, KernelModules(program)
    modules: list[Module | str] = []
    for fingerprint in kernels.fingerprint:
        try:
            modules.append(made.module(members[fingerprint].tolist()))
        except ValueError as error:
            modules.append(str(error))
    tile, fits = kernels.loops, np.ones(kernels.number, dtype=bool)
    if datapath is not None:
        tile, _, fits = default_tiles(kernels, datapath)
    modules = [module if fit else NO_TILE for module, fit in zip(modules, fits, strict=True)]
    schedules = schedules_for_tiles(np.arange(kernels.number, dtype=np.int32), tile)
    return Candidates(distinct, schedules, np.ones(kernels.number, dtype=bool), modules)


def _with_the_default_ones(distinct: DistinctKernels, most: int | None, seed: int) -> np.ndarray:
    by_default = np.flatnonzero(distinct.executions > 0)
    others = np.flatnonzero(distinct.executions == 0)
    left = None if most is None else max(most - len(by_default), 0)
    drawn = sampled_kernels(take(distinct.kernels, others), left, seed)
    return np.sort(np.concatenate([by_default, others[drawn]]))


def tile_candidates(program: Program, tiles_per_kernel: int, most: int | None, seed: int) -> Candidates:
    """Matrix ops of the unfused program with the compiler's own pick and a sample of other tiles.

    Raises NothingToLabel where the program has no such op.
    """
    found = tiled_kernels(program)
    if not found.kernels.number:
        raise NothingToLabel("the program has no matrix op that this device takes tiles of")
    kept = sampled_kernels(found.kernels, most, seed)
    distinct, roots = distinct_kernels([found]).kept(kept), first_roots(found)[kept]
    own_tile, unknown = own_tiles(program, roots)
    schedules, is_default = device_tile_space(program, roots, own_tile, tiles_per_kernel, seed)
    modules: list[Module | str] = []
    for kernel, tile, own in zip(schedules.kernel.tolist(), schedules.tile, is_default.tolist(), strict=True):
        if unknown[kernel]:
            modules.append(unknown[kernel])
            continue
        try:
            modules.append(tile_module(program, int(roots[kernel]), None if own else tile))
        except ValueError as error:
            modules.append(str(error))
    return Candidates(distinct, schedules, is_default, modules)


def measured_shard(
    candidates: Candidates,
    datapath: Datapath | None,
    measurer: Measurer,
    workload: str,
    whole: Module | str | None = None,
) -> MeasuredShard:
    """Measure all candidates. Kernels are left out whose default row could not be measured or estimated, or in the tile
    task no other one; rows that could not be are left out of the others.

    Raises NothingToLabel where nothing is left.
    """
    distinct, schedules, is_default, modules = candidates
    built = np.array([isinstance(module, Module) for module in modules], dtype=bool)
    asked = [module for module in [*modules, whole] if isinstance(module, Module)]
    measured = measurer.measure(asked, label=f"measuring {workload}")
    row = np.flatnonzero(built)
    ok = built.copy()
    ok[row] = measured.reason[: len(row)] == Reason.OK
    words = [module if isinstance(module, str) else "" for module in modules]
    for place, message in zip(row.tolist(), measured.messages, strict=False):
        words[place] = message
    analytical = Analytical()
    if datapath is not None:
        known = analytical.cost(distinct.kernels, schedules, datapath).reason == Reason.OK
        words = [NO_TILE if good and not fits else word for good, fits, word in zip(ok, known, words, strict=True)]
        ok &= known
    usable = _usable(schedules.kernel[ok], is_default[ok], bool(is_default.all()), distinct.kernels.number)
    kept, used = np.flatnonzero(usable), ok & usable[schedules.kernel]
    failures = [
        {
            "kernel": distinct.roots[k],
            "tile": None if is_default[place] else schedules.tile[place].tolist(),
            "message": w,
        }
        for place, (k, w) in enumerate(zip(schedules.kernel.tolist(), words, strict=True))
        if w
    ]
    for failure in failures:
        LOG.warning("left out: %s, tile %s: %s", *failure.values())
    LOG.info("%d of %d kernels, %d of %d rows", len(kept), len(usable), used.sum(), len(used))
    if not len(kept):
        first = f", first '{failures[0]['kernel']}': {failures[0]['message']}" if failures else ""
        raise NothingToLabel(f"none of its {len(usable)} kernels could be measured{first}")
    left = distinct.kept(kept)
    rows = _rows(
        left, kept, schedules, is_default, used, np.searchsorted(row, np.flatnonzero(used)), measured, datapath
    )
    seconds = np.full(left.kernels.number, np.nan)
    seconds[rows["kernel"][rows["is_default"]]] = rows["runtime_s"][rows["is_default"]]
    complete = len(left.runs[0][0]) == len(distinct.runs[0][0])
    about: dict[str, Any] = {
        "failures": failures,
        "default_sum_s": float((seconds * left.executions).sum()) if complete else None,
        "whole_program_s": None,
        "whole_program_message": whole if isinstance(whole, str) else "",
    }
    if isinstance(whole, Module):
        well = measured.reason[-1] == Reason.OK
        about["whole_program_s"] = float(measured.seconds[-1]) if well else None
        about["whole_program_message"] = measured.messages[-1]
    table = kernel_table(left.kernels, left.roots, left.executions)
    contents = ShardContents(left.kernels, table, rows, configuration_table(left.runs))
    return MeasuredShard(contents, measured.device | about)


def _usable(kernel: np.ndarray, is_default: np.ndarray, single: bool, count: int) -> np.ndarray:
    """bool[count]: kernels with a default row among these rows, and unless there is a `single` row a kernel another."""
    rows = np.bincount(kernel, minlength=count)
    defaults = np.bincount(kernel[is_default], minlength=count)
    return (defaults == 1) & (rows >= (1 if single else 2))


def _rows(
    left: DistinctKernels,
    kept: np.ndarray,
    schedules: Schedules,
    is_default: np.ndarray,
    used: np.ndarray,
    place: np.ndarray,
    measured: Measurements,
    datapath: Datapath | None,
) -> pd.DataFrame:
    """`rows.parquet` of the rows `used` (bool[r]) of the kernels `kept`; `place`: int64, where each was measured."""
    number = np.searchsorted(kept, schedules.kernel[used]).astype(np.int32)
    some = schedules_for_tiles(number, schedules.tile[used])
    analytical = Analytical()
    estimate = analytical.cost(left.kernels, some, datapath, parts=True) if datapath is not None else None
    rows = rows_of(some, is_default[used], measured.seconds[place], estimate, analytical.part_names)
    rows["repeat_s"] = np.maximum(measured.passes[place].max(axis=1), measured.seconds[place])
    flops, moved = measured.flops[place], measured.bytes[place]
    if np.isfinite(flops).all() and np.isfinite(moved).all():
        rows["xla_flops"], rows["xla_bytes"] = flops, moved
    return rows
