"""What designs may be worth before any trial: never less than they are worth, and a model's seconds added up."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.cost.simulator import Simulator
from lib.hardware.datapath import datapath_from_spec
from lib.schedule.default import default_tiles
from lib.search.evaluate import Evaluator
from lib.search.first_guess import Roofline, log_value, mean_log_queries_per_s
from lib.search.free_limits import design_tdp_w, free_limits
from lib.search.learned_guess import LearnedGuess
from lib.search.space import datapath_of
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from tests.lib.search.table_3 import table_3
from tests.lib.search.toy_workload import toy_kernels

BASELINE = merged_datapath([HARDWARE_PRESETS["tpu-v3"]])
UNLIMITED = {"area_ratio": math.inf, "tdp_ratio": math.inf}


def points(number):
    """Random designs that meet FAST's limits."""
    space, rng = table_3(), np.random.default_rng(3)
    limits = free_limits(BASELINE, {"area_ratio": 1.67, "tdp_ratio": 2.0})
    drawn = (space.point(rng.integers(space.counts)) for _ in range(100 * number))
    return [point for point in drawn if limits.keeps(datapath_of(point))][:number]


@pytest.mark.parametrize("objective", ["throughput", "perf-per-tdp", "latency"])
def test_a_roofline_is_never_below_the_value(objective):
    workloads, weights = {"toy": toy_kernels, "again": toy_kernels}, {"toy": 1.0, "again": 2.0}
    evaluator = Evaluator(workloads, Simulator(), BASELINE, UNLIMITED, objective=objective, weights=weights)
    chosen = points(12)
    found = [evaluator.evaluate(datapath_of(point)) for point in chosen]
    guess = Roofline(workloads, weights, objective, None, Simulator().constants)(chosen)
    worth = {
        "throughput": [e.queries_per_s for e in found],
        "perf-per-tdp": [e.queries_per_s / design_tdp_w(e.design.datapath) for e in found],
        "latency": [1.0 / e.latency_s for e in found],
    }[objective]
    kept = [e.state == "ok" for e in found]
    assert sum(kept) > 5
    assert (guess >= np.log(worth) - 1e-9)[kept].all()


def test_a_learned_guess_adds_up_the_seconds_of_all_executions():
    guess = LearnedGuess(SimpleNamespace(scale="seconds"), {"toy": toy_kernels}, {"toy": 1.0}, "throughput")
    guess.model = Analytical()
    chosen = points(5)
    for point, value in zip(chosen, guess(chosen), strict=True):
        spec = datapath_of(point)
        work = toy_kernels(spec["native_batch"])
        _, seconds, fits = default_tiles(work.kernels, datapath_from_spec(spec))
        if fits.all():
            assert math.exp(value) == pytest.approx(spec["native_batch"] / (seconds @ work.executions), rel=0.1)


def test_objectives_of_the_same_queries():
    """100 queries a second of one core at batch 8 and half of that: by hand."""
    spec = merged_datapath([HARDWARE_PRESETS["fast-large"]])
    mean = mean_log_queries_per_s({"a": 0.08, "b": 0.16}, {"a": 1.0, "b": 1.0}, spec)
    assert math.exp(mean) == pytest.approx(math.sqrt(100 * 50))
    assert log_value("throughput", mean, spec) == mean
    assert math.exp(log_value("latency", mean, spec)) == pytest.approx(1 / math.sqrt(0.08 * 0.16))
    assert math.exp(log_value("perf-per-tdp", mean, spec)) == pytest.approx(math.sqrt(5000) / design_tdp_w(spec))
