"""Limits, infeasible designs, and Perf/TDP by hand with a cost model that always reaches the peak rate."""

import math

import pytest

from lib.hardware.power import chip_power
from lib.search.evaluate import Evaluator, geometric_mean
from tests.lib.hardware.designs import FAST_LARGE, FAST_SMALL, KIB, MIB, TPU_V3
from tests.lib.search.test_space import LARGE_POINT
from tests.lib.search.toy_workload import PeakRate, toy_kernels

LIMITS = {"area_ratio": 1.67, "tdp_ratio": 2.0}


@pytest.fixture(scope="module")
def evaluator():
    return Evaluator({"toy": toy_kernels}, PeakRate(), TPU_V3, LIMITS)


def test_the_baseline_is_one(evaluator):
    assert evaluator.gain(evaluator.evaluate(TPU_V3)) == pytest.approx(1)
    assert evaluator.gain(evaluator.evaluate(TPU_V3), "public") == pytest.approx(1)


def test_perf_per_tdp_by_hand(evaluator):
    evaluation = evaluator.evaluate(FAST_SMALL)
    macs = 28 * 28 * (2 * 256 * 128 * 9 + 192 * 9) + 192 * 1000  # a sample; the convolution runs twice
    assert evaluation.state == "ok"
    assert evaluation.runs["toy"].queries_per_s == pytest.approx(8 * 64 * 32 * 1e9 / macs)
    assert evaluation.runs["toy"].utilisation == pytest.approx(1)
    speed = (8 * 64 * 32 * 1e9) / (4 * 128 * 128 * 0.94e9)
    for model in ("fast-fitted", "public"):
        watts = chip_power(FAST_SMALL, model).total / chip_power(TPU_V3, model).total
        assert evaluator.gain(evaluation, model) == pytest.approx(speed / watts)


def test_limits_cost_no_simulation(evaluator):
    def forbidden(batch):
        raise AssertionError("simulated")

    evaluator = Evaluator({"toy": toy_kernels}, PeakRate(), TPU_V3, LIMITS)
    evaluator.workloads = {"toy": forbidden}
    large = evaluator.evaluate(FAST_LARGE | {"global_buffer_bytes": 512 * MIB})
    assert large.state == "area"
    assert "the limit is 1.67" in large.reason
    hot = evaluator.evaluate(FAST_LARGE | {"l1_input_bytes": 256 * KIB})
    assert hot.state == "tdp"
    narrow = evaluator.evaluate(FAST_LARGE | {"l1_config": "private", "l1_input_bytes": 64})
    assert narrow.state == "infeasible"
    assert narrow.failing_share == 1


def test_violations_are_doublings_over_the_limit(evaluator):
    point = LARGE_POINT | {"global_buffer_bytes": 256 * MIB, "pes_x": 64}
    outcome = evaluator.outcome(point)
    ratio = evaluator.ratio(outcome.detail.design, "area")
    assert outcome.violations["area"] == pytest.approx(math.log2(ratio / 1.67))
    assert outcome.violations["area"] > 0
    assert outcome.violations["kernels"] == 0
    assert max(evaluator.outcome(LARGE_POINT).violations.values()) <= 0


def test_no_tile_fits(evaluator):
    # Without buffers the tiles live in L1: 3 KiB can't hold 128 contracted channels of a 28 x 28 x 256 output.
    tiny = FAST_SMALL | {"global_buffer_bytes": 0, "pes_x": 1, "pes_y": 1, "systolic_rows": 8, "systolic_columns": 8}
    tiny |= {"l1_input_bytes": KIB, "l1_weight_bytes": KIB, "l1_output_bytes": KIB}
    evaluation = evaluator.evaluate(tiny)
    assert evaluation.state == "infeasible"
    assert evaluation.reason.startswith("toy: no tile fits for")
    assert 0 < evaluation.failing_share <= 1
    assert math.isnan(evaluator.gain(evaluation))


def test_geometric_mean():
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4)
