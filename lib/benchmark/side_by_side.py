"""Work done on several cores at once, as the workflow's jobs do it: one process a core, one thread each."""

import queue
import time
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any, NamedTuple

Prepare = Callable[..., tuple[Callable[[], object], float]]
"""Called once in each process with its arguments; returns a function to be timed and the amount of work that a call
of it does."""

START_LIMIT_S = 300.0
"""A process that is not ready to be timed by then is given up."""


class _Task(NamedTuple):
    prepare: Prepare
    arguments: tuple[Any, ...]
    repetitions: int
    least_s: float


def rates_side_by_side(
    prepare: Prepare, arguments: tuple[Any, ...], *, processes: int, repetitions: int, least_s: float
) -> tuple[float, ...]:
    """Work a second of all processes together, once a repetition.

    In each repetition every process begins at the same moment and repeats its work for at least `least_s` seconds;
    their rates are added up. One call in each process is a warm-up. `prepare` and `arguments` must be picklable.
    Raises RuntimeError with the message of a process that failed.
    """
    context = get_context("spawn")
    barrier, results = context.Barrier(processes), context.Queue()
    task = _Task(prepare, arguments, repetitions, least_s)
    workers = [context.Process(target=_work, args=(task, barrier, results)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    outcomes = _gathered(workers, results)
    for worker in workers:
        worker.join()
    for outcome in outcomes:
        if isinstance(outcome, str):
            raise RuntimeError(outcome)
    return tuple(sum(of_process) for of_process in zip(*outcomes, strict=True))


def _gathered(workers: list, results: Any) -> list[list[float] | str]:
    """One outcome a process; in place of the rates, a message where a process has died without one."""
    outcomes: list[list[float] | str] = []
    while len(outcomes) < len(workers):
        try:
            outcomes.append(results.get(timeout=1.0))
        except queue.Empty:
            for worker in workers:
                if worker.exitcode:
                    return [f"a process ended with status {worker.exitcode}"]
    return outcomes


def _work(task: _Task, barrier: Any, results: Any) -> None:
    try:
        run, amount = task.prepare(*task.arguments)
        run()
        measured = []
        for _ in range(task.repetitions):
            barrier.wait(START_LIMIT_S)
            calls, started = 0, time.perf_counter()
            while (elapsed := time.perf_counter() - started) < task.least_s or not calls:
                run()
                calls += 1
            measured.append(calls * amount / elapsed)
        results.put(measured)
    except Exception as error:
        barrier.abort()
        results.put(f"{type(error).__name__}: {error}")
