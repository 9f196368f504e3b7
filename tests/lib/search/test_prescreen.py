"""Pre-screening on a toy objective: fewer evaluations, the same trials after a break, limits that cost nothing."""

import math

import numpy as np
import pytest

from lib.search.free_limits import FreeLimits, design_tdp_w, free_limits
from lib.search.optimise import optimise
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


def peak_per_watt(points):
    """A first guess."""
    specs = [datapath_of(point) for point in points]
    return np.array([math.log(spec["pes_x"] * spec["pes_y"] / design_tdp_w(spec)) for spec in specs])


def run(optimiser, trials, seed=1, screened=True, limits=LIMITS, **options):
    space = table_3()

    def screen(optimiser):
        return PreScreened(optimiser, space, peak_per_watt, limits, [seed, 0])

    return optimise(
        space, optimiser, trials, seed=seed, island=0, evaluate=toy, screen=screen if screened else None, **options
    )


def best(trials):
    return max(trial.outcome.value for trial in trials if trial.outcome.feasible)


@pytest.mark.parametrize("optimiser", ["random", "tpe", "swarm"])
def test_continued_equals_uninterrupted(optimiser):
    whole = run(optimiser, 60)
    recorded = []
    assert run(optimiser, 60, history=whole[:37], record=recorded.append) == whole
    assert recorded == whole[37:]
    assert run(optimiser, 60, seed=2) != whole


def test_the_same_number_of_trials_reaches_more():
    screened = np.mean([best(run("random", 80, seed)) for seed in (1, 2, 3)])
    assert screened > 1.3 * np.mean([best(run("random", 80, seed, screened=False)) for seed in (1, 2, 3)])


def test_trials_keep_the_limits_that_cost_nothing_and_differ():
    trials = run("swarm", 80)
    assert all(LIMITS.keeps(datapath_of(trial.point)) for trial in trials[5:])
    assert len({tuple(datapath_of(trial.point).items()) for trial in trials}) == 80


def test_limits_that_only_a_run_tells_are_learnt():
    trials = run("random", 200)
    late = [trial.outcome.violations["latency"] > 0 for trial in trials]
    assert sum(late) > 2  # two of nine batches are too large
    assert np.mean(late[-100:]) < 0.1


def test_nothing_passes():
    assert len(run("random", 10, limits=FreeLimits(area_mm2=0.0, tdp_w=0.0))) == 10


def test_milestones():
    assert [latest_milestone(number) for number in (0, 19, 20, 23, 24, 28, 29, 34)] == [0, 0, 20, 20, 24, 24, 29, 29]


def test_limits_are_those_of_the_baseline():
    fast_large = merged_datapath([HARDWARE_PRESETS["fast-large"]])
    assert LIMITS.keeps(fast_large)
    # FAST table 5: 1.17 of TPU-v3's area.
    assert not free_limits(BASELINE, {"area_ratio": 1.1, "tdp_ratio": 2.0}).keeps(fast_large)
    # Half of what 32 rows take.
    assert not LIMITS.keeps(fast_large | {"l1_config": "private", "l1_input_bytes": 64})
