"""Pre-screening on a toy objective: fewer evaluations, the same trials after a break, limits that cost nothing."""

import math

import numpy as np
import pytest

from lib.search.first_guess import BusyArrays
from lib.search.free_limits import FreeLimits, design_tdp_w, free_limits
from lib.search.optimise import optimise, optimiser_of
from lib.search.outcome import Outcome
from lib.search.prescreen import PreScreened, latest_milestone
from lib.search.space import datapath_of
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from tests.lib.search.table_3 import table_3

BASELINE = merged_datapath([HARDWARE_PRESETS["tpu-v3"]])
LIMITS = free_limits(BASELINE, {"area_ratio": 1.67, "tdp_ratio": 2.0})


def toy(point, best=None):
    """Queries a second that saturate with bandwidth, per watt; big batches keep a latency limit no longer."""
    spec = datapath_of(point)
    macs = spec["pes_x"] * spec["pes_y"] * spec["systolic_rows"] * spec["systolic_columns"]
    queries_per_s = 1.0 / (1.0 / macs + 1.0 / (100.0 * point["dram_channels"]) + 1e-4 * point["vector_multiplier"])
    kept = LIMITS.keeps(spec)
    return Outcome(
        queries_per_s / design_tdp_w(spec),
        {"limits": 0.0 if kept else 1.0, "latency": math.log2(point["native_batch"] / 64)},
    )


def screened(optimiser="swarm", seed=1):
    space = table_3()
    return PreScreened(optimiser_of(optimiser, space), space, BusyArrays("perf-per-tdp"), LIMITS, [seed, 0])


def run(optimiser, trials, seed=1, history=(), record=None):
    return optimise(table_3(), optimiser, trials, seed=seed, island=0, evaluate=toy, history=history, record=record)


def best(trials):
    return max(trial.outcome.value for trial in trials if trial.outcome.feasible)


@pytest.mark.parametrize("optimiser", ["random", "tpe", "swarm"])
def test_continued_equals_uninterrupted(optimiser):
    whole = run(screened(optimiser), 60)
    continued = run(screened(optimiser), 60, history=whole[:37])
    assert continued == whole
    assert run(screened(optimiser), 60, seed=2) != whole


def test_the_same_number_of_trials_reaches_more():
    assert np.mean([best(run(screened("random", seed), 80, seed)) for seed in (1, 2, 3)]) > 1.3 * np.mean(
        [best(run("random", 80, seed)) for seed in (1, 2, 3)]
    )


def test_trials_keep_the_limits_that_cost_nothing_and_differ():
    trials = run(screened(), 80)
    assert all(LIMITS.keeps(datapath_of(trial.point)) for trial in trials[5:])
    assert len({tuple(datapath_of(trial.point).items()) for trial in trials}) == 80


def test_limits_that_only_a_run_tells_are_learnt():
    trials = run(screened("random"), 200)
    late = [trial.outcome.violations["latency"] > 0 for trial in trials]
    assert sum(late) > 2  # two of nine batches are too large
    assert np.mean(late[-100:]) < 0.1


def test_nothing_passes():
    space = table_3()
    none = FreeLimits(area_mm2=0.0, tdp_w=0.0)
    optimiser = PreScreened(optimiser_of("random", space), space, BusyArrays("throughput"), none, [1, 0])
    points = [trial.point for trial in run(optimiser, 10)]
    assert len(points) == 10


def test_milestones():
    assert [latest_milestone(number) for number in (0, 19, 20, 23, 24, 28, 29, 34)] == [0, 0, 20, 20, 24, 24, 29, 29]


def test_limits_are_those_of_the_baseline():
    fast_large = merged_datapath([HARDWARE_PRESETS["fast-large"]])
    assert LIMITS.keeps(fast_large)
    # FAST table 5: 1.17 of TPU-v3's area.
    assert not free_limits(BASELINE, {"area_ratio": 1.1, "tdp_ratio": 2.0}).keeps(fast_large)
    # Half of what 32 rows take.
    assert not LIMITS.keeps(fast_large | {"l1_config": "private", "l1_input_bytes": 64})


@pytest.mark.parametrize(
    ("objective", "ratio"),
    [("throughput", 4.0), ("latency", 2.0)],
)
def test_busy_arrays(objective, ratio):
    """Four times the arrays, twice the batch."""
    point = {name: values[min(1, len(values) - 1)] for name, values in table_3().values.items()}
    larger = point | {"systolic_rows": point["systolic_rows"] * 4, "native_batch": 2 * point["native_batch"]}
    first, second = BusyArrays(objective)([point, larger])
    assert math.exp(second - first) == pytest.approx(ratio)
