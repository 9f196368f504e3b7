"""ZigZag's cycles beside ours on a machine like its `tpu_like` with one array of 32 x 32.

`schemas/presets/zigzag_layers.csv`: 19 layers, weight-stationary by its fixed mapping (input channels on the rows,
output channels on the columns, a pass a filter tap). 64 bits of DRAM a cycle for reads and writes, 2 MB of buffer,
8-bit words.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lib.cost.simulator_constants import STREAMS_ALONE
from lib.fidelity.best_tiles import NOTHING_LOST, BestTile, best_tiles, layer_kernels, operand_bytes
from lib.fidelity.figure import Figure
from lib.hardware.datapath import Datapath, datapath_from_spec
from schemas.presets import FOLDER

TABLE = FOLDER / "zigzag_layers.csv"
BYTES_PER_CYCLE = 8
"""Of its DRAM, reads and writes together."""
CLOCK_HZ = 1e9
"""Any: only cycles are compared."""
A_PASS_A_TAP = NOTHING_LOST._replace(packed_in_channels=0)
"""Its mapping: filter taps never share rows."""


def layers() -> pd.DataFrame:
    """The rows of the table."""
    return pd.read_csv(TABLE, comment="#")


def tpu_like() -> Datapath:
    """One core like ZigZag's `tpu_like`. It has no vector unit, no L1 and no register tiles: enough lanes and bytes
    that neither limits, register tiles as small as a burst."""
    return datapath_from_spec(
        {
            "clock_hz": CLOCK_HZ, "cores": 1, "pes_x": 1, "pes_y": 1, "systolic_rows": 32, "systolic_columns": 32,
            "depthwise_mapping": "diagonal", "vector_path": "direct", "array_efficiency": 1.0, "vector_lanes": 1024,
            "l1_config": "shared", "l1_input_bytes": 4096,
            "l1_weight_bytes": 4096, "l1_output_bytes": 8192, "l2_config": "disabled", "l2_input_multiplier": 1,
            "l2_weight_multiplier": 1, "l2_output_multiplier": 1, "global_buffer_bytes": 2 * 2**20,
            "dram_kind": "hbm2", "dram_channels": 1, "dram_bytes_per_s": BYTES_PER_CYCLE * CLOCK_HZ,
            "number_format": "int8", "register_sublanes": 1, "register_lanes": 8, "native_batch": 1,
        }
    )  # fmt: skip


def figures() -> list[Figure]:
    """Cycles of each layer; for the layer whose taps ours packs on the rows also those under ZigZag's mapping; compute
    cycles under its mapping, without DRAM, mesh, latch, fill and drain, beside its ideal."""
    table, datapath = layers(), tpu_like()
    kernels = layer_kernels(table)
    ours = best_tiles(kernels, datapath, NOTHING_LOST)
    apart = best_tiles(kernels, datapath, A_PASS_A_TAP)
    endless = datapath._replace(dram_bytes_per_s=1e30)
    arrays_alone = A_PASS_A_TAP._replace(array_timing=STREAMS_ALONE, mesh_width=np.inf)
    compute = best_tiles(kernels, endless, arrays_alone, steady=True)
    once = operand_bytes(kernels) / BYTES_PER_CYCLE
    return [
        figure
        for row, *found in zip(table.itertuples(index=False), ours, apart, compute, once, strict=True)
        for figure in _figures(row, *found)
    ]


def _figures(row, ours: BestTile, apart: BestTile, compute: BestTile, once: np.float64) -> Iterator[Figure]:
    cycles, like_theirs = ours.seconds * CLOCK_HZ, apart.seconds * CLOCK_HZ
    numbers = f"its ideal {row.ideal_cycles}, every operand once over DRAM {once:.0f} cycles"
    packed = like_theirs > 1.01 * cycles
    if packed:
        numbers += (
            f"; its mapping keeps {row.C} of 32 rows busy, ours packs the {row.FY}x{row.FX} taps on them: with a pass "
            f"a tap ours takes {like_theirs:.0f}"
        )
    yield _figure(row, "cycles", cycles, row.latency_cycles, numbers)
    if packed:
        yield _figure(row, "cycles_a_pass_a_tap", like_theirs, row.latency_cycles, "ours under its mapping")
    busy = compute.steady_s * CLOCK_HZ
    yield _figure(row, "compute_cycles", busy, row.ideal_cycles, "under its mapping; no DRAM, latch, fill, drain")


def _figure(row, quantity: str, ours: float, theirs: float, note: str) -> Figure:
    return Figure("zigzag", row.layer, quantity, "cycles", "validation", float(ours), float(theirs), note)
