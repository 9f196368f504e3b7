"""The simulator: the tile pipeline with the effects that the analytical model leaves out, for any datapath.

docs/simulator.md tells the model; lib/cost/pipeline.py is the closed form, lib/cost/{matrix_unit,vector_unit,dma}.py
what a single step costs.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
from numba import njit

from lib.cost.cost_model import Costs, Reason
from lib.cost.energy import energy_of_rows
from lib.cost.matrix_unit import pe_splits
from lib.cost.pe_memory import usable_arrays
from lib.cost.pipeline import BYTES, PART_NAMES, make_workspace, price_row
from lib.cost.simulator_constants import SimulatorConstants
from lib.cost.tile_step import has_matrix_op, step_model
from lib.hardware.datapath import Datapath, on_chip_bytes
from lib.program.kernels import GROUP, Kernels
from lib.schedule.borrowed import borrowed
from lib.schedule.loops import LOOP_ORDERS
from lib.schedule.node_table import set_extents, tile_limits
from lib.schedule.schedules import INPUT_STATIONARY, SPLIT_AXES, Schedules
from schemas.power_area import PowerAreaModel

__all__ = ["PART_NAMES", "Simulator"]

BLOCK_ROWS = 4096
"""Rows that a thread takes at a time: a few milliseconds."""


class Simulator:
    """The simulator as a :class:`lib.cost.cost_model.CostModel`: tile, dataflow, loop order, split over the PE grid,
    padding, what stays in the global buffer, and hardware may vary."""

    name = "simulator"
    scale: Literal["seconds", "rank"] = "seconds"
    accepts = frozenset({"tile", "schedule", "residency", "hardware"})
    part_names = PART_NAMES

    def __init__(
        self, constants: SimulatorConstants | None = None, threads: int = 1, power_model: PowerAreaModel = "fast-fitted"
    ):
        """`threads`: how many price the rows of one call side by side; `power_model`: of the energy."""
        self.constants = constants or SimulatorConstants()
        self.power_model = power_model
        self.threads = threads

    def cost(self, kernels: Kernels, schedules: Schedules, datapath: Datapath, *, parts: bool = False) -> Costs:
        """Price every row; the parts of a row without a cost are NaN.

        Raises ValueError naming an op kind that the simulator does not know, a schedule field that it cannot vary,
        a tile extent outside its loop, padding that shortens a loop or fills a tile of its own, or residency without a
        global buffer.
        """
        model = step_model(kernels, datapath, self.constants)
        _check(kernels, schedules, datapath)
        rows = len(schedules.kernel)
        value = np.empty(rows)
        reason = np.zeros(rows, dtype=np.uint8)
        all_parts = np.empty((rows, len(PART_NAMES)))

        def price_block(block: slice) -> None:
            _price(
                model, schedules.kernel[block], schedules.tile[block], schedules.dataflow[block],
                schedules.loop_order[block], schedules.spatial[block], schedules.resident[block],
                schedules.padded[block], datapath, make_workspace(), value[block], reason[block], all_parts[block],
            )  # fmt: skip

        if self.threads == 1 or rows <= BLOCK_ROWS:
            price_block(slice(rows))
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(price_block, [slice(start, start + BLOCK_ROWS) for start in range(0, rows, BLOCK_ROWS)]))
        dram_bytes = all_parts[:, BYTES : BYTES + 3].copy()
        energy = energy_of_rows(
            kernels, schedules.kernel, value, all_parts, datapath, self.power_model, self.constants.mesh_width
        )
        return Costs(value, reason, dram_bytes, energy.total, all_parts if parts else None)


def _first_row(wrong: np.ndarray) -> int | None:
    """First row of bool[r, ...] with something wrong; None where nothing is."""
    return int(wrong.reshape(len(wrong), -1).any(axis=1).argmax()) if wrong.any() else None


def _check(kernels: Kernels, schedules: Schedules, datapath: Datapath) -> None:
    for field, most in (("dataflow", INPUT_STATIONARY), ("loop_order", len(LOOP_ORDERS) - 1), ("resident", 7)):
        row = _first_row(getattr(schedules, field) > most)
        if row is not None:
            value = getattr(schedules, field)[row]
            raise ValueError(f"schedule row {row}: `{field}` is {value}; 0 to {most} are allowed")
    row = _first_row(schedules.inner_tile != 0)
    if row is not None:
        raise ValueError(
            f"schedule row {row}: `inner_tile` is set, but the simulator takes only 0 (default rule: L2 and L1 keep"
            " what shortens the step most)"
        )
    row = _first_row(schedules.resident != 0)
    if row is not None and datapath.global_buffer_bytes == 0:
        raise ValueError(
            f"schedule row {row}: `resident` is {schedules.resident[row]}, but the datapath has no global "
            "buffer to keep operands in; 0 is allowed"
        )
    _check_spatial(kernels, schedules)
    _check_extents(kernels, schedules)


def _check_spatial(kernels: Kernels, schedules: Schedules) -> None:
    spatial = schedules.spatial
    if not spatial.any():
        return
    row = _first_row((spatial[:, :2] < 0) | (spatial[:, :2] > len(SPLIT_AXES)))
    if row is not None:
        choices = ", ".join(f"{number} {name}" for number, name in enumerate(("default rule", *SPLIT_AXES)))
        raise ValueError(f"schedule row {row}: `spatial` is {spatial[row].tolist()}; {choices}")
    row = _first_row(spatial[:, 2:] != 0)
    if row is not None:
        raise ValueError(
            f"schedule row {row}: `spatial` is {spatial[row].tolist()}, but what lies on the rows and columns of an "
            "array follows from the dataflow; their entries must be 0"
        )
    row = _first_row(spatial.any(axis=1) & ~has_matrix_op(kernels)[schedules.kernel])
    if row is not None:
        raise ValueError(
            f"schedule row {row}: `spatial` is set, but kernel {schedules.kernel[row]} has no matrix op to split over "
            "the PE grid"
        )


def _check_extents(kernels: Kernels, schedules: Schedules) -> None:
    loops, tile, padded = kernels.loops[schedules.kernel], schedules.tile, schedules.padded
    is_padded = bool(padded.any())
    extents = np.maximum(loops, padded) if is_padded else loops
    row = _first_row((padded != 0) & (padded < loops)) if is_padded else None
    if row is not None:
        raise ValueError(
            f"schedule row {row}: `padded` is {padded[row].tolist()}; an entry is 0 (not padded) or at least the extent"
            f" of its loop, {loops[row].tolist()} for kernel {schedules.kernel[row]}"
        )
    row = _first_row((tile < 1) | (tile > extents))
    if row is not None:
        raise ValueError(
            f"schedule row {row}: tile {tile[row].tolist()} does not lie within the loops {extents[row].tolist()} of "
            f"kernel {schedules.kernel[row]}"
        )
    row = _first_row(-(-extents // tile) > -(-loops // tile)) if is_padded else None
    if row is not None:
        raise ValueError(
            f"schedule row {row}: with tile {tile[row].tolist()} the loops {loops[row].tolist()} padded to "
            f"{extents[row].tolist()} have a tile of nothing but padding"
        )


@njit(cache=True, error_model="numpy", nogil=True)
def _price(
    model, kernel, tile, dataflow, loop_order, spatial, resident, padded, datapath, owned, value, reason, parts
) -> None:
    """`owned`: the workspace, which the caller keeps alive."""
    view, workspace, all_parts = borrowed((model, owned, parts))
    limits = tile_limits(datapath)
    arrays = usable_arrays(datapath)
    free, one, several = np.int64(0), np.int64(1), np.int64(2)
    free_splits = pe_splits(datapath, one, free, free)
    free_splits_of_groups = pe_splits(datapath, several, free, free)
    no_buffer = on_chip_bytes(datapath)[0] <= 0
    for row in range(len(kernel)):
        set_extents(workspace.tile, tile[row])
        set_extents(workspace.padded, padded[row])
        if no_buffer:
            reason[row] = Reason.NO_BUFFER
        else:
            splits = free_splits_of_groups if view.loops[kernel[row], GROUP] > 1 else free_splits
            if spatial[row, 0] > 0 or spatial[row, 1] > 0:
                splits = pe_splits(datapath, several, np.int64(spatial[row, 0]), np.int64(spatial[row, 1]))
            value[row] = price_row(
                view, kernel[row], dataflow[row], loop_order[row], splits, np.int64(resident[row]),
                arrays[dataflow[row]], limits, datapath, workspace, all_parts[row],
            )  # fmt: skip
            if value[row] < np.inf:
                continue
            reason[row] = Reason.TILE_TOO_LARGE
        value[row] = np.nan
        parts[row] = np.nan
