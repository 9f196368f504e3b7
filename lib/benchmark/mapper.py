"""Schedules a second of the mapper: the best schedule of each kernel of EfficientNet-B7 on TPU-v3."""

from lib.benchmark.measurement import Measurement, rates, repeated_s
from lib.benchmark.setting import Setting, preset_datapath
from lib.benchmark.tile_rows import HARDWARE, kernels_at_native_batch
from lib.schedule.best import best_schedules


def mapper_rates(setting: Setting) -> list[Measurement]:
    """Schedules disposed of a second over the whole space (tiles, loop orders, dataflows), and those of them that the
    simulator priced; a bound ruled out the others. One core."""
    kernels, datapath = kernels_at_native_batch(setting.program_folder), preset_datapath(HARDWARE)
    found = best_schedules(kernels, datapath)  # which is the warm-up too
    seconds = repeated_s(
        lambda: best_schedules(kernels, datapath),
        repetitions=setting.repetitions,
        budget_s=setting.budget_s,
        warm_ups=0,
    )
    considered, priced = int(found.considered.sum()), int(found.priced.sum())
    note = f"{considered} schedules of {kernels.number} kernels, of which {priced} were priced"
    return [
        Measurement(
            "bench.mapper.schedules_per_s", "mapper: schedules disposed of, one core", "1/s",
            rates(considered, seconds), note,
        ),
        Measurement("bench.mapper.priced_per_s", "mapper: schedules priced, one core", "1/s", rates(priced, seconds)),
    ]  # fmt: skip
