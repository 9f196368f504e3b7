"""Schedules without padding: every loop is cut only into equal parts.

Our compiler never has to pad: a last tile, a last fold of an array and the last PE's share may be smaller than the
others, and take the time of what the hardware can't leave out. Timeloop, with which FAST maps kernels, factorises loops
exactly, so FAST pads them to what the hardware divides by (ASPLOS 2022, section 5.3); then a partly filled fold costs
what a whole one does, as here. What a compiler that doesn't pad would lose is priced with tiles that divide their loops
(:func:`even_tiles`) and `SimulatorConstants(pads_loops=0)`, which keeps arrays and PEs to divisors too.
"""

import numpy as np
from numba import njit

from lib.cost.matrix_unit import largest_divisor
from lib.cost.simulator_constants import SimulatorConstants
from lib.hardware.datapath import Datapath
from lib.program.kernels import Kernels
from lib.schedule.best import BestSchedules, best_of
from lib.schedule.schedules import Schedules, schedules_for_tiles
from lib.schedule.tiles import tile_space


def even_tiles(kernels: Kernels, tiles: Schedules) -> Schedules:
    """The tiles of some rows, each extent the largest divisor of its loop that is no larger; equal rows once, kernel
    after kernel."""
    even = np.empty_like(tiles.tile)
    _divisors(kernels.loops, tiles.kernel, tiles.tile, even)
    rows = np.unique(np.concatenate([tiles.kernel[:, None], even], axis=1), axis=0)
    return schedules_for_tiles(rows[:, 0], rows[:, 1:])


def best_schedules_by_padding(
    kernels: Kernels, datapath: Datapath, *, limit: int, seed: int = 0
) -> tuple[BestSchedules, BestSchedules]:
    """The best schedules without padding and with it, over a sample of the tile space and the even tiles near it.

    `limit`, `seed`: :func:`lib.schedule.tiles.tile_space`. The second has all tiles of the first; the simulator prices
    both, with its constants but `pads_loops`.
    """
    tiles = tile_space(kernels, datapath, limit, seed)
    even = even_tiles(kernels, tiles)
    both = Schedules(*(np.concatenate(fields) for fields in zip(tiles, even, strict=True)))
    without = best_of(kernels, even, datapath, constants=SimulatorConstants(pads_loops=0))
    return without, best_of(kernels, both, datapath)


@njit(cache=True)
def _divisors(loops, kernel, tile, even) -> None:
    for row in range(len(tile)):
        for slot in range(8):
            even[row, slot] = largest_divisor(loops[kernel[row], slot], tile[row, slot])
