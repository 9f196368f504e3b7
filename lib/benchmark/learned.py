"""Tile rows a second of learned models, from kernel and tile to score.

The networks have the default study's size and are freshly initialised: what they predict doesn't matter here. The
scaling of their inputs is fitted to the rows themselves.
"""

from pathlib import Path
from typing import Literal

import numpy as np

from lib.benchmark.measurement import Measurement
from lib.benchmark.setting import Setting, preset_datapath
from lib.benchmark.side_by_side import rates_side_by_side
from lib.benchmark.tile_rows import HARDWARE, kernels_at_native_batch
from lib.cost.analytical import Analytical
from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules
from lib.schedule.tiles import tile_space
from schemas.model import Model

Join = Literal["late", "middle"]
JOINS: tuple[Join, ...] = ("late", "middle")
TILES_PER_KERNEL: dict[Join, int] = {"late": 4096, "middle": 1024}
"""As an autotuner asks: many tiles of each kernel."""


def learned_rates(setting: Setting) -> list[Measurement]:
    """Rows a second for late and middle join, a process a core with one thread each."""
    return [
        Measurement(
            f"bench.learned.{join}.rows_per_s",
            f"learned model, {join} join, tile rows, {setting.cores} cores",
            "1/s",
            rates_side_by_side(
                _prepare, (setting.program_folder, join, min(TILES_PER_KERNEL[join], 16 * setting.tiles_per_kernel)),
                processes=setting.cores, repetitions=setting.repetitions, least_s=setting.least_s,
            ),
        )
        for join in JOINS
    ]  # fmt: skip


def _prepare(program_folder: Path, join: Join, tiles_per_kernel: int):
    from lib.cost.learned import Learned  # imports TensorFlow, which most benchmarks don't need
    from lib.gnn.backend import use_threads

    use_threads(1)
    kernels, datapath = kernels_at_native_batch(program_folder), preset_datapath(HARDWARE)
    schedules = tile_space(kernels, datapath, tiles_per_kernel, seed=1)
    learned = Learned(fresh_model(Model(task="tile", dataset="default", join=join), kernels, schedules, datapath))
    return lambda: learned.cost(kernels, schedules, datapath), float(len(schedules.kernel))


def fresh_model(model: Model, kernels: Kernels, schedules: Schedules, datapath: Datapath):
    """A network of an entry's size that has learned nothing; the scaling of its inputs is fitted to the rows."""
    from lib.gnn.examples import analytical_names, examples_of_rows
    from lib.gnn.network import build_network
    from lib.gnn.scaling import fit_scaling
    from lib.gnn.trained_model import TrainedModel, network_shape

    analytical = Analytical()
    estimate = analytical.cost(kernels, schedules, datapath, parts=True)
    assert estimate.parts is not None
    columns = {"analytical_s": estimate.value}
    columns |= {f"analytical_{part}": estimate.parts[:, place] for place, part in enumerate(analytical.part_names)}
    names = analytical_names(list(columns))
    values = np.stack([columns[name] for name in names], axis=1)
    examples = examples_of_rows(kernels, schedules.kernel, schedules.tile, datapath, names, values)
    spec = model.hyperparameters() | {"task": model.task, "id": "bench"}
    scaling = fit_scaling(examples, np.random.default_rng(1))
    shape = network_shape(spec, examples.features, scaling)
    return TrainedModel(spec, 1, examples.features, scaling, shape, build_network(shape, 1))
