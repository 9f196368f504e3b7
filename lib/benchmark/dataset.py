"""Making and writing a dataset of 25 million tile rows: whole tile spaces of EfficientNet-B7.

A shard is the program at one batch on one hardware variant, as a job of the workflow makes it; as many processes as
there are cores make shards at the same time. Shards are removed as soon as they are written.
"""

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from lib.benchmark.measurement import Measurement
from lib.benchmark.setting import Setting, preset_datapath, read_program
from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.dataset.tasks import tile_shard
from lib.fusion.default_kernels import default_kernels
from schemas.dataset_artifact import DatasetArtifact
from schemas.hardware import HARDWARE_PRESETS, merged_datapath

PRESETS = ("tpu-v3", "tpu-v2", "fast-large", "fast-small")
BUFFER_MIB = (16, 8, 32, 64, 128, 4)
BATCHES = tuple(2**power for power in range(9))
WHOLE_SPACE = 1 << 20
"""Tiles a kernel: more than any tile space holds (`lib.schedule.candidates.MOST_COMBINATIONS`)."""


class Shard(NamedTuple):
    """One shard to be made."""

    program_folder: Path
    preset: str
    global_buffer_bytes: int
    batch: int
    folder: Path
    """Where it is written, and removed again."""


class Made(NamedTuple):
    """What a process says of a shard that it has made."""

    rows: int
    process: int
    peak_bytes: int
    """Largest resident memory of the process so far."""


def dataset_rate(setting: Setting) -> list[Measurement]:
    """Rows a second over all shards, seconds for all rows and peak memory of all processes together.

    Where the budget of time ends before all rows are made, the seconds for all are extrapolated, and named so.
    """
    rows, seconds, peak_bytes = _make(setting)
    rate = rows / seconds
    millions = setting.dataset_rows / 1e6
    whole = rows >= setting.dataset_rows
    name = f"bench.dataset.tile.{millions:g}m_rows" + ("_s" if whole else "_extrapolated_s")
    title = f"{millions:g} M tile rows made and written, {setting.cores} cores"
    note = "" if whole else f"extrapolated from {rows / 1e6:.3g} M rows"
    return [
        Measurement(
            "bench.dataset.tile.rows_per_s", f"tile rows made and written, {setting.cores} cores", "1/s", (rate,)
        ),
        Measurement(name, title, "s", (setting.dataset_rows / rate,), note),
        Measurement(
            "bench.dataset.tile.peak_memory_bytes", "peak memory of the dataset's processes together", "bytes",
            (float(peak_bytes),),
        ),
    ]  # fmt: skip


def _make(setting: Setting) -> tuple[int, float, int]:
    """Rows made, seconds, and peak bytes of all processes together."""
    peaks: dict[int, int] = {}
    rows = 0
    folder = Path(tempfile.mkdtemp(prefix="dataset-", dir=setting.folder))
    try:
        with ProcessPoolExecutor(setting.cores, mp_context=get_context("spawn")) as pool:
            shards = _shards(setting, folder)
            for warm_up in [pool.submit(_make_shard, next(shards)) for _ in range(setting.cores)]:
                warm_up.result()
            started = time.perf_counter()
            running: set[Future[Made]] = set()
            while rows == 0 or (
                rows < setting.dataset_rows and time.perf_counter() - started < setting.dataset_budget_s
            ):
                running |= {pool.submit(_make_shard, next(shards)) for _ in range(setting.cores - len(running))}
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for made in (future.result() for future in done):
                    rows += made.rows
                    peaks[made.process] = made.peak_bytes
            for made in (future.result() for future in running):
                rows += made.rows
                peaks[made.process] = made.peak_bytes
            return rows, time.perf_counter() - started, sum(peaks.values())
    finally:
        shutil.rmtree(folder)


def _shards(setting: Setting, folder: Path) -> Iterator[Shard]:
    """Different shards, over and over."""
    while True:
        for batch, buffer_mib, preset in product(reversed(BATCHES), BUFFER_MIB, PRESETS):
            place = folder / f"{preset}-{buffer_mib}-{batch}"
            yield Shard(setting.program_folder, preset, buffer_mib * 2**20, batch, place)


def _make_shard(shard: Shard) -> Made:
    """As `workflow/scripts/dataset.py`."""
    program = read_program(shard.program_folder).with_batch(shard.batch)
    datapath = preset_datapath(shard.preset, global_buffer_bytes=shard.global_buffer_bytes)
    made = tile_shard(default_kernels(program), {shard.preset: datapath}, Simulator(), Analytical(), WHOLE_SPACE, 1)
    spec = {"hardware": merged_datapath([HARDWARE_PRESETS[shard.preset]]), "batch": shard.batch}
    DatasetArtifact.write(
        shard.folder, id=shard.folder.name, origin="simulated", code="bench", spec=spec, contents=made.files()
    )
    shutil.rmtree(shard.folder)
    return Made(len(made.rows), os.getpid(), _peak_bytes())


def _peak_bytes() -> int:
    """Largest resident memory of this process; Linux counts in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
