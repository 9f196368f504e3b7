"""One trial of a search, and a search: FAST's whole space, EfficientNet-B7, TPU-v3 as baseline."""

import time
from collections.abc import Callable

import numpy as np

from lib.benchmark.measurement import Measurement
from lib.benchmark.setting import Setting, read_program
from lib.cost.simulator import Simulator
from lib.search.evaluate import Evaluator
from lib.search.optimise import optimise
from lib.search.space import PARAMETERS, Point, Space, datapath_of, space_from_spec
from lib.search.workload import kernels_by_batch
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from schemas.search import Limits
from schemas.search_space import DEFAULT_SPACE

SEED = 1
TRIALS = 40
"""Feasible designs whose evaluation is timed."""
MOST_DRAWN = 20_000
"""Designs drawn at most; those over the limits take no time and don't count."""


def trial_seconds(setting: Setting) -> list[Measurement]:
    """Seconds of a whole trial (schedules, residency by the rules of `paper`, run to its end), each of another design
    drawn at random that keeps the limits and runs every kernel: the faster of two runs.

    What a search does once and not in each trial is done before: compiled code, the baseline, and the kernels at each
    of the space's batches and register tiles.
    """
    evaluator, space = _evaluator(setting), space_from_spec(DEFAULT_SPACE)
    rng = np.random.default_rng(SEED)
    seconds: list[float] = []
    for _ in range(MOST_DRAWN):
        if len(seconds) == TRIALS or sum(seconds) > setting.budget_s:
            break
        datapath = datapath_of(_random_point(space, rng))
        if evaluator.evaluate(datapath).state == "ok":
            seconds.append(min(_timed(lambda: evaluator.evaluate(datapath)) for _ in range(2)))  # noqa: B023
    title = "one search trial, EfficientNet-B7, one core (minimum and maximum over designs)"
    return [Measurement("bench.trial.efficientnet-b7.median_s", title, "s", tuple(seconds))]


def search_rate(setting: Setting) -> list[Measurement]:
    """Trials a second of a search by TPE from its first trial on, the optimiser and infeasible designs included."""
    evaluator, space = _evaluator(setting), space_from_spec(DEFAULT_SPACE)
    started = time.perf_counter()
    optimise(space, "tpe", setting.search_trials, seed=SEED, island=1, evaluate=evaluator.outcome)
    rate = setting.search_trials / (time.perf_counter() - started)
    title = f"search by TPE on EfficientNet-B7, its first {setting.search_trials} trials, one core"
    return [Measurement("bench.search.efficientnet-b7.trials_per_s", title, "1/s", (rate,))]


def _evaluator(setting: Setting) -> Evaluator:
    """With the baseline evaluated, which compiles everything."""
    workloads = {"efficientnet-b7": kernels_by_batch(read_program(setting.program_folder))}
    baseline = merged_datapath([HARDWARE_PRESETS["tpu-v3"]])
    evaluator = Evaluator(workloads, Simulator(), baseline, Limits().model_dump(), residency="paper")
    assert evaluator.evaluate(evaluator.baseline.design.datapath).state == "ok"
    return evaluator


def _timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _random_point(space: Space, rng: np.random.Generator) -> Point:
    return {name: space.values[name][int(rng.integers(len(space.values[name])))] for name in PARAMETERS}
