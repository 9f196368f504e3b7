"""Figure 2: EfficientNet on TPU-v3 as it is; figure 9: TPU-v3 with better schedules and residency."""

import math
from collections.abc import Iterator

from lib.cost.simulator_constants import SimulatorConstants
from lib.fidelity.fast.published import beside
from lib.fidelity.fast.runs import Runs, chip
from lib.fidelity.fast.spread import spread
from lib.fidelity.figure import Figure
from schemas.reference import load_reference

TPU_V3 = chip("tpu-v3")
TPU_V3_SCHEDULED = chip("tpu-v3", depthwise_mapping="taps", array_efficiency=1.0)
"""The same chip, with FAST's mapping of depthwise convolutions (section 3.2), and its schedules in the
compiler's place."""
BATCH = 64
"""Samples of a core of TPU-v3 (table 5); figure 2's times are for 64 samples of the chip."""
MEAN_OF_5 = ("efficientnet-b7", "resnet50v2", "ocr-rpn", "ocr-recognizer", "bert-1024")
"""Workloads of figure 9's second mean."""
NO_SUCH_MODEL = "stand-in: the paper's model is not public"
NOT_MET = "table 5's own utilisation and FLOPs give 228"


def throughput_figures(runs: Runs) -> Iterator[Figure]:
    """Queries a second on TPU-v3 with the compiler's schedules, priced in convention `table-5`."""
    for name in load_reference().tables["fast-step-time"].rows:
        if name in runs.programs:
            ours = spread(queries_as_it_is, runs, name)
            note = NOT_MET if name == "efficientnet-b7" else ""
            figure = beside("fast-step-time", name, "tpu_v3", ours, note, quantity="queries")
            yield figure._replace(unit="1/s", theirs=BATCH / figure.theirs * 1e3)


def scheduling_figures(runs: Runs) -> Iterator[Figure]:
    """Speedup of TPU-v3 by schedules and residency alone."""
    gains = {}
    for name in load_reference().tables["fast-speedup"].rows:
        if name in runs.programs:
            gains[name] = spread(scheduling_gain, runs, name)
            note = NO_SUCH_MODEL if name.startswith("ocr-") else ""
            yield beside("fast-speedup", name, "speedup_scheduled", gains[name], note)
    if set(MEAN_OF_5) <= set(gains):
        mean = math.exp(sum(math.log(gains[name].ours) for name in MEAN_OF_5) / len(MEAN_OF_5))
        yield beside("fast-speedup", "mean-of-5", "speedup_scheduled", mean, "two of the five are stand-ins")


def queries_as_it_is(runs: Runs, name: str, constants: SimulatorConstants) -> float:
    """Of TPU-v3 with the compiler's schedules and nothing resident: the baseline of all speedups."""
    return runs.run(name, BATCH, TPU_V3, "default", constants=constants).queries_per_s


def scheduling_gain(runs: Runs, name: str, constants: SimulatorConstants) -> float:
    """Best schedules with residency over the compiler's without; the depthwise mapping is part of the schedule."""
    scheduled = runs.run(name, BATCH, TPU_V3_SCHEDULED, "best", resident=True, constants=constants)
    return scheduled.queries_per_s / queries_as_it_is(runs, name, constants)
