"""Measuring modules on this machine: pinned, warmed up, in two passes or more, each result kept at once.

A pass visits every module several times, in rounds over all of them, and loads it anew each time: so the difference
between two passes shows what drift, memory placement and other programs do. Its median is the noise floor.
"""

import hashlib
import importlib.util
import logging
import os
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lib.code_fingerprint import code_fingerprint
from lib.cost.cost_model import Reason
from lib.targets.measurement_cache import MeasurementCache
from lib.targets.measuring_passes import MeasuringSettings, Taken, passes_of, take_passes
from lib.targets.measuring_process import MeasuringProcess, WorkerCrashedError, WorkerHangsError, sole_measuring
from lib.targets.measuring_worker import DEVICE_MODULES, TIMING, clock_of
from lib.targets.module import Module

LOG = logging.getLogger("tilewright")

FEWEST_MODULES = 8
"""Of which a machine is called noisy."""


class Measurements(NamedTuple):
    """What m modules took."""

    seconds: np.ndarray
    """float64[m] of one run in the fastest pass; NaN exactly where reason is not OK."""
    passes: np.ndarray
    """float64[m, passes] seconds in the first passes, before outliers were measured again; NaN likewise."""
    reason: np.ndarray
    """uint8[m] `lib.cost.cost_model.Reason`: OK, FAILED, TIMED_OUT."""
    messages: list[str]
    """Why a module failed; empty where it did not."""
    compile_s: np.ndarray
    """float64[m] wall seconds of the compiler at the first visit; NaN where it failed."""
    spent_s: np.ndarray
    """float64[m] wall seconds of the first pass, compiler, warm-up and all batches; or until the module failed."""
    flops: np.ndarray
    """float64[m] by the compiler's own count; NaN where it has none."""
    bytes: np.ndarray
    """float64[m] likewise."""
    device: dict[str, Any]
    """For manifests: the device and its software, how it was measured, how noisy it was. None: no module says it."""


def settings_from_spec(measure: Mapping[str, Any]) -> MeasuringSettings:
    """The settings of a resolved hardware variant's `measure`."""
    return MeasuringSettings(**{**measure, "cores": tuple(measure["cores"])})


def noise_floor_pct(passes: np.ndarray) -> float:
    """Median difference between the first two columns of float64[m, passes], in per cent of their mean; NaN where no
    row has both."""
    first, second = passes[:, 0], passes[:, 1]
    apart = np.abs(first - second) / ((first + second) / 2)
    known = apart[np.isfinite(apart)]
    return float(100.0 * np.median(known)) if len(known) else float("nan")


class Measuring:
    """A device of this machine that measures; a context manager, which ends its process.

    What is measured is kept in `cache_folder` for everyone with the same device and settings (None: for this object
    alone). `device_module` names a device of one's own in place of the runtime's.
    """

    def __init__(
        self,
        runtime: str,
        settings: MeasuringSettings,
        cache_folder: Path | None = None,
        *,
        device_module: str | None = None,
    ):
        """Starts the process. Raises MeasuringError and MeasurementCacheError, which say what to do."""
        self.runtime, self.settings = runtime, settings
        self._device_module = device_module or runtime
        self._process: MeasuringProcess | None = None
        self._passes: dict[str, list[float]] = {}
        self._setup = {
            "runtime": runtime, "processor": processor(), "system": f"{platform.system()} {platform.machine()}",
            "platform": settings.platform, "cores": list(settings.cores), "pinned": hasattr(os, "sched_setaffinity"),
            "threads": settings.threads, "clock": clock_of(settings.platform, settings.threads),
            **self._running().device, "batches_a_visit": settings.batches_a_visit, "batch_s": settings.batch_s,
        }  # fmt: skip
        try:
            self._cache = MeasurementCache(cache_folder, {**self._setup, "code": device_code(self._device_module)})
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> "Measuring":
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        self._end()
        self._cache.close()
        if kind is None:
            self._tell_noise()

    def measure(self, modules: Sequence[Module], label: str = "measuring") -> Measurements:
        """Measure every module, equal texts once; progress is shown under `label`.

        A module that does not compile, crashes or hangs is told by its reason and message, never by an error. Waits
        while another process of this machine measures. Raises ValueError for a module of another runtime.
        """
        for module in modules:
            if module.runtime != self.runtime:
                raise ValueError(f"got a module of runtime {module.runtime!r}; this device takes {self.runtime!r}")
        keys = [hashlib.sha256(module.text.encode()).hexdigest() for module in modules]
        texts = {key: module.text for key, module in zip(keys, modules, strict=True)}
        with sole_measuring():
            taken = take_passes(texts, self.settings, self._cache, self._ask, label)
        passes = {key: passes_of(visits, self.settings) for key, visits in taken.sound.items()}
        first_passes = {key: of[: self.settings.passes] for key, of in passes.items()}
        self._passes |= first_passes
        return self._measurements(keys, taken, passes, first_passes)

    def _ask(self, text: str, costs: bool) -> dict[str, Any]:
        """One visit to a text in the process, which is started where there is none."""
        setting = self.settings
        request = {
            "text": text, "costs": costs, "platform": setting.platform, "threads": setting.threads,
            "batches": setting.batches_a_visit, "batch_s": setting.batch_s,
        }  # fmt: skip
        try:
            return self._running().ask(request, setting.timeout_s)
        except (WorkerCrashedError, WorkerHangsError):
            self._process = None
            raise

    def _running(self) -> MeasuringProcess:
        if self._process is None:
            setting = self.settings
            self._process = MeasuringProcess(self._device_module, setting.platform, setting.cores, setting.threads)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def _measurements(
        self, keys: list[str], taken: Taken, passes: dict[str, list[float]], first_passes: dict[str, list[float]]
    ) -> Measurements:
        number = self.settings.passes
        first = {key: visits[0] for key, visits in taken.sound.items()}
        first_pass = {key: visits[: number * self.settings.visits : number] for key, visits in taken.sound.items()}
        spent = {key: sum(one.spent_s for one in visits) for key, visits in first_pass.items()}
        reasons = {key: failure.reason for key, failure in taken.failures.items()}
        loads = [one.load_average for visits in taken.sound.values() for one in visits]
        floor_pct = self._floor_pct(first_passes)
        return Measurements(
            seconds=_column(keys, {key: min(of) for key, of in passes.items()}),
            passes=np.array([first_passes.get(key, [np.nan] * number) for key in keys]).reshape(-1, number),
            reason=np.array([reasons.get(key, Reason.OK) for key in keys], dtype=np.uint8),
            messages=[taken.failures[key].message if key in reasons else "" for key in keys],
            compile_s=_column(keys, {key: one.compile_s for key, one in first.items()}),
            spent_s=_column(keys, spent | {key: failure.spent_s for key, failure in taken.failures.items()}),
            flops=_column(keys, {key: one.flops for key, one in first.items()}),
            bytes=_column(keys, {key: one.bytes for key, one in first.items()}),
            device={
                **self._setup,
                "visits": self.settings.visits,
                "passes": number,
                "modules": len(taken.visits),
                "measured_again": sum(len(of) > number for of in passes.values()),
                "failed": sum(reason == Reason.FAILED for reason in reasons.values()),
                "timed_out": sum(reason == Reason.TIMED_OUT for reason in reasons.values()),
                "load_average": round(statistics.median(loads), 2) if loads else None,
                "noise_floor_pct": round(floor_pct, 3) if loads else None,
                "noise_limit_pct": self.settings.noise_limit_pct,
            },
        )

    def _floor_pct(self, first_passes: dict[str, list[float]]) -> float:
        return noise_floor_pct(np.array(list(first_passes.values())).reshape(-1, self.settings.passes))

    def _tell_noise(self) -> None:
        """Say that the machine was too noisy, if it was."""
        floor_pct = self._floor_pct(self._passes)
        if len(self._passes) < FEWEST_MODULES or not floor_pct > self.settings.noise_limit_pct:
            return
        kept = f", and delete {self._cache.file}, where these measurements are kept" if self._cache.file else ""
        text = (
            f"This machine is too noisy: half of {len(self._passes)} modules differ by more than {floor_pct:.1f} % "
            f"between two passes; the limit is {self.settings.noise_limit_pct:g} %. What to do: end other programs, or "
            f"take other cores (measure.cores of the hardware variant){kept}."
        )
        LOG.warning(text)
        print(text, file=sys.stderr, flush=True)


def device_code(device_module: str) -> str:
    """Fingerprint of what makes and times a run; what other code measured is not used."""
    spec = importlib.util.find_spec(DEVICE_MODULES.get(device_module, device_module))
    file = spec.origin if spec is not None else None
    assert file is not None  # the process has loaded it
    return f"{code_fingerprint(Path(file))} {TIMING}"


def processor() -> str:
    """Name of this machine's processor, as its system tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _column(keys: Sequence[str], values: Mapping[str, float | None]) -> np.ndarray:
    """float64[m]; NaN where there is no value."""
    return np.array([values.get(key) for key in keys], dtype=np.float64)
