"""Which visits of which modules make their passes, and what becomes of those that fail.

What disturbs a machine for a second or so (its clock rate, other guests of its host) makes all batches of a visit fast
or slow together. So each pass visits a module several times, all modules in turn, and takes the median of its visits;
the visits of the passes alternate.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lib.cost.cost_model import Reason
from lib.progress import Progress
from lib.targets.measurement_cache import Failure, MeasurementCache, Visit
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
    visits: int
    passes: int
    timeout_s: float
    noise_limit_pct: float

    @property
    def batches_a_visit(self) -> int:
        """At least `batches` a pass."""
        return -(-self.batches // self.visits)


class Taken(NamedTuple):
    """What was measured, by module."""

    visits: dict[str, list[Visit]]
    """Those that count, in order."""
    failures: dict[str, Failure]
    """Of the modules that have no runtime."""

    @property
    def sound(self) -> dict[str, list[Visit]]:
        """Visits to the modules that have a runtime."""
        return {module: visits for module, visits in self.visits.items() if module not in self.failures}


Ask = Callable[[str, bool], dict[str, Any]]
"""Visits a text once, with the compiler's cost analysis or without. Raises WorkerCrashedError, WorkerHangsError."""


def take_passes(
    texts: Mapping[str, str], settings: MeasuringSettings, cache: MeasurementCache, ask: Ask, label: str
) -> Taken:
    """Every visit of every module of `texts` (name in the cache to text) that is not in `cache` yet; each is kept there
    before the next begins.

    Each round visits all modules; at last those whose passes differ are visited again. A module that crashes the
    process or hangs is tried again after the others.
    """
    visits = {module: cache.visits(module) for module in texts}
    found = {module: cache.failure(module, settings.timeout_s) for module in texts}
    failures = {module: failure for module, failure in found.items() if failure is not None}
    usual = settings.passes * settings.visits

    def wanted(number: int) -> list[str]:
        """Modules that have `number` visits, are to have more and can."""
        return [m for m in texts if m not in failures and len(visits[m]) == number < visits_needed(visits[m], settings)]

    def is_settled(module: str, number: int, is_last_try: bool) -> bool:
        """Visit a module; False where it is worth another try."""
        outcome = _outcome(ask, texts[module], number == 0, settings.timeout_s)
        if isinstance(outcome, Visit):
            cache.add_visit(module, number, outcome)
            visits[module].append(outcome)
        elif is_last_try or not outcome.may_pass:
            cache.add_failure(module, outcome.failure)
            failures[module] = outcome.failure
            progress.total -= max(0, usual - number - 1)
        else:
            return False
        progress.update(progress.done + 1, f"{len(failures)} failed" if failures else "")
        return True

    missing = sum(visits_needed(visits[m], settings) - len(visits[m]) for m in texts if m not in failures)
    if missing > 0:
        with Progress(label, missing) as progress:
            for number in range(usual + FURTHER_PASSES * settings.visits):
                left = wanted(number)
                progress.total = max(progress.total, progress.done + len(left))
                for one in range(1, TRIES + 1):
                    left = [module for module in left if not is_settled(module, number, one == TRIES)]
    return Taken({m: visits[m][: visits_needed(visits[m], settings)] for m in texts}, failures)


def passes_of(visits: Sequence[Visit], settings: MeasuringSettings) -> list[float]:
    """Seconds of a run in each complete pass: the median of its visits. The usual passes take the first visits in turn,
    further ones those that follow one another."""
    usual = settings.passes * settings.visits
    seconds = [visit.seconds for visit in visits]
    if len(seconds) < usual:
        return []
    turns = [seconds[:usual][number :: settings.passes] for number in range(settings.passes)]
    later = [seconds[at : at + settings.visits] for at in range(usual, len(seconds), settings.visits)]
    return [statistics.median(one) for one in turns + later if len(one) == settings.visits]


def visits_needed(taken: Sequence[Visit], settings: MeasuringSettings) -> int:
    """How many visits count of a module of which `taken` are there: those of the usual passes, and of further ones as
    long as the fastest two before differ by more than OUTLIER_FACTOR times the noise limit."""
    number = settings.passes * settings.visits
    most = number + FURTHER_PASSES * settings.visits
    limit = 1 + OUTLIER_FACTOR * settings.noise_limit_pct / 100
    while number <= len(taken) and number < most:
        fastest, second = sorted(passes_of(taken[:number], settings))[:2]
        if second <= fastest * limit:
            break
        number += settings.visits
    return number


class _Refused(NamedTuple):
    failure: Failure
    may_pass: bool
    """Whether another try makes sense."""


def _outcome(ask: Ask, text: str, costs: bool, timeout_s: float) -> Visit | _Refused:
    started = time.monotonic()
    try:
        answer = ask(text, costs)
    except WorkerHangsError as error:
        return _Refused(Failure(Reason.TIMED_OUT, str(error), timeout_s, timeout_s), True)
    except WorkerCrashedError as error:
        return _Refused(Failure(Reason.FAILED, str(error), timeout_s, time.monotonic() - started), True)
    if "error" in answer:
        return _Refused(Failure(Reason.FAILED, answer["error"], timeout_s, answer["spent_s"]), False)
    return Visit(**answer)
