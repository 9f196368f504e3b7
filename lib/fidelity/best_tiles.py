"""The fastest tile of each kernel on a machine that counts as a peer's tool does: without launch, control, latencies
and losses of transfers."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.cost.simulator import PART_NAMES, Simulator
from lib.cost.simulator_constants import SimulatorConstants
from lib.hardware.datapath import Datapath
from lib.program.kernel_builder import KernelsBuilder
from lib.program.kernels import Kernels
from lib.program.layers import convolution_layer, product_layer
from lib.schedule.loops import LOOP_ORDERS
from lib.schedule.tiles import tile_space

MOST_TILES = 20_000
"""Tiles of a layer that are tried in each loop order."""
NOTHING_LOST = SimulatorConstants(
    kernel_launch_s=0.0,
    step_cycles=0.0,
    dma_latency_s=0.0,
    dma_run_cycles=0.0,
    channel_interleave_bytes=0.0,
    dram_efficiency=1.0,
)
"""Peers' tools count neither launch nor control of steps, and transfers at the peak bandwidth."""


class BestTile(NamedTuple):
    """The best of a kernel's tiles."""

    seconds: float
    steady_s: float
    """The busier of units and DRAM: the pipeline's own fill (first load) and drain (last store) left out."""
    dram_bytes: float
    tile: tuple[int, ...]


def layer_kernels(layers: pd.DataFrame) -> Kernels:
    """Kernels of rows with columns layer, K, C, OY, OX, FY, FX, stride; products (`gemm...`) have OX rows. One byte an
    element."""
    builder = KernelsBuilder()
    for row in layers.itertuples(index=False):
        if row.layer.startswith("gemm"):
            builder.add(product_layer(row.OX, row.K, row.C, element_bytes=1))
        else:
            layer = convolution_layer(
                1, row.OY, row.OX, row.K, row.C, row.FY, row.FX, stride=row.stride, element_bytes=1
            )
            builder.add(layer)
    return builder.build()


def best_tiles(
    kernels: Kernels, datapath: Datapath, constants: SimulatorConstants, *, steady: bool = False
) -> list[BestTile]:
    """One a kernel, over its tiles and all loop orders, weight-stationary; best in `steady_s` if `steady`."""
    space = tile_space(kernels, datapath, MOST_TILES, seed=0)
    best: list[BestTile | None] = [None] * kernels.number
    for order in range(len(LOOP_ORDERS)):
        schedules = space._replace(loop_order=np.full(len(space.kernel), order, dtype=np.uint8))
        costs = Simulator(constants).cost(kernels, schedules, datapath, parts=True)
        assert costs.parts is not None
        parts = dict(zip(PART_NAMES, costs.parts.T, strict=True))
        steady_s = np.maximum(costs.value - parts["exposed_s"], parts["load_s"] + parts["store_s"])
        wanted = steady_s if steady else costs.value
        for kernel in range(kernels.number):
            rows = np.flatnonzero(space.kernel == kernel)
            row = rows[wanted[rows].argmin()]
            before = best[kernel]
            if before is None or wanted[row] < (before.steady_s if steady else before.seconds):
                moved = float(costs.dram_bytes[row].sum())
                tile = tuple(space.tile[row].tolist())
                best[kernel] = BestTile(float(costs.value[row]), float(steady_s[row]), moved, tile)
    return [found for found in best if found is not None]


def operand_bytes(kernels: Kernels) -> np.ndarray:
    """float64[k]: all operands once, in full."""
    whole = kernels.operand_elements.astype(np.float64) * kernels.operand_element_bytes
    return np.add.reduceat(whole, kernels.operand_offset[:-1])
