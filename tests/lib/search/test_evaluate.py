"""Limits, infeasible designs, and Perf/TDP by hand with a cost model that always reaches the peak rate."""

import math

import numpy as np
import pytest
import yaml

from lib.hardware.power import chip_power
from lib.search.evaluate import Evaluator, geometric_mean
from lib.search.search import run_search
from lib.search.space import datapath_of
from schemas.hardware import Hardware
from schemas.search_artifact import SearchArtifact
from tests.lib.hardware.designs import FAST_LARGE, FAST_SMALL, KIB, MIB, TPU_V3
from tests.lib.search.table_3 import TABLE_3
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


def test_a_search_makes_a_valid_artifact(tmp_path):
    spec = {
        "id": "toy", "workloads": ["toy"], "baseline": {"id": "tpu-v3", "runtime": "simulated", "datapath": TPU_V3},
        "objective": "perf-per-tdp", "optimiser": "tpe", "trials": 25, "island": 1, "limits": LIMITS,
        "space": TABLE_3, "seed": 1,
    }  # fmt: skip
    contents = run_search(spec, {"toy": toy_kernels}, PeakRate())
    SearchArtifact.write(tmp_path / "a", id="toy/island-1", origin="simulated", code="c", spec=spec, contents=contents)
    artifact = SearchArtifact.read(tmp_path / "a")

    trials = artifact["trials.parquet"]
    ok = trials[trials.state == "ok"]
    best = ok.loc[ok.perf_per_tdp_gain.idxmax()]
    assert trials.best_so_far.iloc[-1] == best.perf_per_tdp_gain
    assert (trials.reason == "").equals(trials.state == "ok")
    assert trials.pareto[ok.index].any()
    assert not trials.pareto[trials.state != "ok"].any()

    entry = yaml.safe_load(artifact["best.yaml"])["toy-best"]
    design = artifact["designs.json"].best
    assert Hardware.model_validate(entry).datapath.given() == design.hardware
    point = {name: best[name] for name in TABLE_3}
    assert datapath_of(point) == design.hardware

    kernels = artifact["kernels.parquet"]
    assert kernels.executions @ kernels.baseline_s == pytest.approx(
        1 / artifact["designs.json"].baseline.queries_per_s["toy"]
    )
    assert kernels.executions @ kernels.best_s == pytest.approx(1 / design.queries_per_s["toy"])
    assert np.isclose(kernels.best_s[0] / kernels.best_s[2], 28 * 28 * 256 * 128 * 9 / (192 * 1000))


def test_a_search_without_a_feasible_design_says_so():
    spec = {
        "id": "toy", "baseline": {"id": "tpu-v3", "datapath": TPU_V3}, "optimiser": "random", "trials": 2,
        "island": 1, "limits": {"area_ratio": 0.001, "tdp_ratio": 0.001}, "space": TABLE_3, "seed": 1,
    }  # fmt: skip
    contents = run_search(spec, {"toy": toy_kernels}, PeakRate())
    assert contents["designs.json"].best is None
    assert contents["best.yaml"].startswith("# None of 2 trials")
    assert SearchArtifact.files["trials.parquet"].problem(contents["trials.parquet"]) is None
    assert SearchArtifact.files["kernels.parquet"].problem(contents["kernels.parquet"]) is None
    assert SearchArtifact.check(contents) is None
