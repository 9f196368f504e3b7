"""Which passes of which modules are taken, and what becomes of those that fail."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lib.cost.cost_model import Reason
from lib.progress import Progress
from lib.targets.measurement_cache import Failure, MeasurementCache, Pass
from lib.targets.measuring_process import WorkerCrashedError, WorkerHangsError

FURTHER_PASSES = 3
"""Most passes of a module beyond the usual ones, while its fastest two differ."""
OUTLIER_FACTOR = 2.0
"""How many times the noise limit the fastest two passes of a module may differ."""
TRIES = 2
"""Of a module that crashes the process or hangs, before it is given up."""


class MeasuringSettings(NamedTuple):
    """How to measure: `measure` of a resolved hardware variant, see `schemas.measure.Measure`."""

    platform: str
    cores: tuple[int, ...]
    threads: int
    batches: int
    batch_s: float
    passes: int
    timeout_s: float
    noise_limit_pct: float


class Taken(NamedTuple):
    """What was measured, by module."""

    passes: dict[str, list[Pass]]
    """Those that count, in order."""
    failures: dict[str, Failure]
    """Of the modules that have no runtime."""

    @property
    def sound(self) -> dict[str, list[Pass]]:
        """Passes of the modules that have a runtime."""
        return {module: passes for module, passes in self.passes.items() if module not in self.failures}


Ask = Callable[[str, bool], dict[str, Any]]
"""Measures a text once, with the compiler's cost analysis or without. Raises WorkerCrashedError, WorkerHangsError."""


def take_passes(
    texts: Mapping[str, str], settings: MeasuringSettings, cache: MeasurementCache, ask: Ask, label: str
) -> Taken:
    """Every pass of every module of `texts` (name in the cache to text) that is not in `cache` yet; each is kept there
    before the next begins.

    The first pass goes over all modules, then the second one does; at last those whose passes differ are measured
    again. A module that crashes the process or hangs is tried again after the others.
    """
    passes = {module: cache.passes(module) for module in texts}
    found = {module: cache.failure(module, settings.timeout_s) for module in texts}
    failures = {module: failure for module, failure in found.items() if failure is not None}

    def wanted(number: int) -> list[str]:
        """Modules that have `number` passes, are to have more and can."""
        return [m for m in texts if m not in failures and len(passes[m]) == number < passes_needed(passes[m], settings)]

    def is_settled(module: str, number: int, is_last_try: bool) -> bool:
        """Take a pass of a module; False where it is worth another try."""
        outcome = _outcome(ask, texts[module], number == 0, settings.timeout_s)
        if isinstance(outcome, Pass):
            cache.add_pass(module, number, outcome)
            passes[module].append(outcome)
        elif is_last_try or not outcome.may_pass:
            cache.add_failure(module, outcome.failure)
            failures[module] = outcome.failure
            progress.total -= max(0, settings.passes - number - 1)
        else:
            return False
        progress.update(progress.done + 1, f"{len(failures)} failed" if failures else "")
        return True

    missing = sum(passes_needed(passes[m], settings) - len(passes[m]) for m in texts if m not in failures)
    if missing > 0:
        with Progress(label, missing) as progress:
            for number in range(settings.passes + FURTHER_PASSES):
                left = wanted(number)
                progress.total = max(progress.total, progress.done + len(left))
                for one in range(1, TRIES + 1):
                    left = [module for module in left if not is_settled(module, number, one == TRIES)]
    return Taken({m: passes[m][: passes_needed(passes[m], settings)] for m in texts}, failures)


def passes_needed(taken: Sequence[Pass], settings: MeasuringSettings) -> int:
    """How many passes count of a module of which `taken` are there: the usual ones, and further ones as long as the
    fastest two of those before differ by more than OUTLIER_FACTOR times the noise limit."""
    number = settings.passes
    limit = 1 + OUTLIER_FACTOR * settings.noise_limit_pct / 100
    while number <= len(taken) and number < settings.passes + FURTHER_PASSES:
        fastest, second = sorted(one.seconds for one in taken[:number])[:2]
        if second <= fastest * limit:
            break
        number += 1
    return number


class _Refused(NamedTuple):
    failure: Failure
    may_pass: bool
    """Whether another try makes sense."""


def _outcome(ask: Ask, text: str, costs: bool, timeout_s: float) -> Pass | _Refused:
    started = time.monotonic()
    try:
        answer = ask(text, costs)
    except WorkerHangsError as error:
        return _Refused(Failure(Reason.TIMED_OUT, str(error), timeout_s, timeout_s), True)
    except WorkerCrashedError as error:
        return _Refused(Failure(Reason.FAILED, str(error), timeout_s, time.monotonic() - started), True)
    if "error" in answer:
        return _Refused(Failure(Reason.FAILED, answer["error"], timeout_s, answer["spent_s"]), False)
    return Pass(**answer)
