"""Table 6: what Perf/TDP FAST-Large loses when one thing in it changes."""

from collections.abc import Iterator
from typing import Any

from lib.cost.simulator_constants import SimulatorConstants
from lib.fidelity.fast.batch import fast_large_batch
from lib.fidelity.fast.published import beside
from lib.fidelity.fast.runs import Runs, chip, perf_per_tdp_gain
from lib.fidelity.fast.spread import spread
from lib.fidelity.fast.throughput import TPU_V3, queries_as_it_is
from lib.fidelity.figure import Figure
from schemas.reference import load_reference

TABLE = "fast-ablation"
KIB, MIB = 2**10, 2**20
WHOLE = "fast-large"

CHANGES: dict[str, dict[str, Any]] = {
    WHOLE: {},
    "global-buffer-16-mib": {"global_buffer_bytes": 16 * MIB},
    "no-fusion": {},
    "arrays-128x128": {"pes_x": 2, "pes_y": 2, "systolic_rows": 128, "systolic_columns": 128, "vector_lanes": 512},
    "l1-32-kib": {"l1_input_bytes": 8 * KIB, "l1_weight_bytes": 16 * KIB, "l1_output_bytes": 8 * KIB},
}
"""Fields of the datapath by row. With 128x128 arrays there are four PEs, so that peak rate and lanes stay."""
L1_STAYS = "L1 stays at 8 KiB, which serves an eighth of such an array; the paper says nothing of it"


def ablation_figures(runs: Runs) -> Iterator[Figure]:
    """Over the die-shrunk TPU-v3 for the whole design; over the whole design for the changed ones."""
    table = load_reference().tables[TABLE]
    for name in table.units:
        if name not in runs.programs:
            continue
        batch = fast_large_batch(runs, name)
        whole = beside(TABLE, WHOLE, name, spread(_gain, runs, WHOLE, name, batch), f"batch {batch}")
        yield whole._replace(subject=f"{name}, {WHOLE}", quantity="perf_per_tdp")
        for row in CHANGES:
            if row != WHOLE:
                note = L1_STAYS if row == "arrays-128x128" else f"batch {batch}"
                changed = beside(TABLE, row, name, spread(_share_of_whole, runs, row, name, batch), note)
                yield changed._replace(
                    subject=f"{name}, {row}", quantity="perf_per_tdp_of_whole", unit="",
                    theirs=changed.theirs / whole.theirs,
                )  # fmt: skip


def _share_of_whole(runs: Runs, row: str, name: str, batch: int, constants: SimulatorConstants) -> float:
    return _gain(runs, row, name, batch, constants) / _gain(runs, WHOLE, name, batch, constants)


def _gain(runs: Runs, row: str, name: str, batch: int, constants: SimulatorConstants) -> float:
    spec = chip("fast-large", **CHANGES[row])
    ours = runs.run(name, batch, spec, "best", resident=row != "no-fusion", constants=constants).queries_per_s
    return perf_per_tdp_gain(ours, spec, queries_as_it_is(runs, name, constants), TPU_V3)
