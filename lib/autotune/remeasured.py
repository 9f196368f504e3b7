"""The true speedup: default and chosen configuration measured anew, in both orders."""

import numpy as np

from lib.autotune.configuration import Configuration, program_s
from lib.autotune.target import Target
from lib.program.kernels import concatenate
from lib.schedule.schedules import schedules_for_tiles
from schemas.autotune_artifact import Remeasured


def remeasured(default: Configuration, chosen: Configuration, target: Target) -> Remeasured | None:
    """Both configurations' runtimes with the default measured first, and with it measured last; None of a target that
    always says the same, and where a kernel fails now that ran before.

    A tuner keeps what was fastest of many noisy runs, so the seconds that it chose by are a little too low; those of
    the default are not. Measured again nobody is favoured, and in both orders neither is a device that warms up.
    """
    of_default, of_chosen = _keys(default), _keys(chosen)
    only_default = [k for k, key in enumerate(of_default) if key not in set(of_chosen)]
    only_chosen = [k for k, key in enumerate(of_chosen) if key not in set(of_default)]
    kernels = concatenate([default.found.kernels, chosen.found.kernels])
    kernel = np.array(
        [*only_default, *(default.found.kernels.number + np.array(only_chosen, dtype=np.int64))], np.int32
    )
    tile = np.concatenate([default.tile[only_default], chosen.tile[only_chosen]])
    default_s: list[float] = []
    chosen_s: list[float] = []
    for order in (np.arange(len(kernel)), np.arange(len(kernel))[::-1]):
        said = target.measured_anew(kernels, schedules_for_tiles(kernel[order], tile[order]))
        if said is None or not np.isfinite(said).all():
            return None
        seconds = np.empty(len(kernel))
        seconds[order] = said
        for configuration, places, own, sums in (
            (default, only_default, seconds[: len(only_default)], default_s),
            (chosen, only_chosen, seconds[len(only_default) :], chosen_s),
        ):
            each = configuration.seconds.copy()
            each[places] = own
            sums.append(program_s(each, configuration.found.executions))
    return Remeasured(default_s=default_s, chosen_s=chosen_s, kernels=len(kernel))


def _keys(configuration: Configuration) -> list[tuple[str, bytes]]:
    tiles = [np.ascontiguousarray(row).tobytes() for row in configuration.tile]
    return list(zip(configuration.found.kernels.fingerprint, tiles, strict=True))
