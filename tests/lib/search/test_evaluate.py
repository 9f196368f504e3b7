"""Limits, bounds, infeasible designs, objectives by hand, and what stays on chip."""

import math

import numpy as np
import pytest

from lib.cost.simulator import Simulator
from lib.cost.simulator_constants import STREAMS_ALONE
from lib.fidelity.best_tiles import NOTHING_LOST
from lib.hardware.datapath import datapath_from_spec
from lib.hardware.power import chip_power
from lib.schedule.best import ANY_DATAFLOW
from lib.schedule.descent import prepared
from lib.search.bound import least_kernel_seconds, least_seconds, least_work
from lib.search.evaluate import Evaluator
from lib.search.run import quick_run
from lib.search.workload import WorkloadKernels
from tests.kernel_examples import dot
from tests.lib.cost.random_designs import random_datapath
from tests.lib.hardware.designs import FAST_LARGE, FAST_SMALL, KIB, MIB, TPU_V3
from tests.lib.residency.program_examples import LAST, RESIDUAL, program
from tests.lib.search.test_space import LARGE_POINT
from tests.lib.search.toy_workload import toy_kernels

LIMITS = {"area_ratio": 1.67, "tdp_ratio": 2.0}
PEAK = NOTHING_LOST._replace(array_timing=STREAMS_ALONE, mesh_width=math.inf)
"""Arrays at their peak rate whatever streams through them."""
NO_LIMITS = {"area_ratio": 1e9, "tdp_ratio": 1e9}


def dots(batch, softmax="three-pass"):
    """A product of matrices that fills every array, 2 x 256 x 1024 x 2048 FLOPs a sample, and one of half of them."""
    found = program([dot(256 * batch, 1024, 2048), dot(256 * batch, 1024, 1024)], [])
    flops = 2.0 * 256 * batch * 1024 * np.array([2048.0, 1024.0])
    return WorkloadKernels(found, np.ones(2, dtype=bool), flops, ["whole", "half"])


def residual(batch, softmax="three-pass"):
    """Three additions, one of them of a skip connection; any batch."""
    return WorkloadKernels(RESIDUAL, np.array(LAST), np.ones(3), ["first", "second", "sum"])


@pytest.fixture(scope="module")
def evaluator():
    return Evaluator({"toy": toy_kernels}, Simulator(), TPU_V3, LIMITS)


def test_the_baseline_is_one(evaluator):
    for model in ("fast-fitted", "public"):
        assert evaluator.gain(evaluator.baseline, model) == pytest.approx(1)
    assert evaluator.value(evaluator.baselines["default"]) == pytest.approx(1)
    assert evaluator.gain(evaluator.baselines["best"], over="best") == pytest.approx(1)
    assert evaluator.gain(evaluator.baselines["best"]) >= 1
    assert evaluator.gain(evaluator.evaluate(TPU_V3)) >= 1


def test_perf_per_tdp_by_hand():
    # Nothing but the arrays takes time: all of them work all the time.
    free = {"dram_bytes_per_s": 1e18, "vector_lanes": 1 << 20}
    evaluator = Evaluator({"dots": dots}, Simulator(PEAK), TPU_V3 | free | {"array_efficiency": 1.0}, NO_LIMITS)
    small = FAST_SMALL | free
    evaluation = evaluator.evaluate(small)
    macs = 256 * 1024 * (2048 + 1024)  # a sample
    assert evaluation.runs["dots"].queries_per_s == pytest.approx(8 * 64 * 32 * 1e9 / macs, rel=1e-6)
    assert evaluation.runs["dots"].utilisation == pytest.approx(1, rel=1e-6)
    assert evaluation.latency_s == pytest.approx(64 * macs / (8 * 64 * 32 * 1e9), rel=1e-6)
    speed = (8 * 64 * 32 * 1e9) / (4 * 128 * 128 * 0.94e9)
    for model in ("fast-fitted", "public"):
        watts = chip_power(small, model).total / chip_power(TPU_V3 | free, model).total
        assert evaluator.gain(evaluation, model) == pytest.approx(speed / watts, rel=1e-6)


@pytest.mark.parametrize(("objective", "figure"), [("throughput", "queries_per_s"), ("latency", "latency_s"),
                                                   ("energy", "joules")])  # fmt: skip
def test_other_objectives(objective, figure):
    evaluator = Evaluator({"toy": toy_kernels}, Simulator(), TPU_V3, LIMITS, objective=objective)
    evaluation = evaluator.evaluate(FAST_SMALL)
    ratio = getattr(evaluation, figure) / getattr(evaluator.baseline, figure)
    assert evaluator.value(evaluation) == pytest.approx(ratio if objective == "throughput" else 1 / ratio)
    assert evaluator.value(evaluator.baseline) == 1


def test_energy_is_at_most_tdp(evaluator):
    evaluation = evaluator.evaluate(FAST_SMALL)
    watts = evaluation.joules * evaluation.queries_per_s
    assert 0 < watts < chip_power(FAST_SMALL, "fast-fitted").total


def test_workloads_count_by_weight():
    workloads = {"toy": toy_kernels, "dots": dots}
    both = Evaluator(workloads, Simulator(), TPU_V3, LIMITS, weights={"toy": 3.0}).evaluate(FAST_SMALL)
    toy, products = (both.runs[id].queries_per_s for id in workloads)
    assert both.queries_per_s == pytest.approx(toy**0.75 * products**0.25)


def test_limits_cost_no_simulation(evaluator):
    def forbidden(batch, softmax):
        raise AssertionError("simulated")

    evaluator = Evaluator({"toy": forbidden}, Simulator(), TPU_V3, LIMITS)
    large = evaluator.evaluate(FAST_LARGE | {"global_buffer_bytes": 512 * MIB})
    assert large.state == "area"
    assert "the limit is 1.67" in large.reason
    hot = evaluator.evaluate(FAST_LARGE | {"l1_input_bytes": 256 * KIB})
    assert hot.state == "tdp"
    narrow = evaluator.evaluate(FAST_LARGE | {"l1_config": "private", "l1_input_bytes": 64})
    assert narrow.state == "infeasible"
    assert narrow.failing_share == 1


def test_kernels_are_prepared_once_for_a_register_tile():
    evaluator = Evaluator({"toy": toy_kernels}, Simulator(), TPU_V3, LIMITS)
    for changes in ({}, {"pes_x": 1}, {"global_buffer_bytes": 4 * MIB}, {"systolic_rows": 64}):
        assert evaluator.evaluate(FAST_SMALL | changes).state == "ok"
    assert len(evaluator._prepared) == 1
    evaluator.evaluate(FAST_SMALL | {"native_batch": 32})
    assert len(evaluator._prepared) == 2


def test_violations_are_doublings_over_the_limit(evaluator):
    point = LARGE_POINT | {"global_buffer_bytes": 256 * MIB, "pes_x": 64}
    outcome = evaluator.outcome(point)
    ratio = evaluator.ratio(outcome.detail.design, "area")
    assert outcome.violations["area"] == pytest.approx(math.log2(ratio / 1.67))
    assert outcome.violations["area"] > 0
    assert outcome.violations["kernels"] == 0
    assert evaluator.outcome(LARGE_POINT).feasible


def test_no_tile_fits(evaluator):
    # Without buffers the tiles live in L1: 3 KiB can't hold 128 contracted channels of a 28 x 28 x 256 output.
    tiny = FAST_SMALL | {"global_buffer_bytes": 0, "pes_x": 1, "pes_y": 1, "systolic_rows": 8, "systolic_columns": 8}
    tiny |= {"l1_input_bytes": KIB, "l1_weight_bytes": KIB, "l1_output_bytes": KIB}
    evaluation = evaluator.evaluate(tiny)
    assert evaluation.state == "infeasible"
    assert evaluation.reason.startswith("toy: no tile fits for")
    assert 0 < evaluation.failing_share <= 1
    assert math.isnan(evaluator.gain(evaluation))
    assert evaluator.final(tiny).reason == evaluation.reason


def test_a_batch_that_takes_too_long(evaluator):
    free = evaluator.evaluate(FAST_SMALL)
    strict = Evaluator({"toy": toy_kernels}, Simulator(), TPU_V3, LIMITS | {"latency_s": 0.99 * free.latency_s})
    assert strict.evaluate(FAST_SMALL).state == "latency"
    outcome = strict.outcome(_small_point())
    assert outcome.violations["latency"] == pytest.approx(math.log2(1 / 0.99))
    assert not outcome.feasible
    assert math.isnan(outcome.value)
    never = Evaluator({"toy": toy_kernels}, Simulator(), TPU_V3, LIMITS | {"latency_s": 1e-9})
    stopped = never.evaluate(FAST_SMALL)
    assert stopped.reason.startswith("a batch takes at least")
    assert stopped.slowest_s <= free.latency_s


def _small_point():
    return LARGE_POINT | {"pes_x": 4, "pes_y": 2, "systolic_columns": 64, "native_batch": 64,
                          "global_buffer_bytes": 8 * MIB}  # fmt: skip


def test_a_trial_that_cannot_win_stops(evaluator):
    value = evaluator.outcome(LARGE_POINT).value
    assert evaluator.outcome(LARGE_POINT, incumbent=0.5 * value).value == value
    stopped = evaluator.outcome(LARGE_POINT, incumbent=100 * value)
    assert stopped.bound
    assert stopped.feasible
    assert stopped.detail.state == "bound"
    assert value <= stopped.value <= 100 * value
    # A bound that is too high lets the first kernels run; what they take decides.
    later = evaluator.outcome(LARGE_POINT, incumbent=0.99 * stopped.value)
    assert later.bound == (later.value <= 0.99 * stopped.value)
    assert value <= later.value


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("residency", [None, "paper", "lifetime"])
def test_no_run_beats_the_bound(seed, residency):
    datapath = random_datapath(np.random.default_rng(seed))._replace(global_buffer_bytes=16 * MIB, native_batch=8)
    model = Simulator()
    for kernels_of in (toy_kernels, residual):
        work = kernels_of(8)
        bound = least_seconds(least_work(work, residency), datapath, model.constants)
        found = quick_run(work, prepared(work.kernels, datapath), datapath, model, residency, ANY_DATAFLOW)
        assert 0 < bound <= found.latency_s
        kernel_s = least_kernel_seconds(least_work(work, residency), work, datapath, model.constants)
        seconds = np.bincount(work.occurrence, found.occurrence_s * work.occurrence_executions) / work.executions
        assert (kernel_s <= seconds * (1 + 1e-9)).all()


def test_the_bound_by_hand():
    work, datapath = residual(1), datapath_from_spec(TPU_V3)
    tensor = 1024 * 1024 * 2
    moved = {None: 2 + 2 + 4, "paper": 2 + 0 + 2, "lifetime": 1 + 0 + 1}  # the weight of 2 MiB fits in 16
    for residency, tensors in moved.items():
        seconds = least_seconds(least_work(work, residency), datapath, NOTHING_LOST)
        assert seconds == pytest.approx(tensors * tensor / datapath.dram_bytes_per_s)


def test_what_stays_on_chip_makes_it_faster_and_a_final_design_is_no_slower():
    latency = {}
    for residency in ("none", "paper", "lifetime"):
        evaluator = Evaluator({"residual": residual}, Simulator(), TPU_V3, NO_LIMITS, residency=residency)
        quick, final = evaluator.evaluate(FAST_LARGE), evaluator.final(FAST_LARGE)
        assert final.latency_s <= quick.latency_s
        latency[residency] = quick.latency_s
    assert latency["lifetime"] < 0.9 * latency["paper"] < 0.9 * latency["none"]
