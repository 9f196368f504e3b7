"""Figure 15: from one TPU-v3 core to half of FAST-Large by schedules, datapath and residency."""

from collections.abc import Iterator

from lib.cost.simulator_constants import SimulatorConstants
from lib.fidelity.fast.batch import fast_large_batch
from lib.fidelity.fast.published import beside
from lib.fidelity.fast.runs import Runs, chip
from lib.fidelity.fast.spread import spread
from lib.fidelity.fast.throughput import BATCH, NO_SUCH_MODEL, TPU_V3, TPU_V3_SCHEDULED, queries_as_it_is
from lib.fidelity.figure import Figure
from schemas.reference import load_reference

TABLE = "fast-build-up"
HALF_FAST_LARGE = chip("fast-large", pes_y=4)
"""32 PEs; DRAM bandwidth and global buffer whole, as figure 15's EfficientNet-B7 and table 6 agree on 330 queries/s
without fusion."""


def build_up_figures(runs: Runs) -> Iterator[Figure]:
    """Each bar over one core of TPU-v3 as it is."""
    for name in load_reference().tables[TABLE].rows:
        if name in runs.programs:
            note = NO_SUCH_MODEL if name.startswith("ocr-") else ""
            for bar in load_reference().tables[TABLE].units:
                yield beside(TABLE, name, bar, spread(_bar, runs, name, bar), note)


def _bar(runs: Runs, name: str, bar: str, constants: SimulatorConstants) -> float:
    of_core = queries_as_it_is(runs, name, constants) / TPU_V3["cores"]
    if bar == "schedule":
        scheduled = runs.run(name, BATCH, TPU_V3_SCHEDULED, "best", constants=constants)
        return scheduled.queries_per_s / TPU_V3["cores"] / of_core
    batch = fast_large_batch(runs, name)
    half = runs.run(name, batch, HALF_FAST_LARGE, "best", resident=bar == "fusion", constants=constants)
    return half.queries_per_s / of_core
