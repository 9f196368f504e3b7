"""AccelForge's cycles beside ours on its example machine `tpu_v4i`.

`schemas/presets/accelforge_layers.csv`: 13 layers on 4 arrays of 128 x 128 at 1.05 GHz with 614 GB/s, 8-bit words; its
figure is the busiest of arrays and memories, without fill or drain.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lib.cost.simulator_constants import STREAMS_ALONE
from lib.fidelity.best_tiles import NOTHING_LOST, BestTile, best_tiles, layer_kernels, operand_bytes
from lib.fidelity.figure import Figure, Relation
from lib.hardware.datapath import Datapath, datapath_from_spec
from schemas.presets import FOLDER

TABLE = FOLDER / "accelforge_layers.csv"
CLOCK_HZ = 1.05e9
DRAM_BYTES_PER_S = 614e9
ARRAYS, ROWS, COLUMNS = 4, 128, 128
NO_FILL = NOTHING_LOST._replace(array_timing=STREAMS_ALONE)
"""Latch, fill and drain of the arrays take no time."""


def layers() -> pd.DataFrame:
    """The rows of the table."""
    return pd.read_csv(TABLE, comment="#")


def tpu_v4i() -> Datapath:
    """One core like AccelForge's example: CMEM of 128 MiB; 1024 lanes an array, so that no vector work limits; register
    tiles as small as a burst."""
    return datapath_from_spec(
        {
            "clock_hz": CLOCK_HZ, "cores": 1, "pes_x": 2, "pes_y": 2, "systolic_rows": ROWS,
            "systolic_columns": COLUMNS, "depthwise_mapping": "diagonal", "vector_path": "direct",
            "array_efficiency": 1.0, "vector_lanes": 1024, "l1_config": "shared",
            "l1_input_bytes": 16384, "l1_weight_bytes": 32768, "l1_output_bytes": 65536, "l2_config": "disabled",
            "l2_input_multiplier": 1, "l2_weight_multiplier": 1, "l2_output_multiplier": 1,
            "global_buffer_bytes": 128 * 2**20, "dram_kind": "hbm2", "dram_channels": 8,
            "dram_bytes_per_s": DRAM_BYTES_PER_S, "number_format": "int8", "register_sublanes": 1,
            "register_lanes": 8, "native_batch": 1,
        }
    )  # fmt: skip


def figures() -> list[Figure]:
    """Two figures a row: the steady state (fill and drain of arrays and of the pipeline off, as AccelForge counts)
    beside the larger of its cycles and the ideal, and our whole time without latencies, of which that is a bound."""
    table = layers()
    kernels = layer_kernels(table)
    steady = best_tiles(kernels, tpu_v4i(), NO_FILL, steady=True)
    whole = best_tiles(kernels, tpu_v4i(), NOTHING_LOST)
    once = operand_bytes(kernels) / DRAM_BYTES_PER_S * CLOCK_HZ
    return [
        figure
        for row, *found in zip(table.itertuples(index=False), steady, whole, once, strict=True)
        for figure in _figures(row, *found)
    ]


def _figures(row, steady: BestTile, whole: BestTile, once: np.float64) -> Iterator[Figure]:
    theirs, ideal = row.latency_s * CLOCK_HZ, row.macs / (ARRAYS * ROWS * COLUMNS)
    numbers = f"AccelForge {theirs:.0f} (best {row.metric}), ideal {ideal:.0f}, every operand once over DRAM {once:.0f}"
    whole_note = "fills the arrays, and nothing hides the first load and the last store: AccelForge counts neither"
    subject = row.layer if row.metric == "energy" else f"{row.layer}-{row.metric}"
    relation: Relation
    for quantity, seconds, relation, note in (
        ("steady_state_cycles", steady.steady_s, "equal", numbers),
        ("cycles_with_fill_and_drain", whole.seconds, "at least", whole_note),
    ):
        yield Figure(
            "accelforge", subject, quantity, "cycles", "validation", seconds * CLOCK_HZ, max(theirs, ideal), note,
            relation=relation,
        )  # fmt: skip
