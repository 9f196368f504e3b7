"""What models say of a program's kernels, as one table."""

import numpy as np
import pandas as pd

from lib.cost.analytical import Analytical
from lib.cost.cost_model import CostModel
from lib.hardware.datapath import Datapath
from lib.program.extraction import ProgramKernels
from lib.program.kernels import KERNEL_CLASSES, Kernels
from lib.schedule.default import default_schedule
from lib.schedule.schedules import Schedules
from lib.schedule.tiles import tile_space_and_default
from schemas.dataset_artifact import TILE_COLUMNS

MOST_TILES = 2048
"""Tiles of a kernel that a tile model ranks; a larger tile space is sampled, the default tile among them."""
SEED = 1
"""Of that sample."""


def runtime_table(found: ProgramKernels, model: CostModel, datapath: Datapath) -> pd.DataFrame:
    """One row a distinct kernel of the default fusion, those that take the most time first.

    Columns: `kernel` (its number), `root` (name of the root instruction where it first occurs), `kernel_class`,
    `executions` (in one run of the program), `predicted_s` and `analytical_s` (one execution under the default tile, on
    one core), `predicted_total_s` (all executions), `share` (of the program's predicted runtime), `fingerprint`.
    Raises NoTileFits for a kernel of which no tile fits.
    """
    kernels, executions = found.kernels, found.executions
    schedules = default_schedule(kernels, datapath, found.roots)
    predicted_s = model.cost(kernels, schedules, datapath).value
    total_s = predicted_s * executions
    table = pd.DataFrame(
        {
            "kernel": np.arange(kernels.number, dtype=np.int32),
            "root": found.roots,
            "kernel_class": [KERNEL_CLASSES[number] for number in kernels.kernel_class],
            "executions": executions,
            "predicted_s": predicted_s,
            "analytical_s": Analytical().cost(kernels, schedules, datapath).value,
            "predicted_total_s": total_s,
            "share": total_s / total_s.sum(),
            "fingerprint": kernels.fingerprint,
        }
    )
    return table.sort_values("predicted_total_s", ascending=False, kind="stable", ignore_index=True)


def tile_table(kernels: Kernels, model: CostModel, datapath: Datapath, most_tiles: int = MOST_TILES) -> pd.DataFrame:
    """The tile of each kernel that a model ranks first, beside the compiler's default; one row a kernel in order.

    Columns: `kernel`, `tiles` (ranked), `default_tile_LOOP` and `chosen_tile_LOOP` (elements along each loop),
    `chosen_over_default` (the analytical model's time under the chosen tile over that under the default, which is its
    own best: never below 1). Of tiles that the model finds equal the default is kept, then the first in canonical
    order.
    """
    schedules, is_default = tile_space_and_default(kernels, datapath, most_tiles, SEED)
    score = model.cost(kernels, schedules, datapath).value
    best = np.lexsort((~is_default, score, schedules.kernel))
    offset = np.searchsorted(schedules.kernel, np.arange(kernels.number + 1))
    chosen, default = best[offset[:-1]], np.flatnonzero(is_default)
    rows = Schedules(*(array[np.concatenate([chosen, default])] for array in schedules))
    analytical_s = Analytical().cost(kernels, rows, datapath).value
    columns = {"kernel": np.arange(kernels.number, dtype=np.int32), "tiles": np.diff(offset)}
    for name, at in (("default", default), ("chosen", chosen)):
        columns |= {f"{name}_{column}": schedules.tile[at, slot] for slot, column in enumerate(TILE_COLUMNS)}
    columns["chosen_over_default"] = analytical_s[: kernels.number] / analytical_s[kernels.number :]
    return pd.DataFrame(columns)
