"""Kernels of a search before and after, on a workload made by hand."""

import numpy as np
import pytest

from lib.cost.simulator import Simulator
from lib.search.evaluate import Evaluator
from lib.search.kernels_table import kernels_table
from lib.search.results import REFERENCES, Best, designs
from lib.search.space import Space
from schemas.search_artifact import KERNELS
from tests.lib.hardware.designs import FAST_LARGE, TPU_V3
from tests.lib.search.toy_workload import toy_kernels


def two_forms(batch, softmax="three-pass"):
    """The toy workload, whose classifier has another root where softmax takes two passes."""
    work = toy_kernels(batch)
    if softmax == "three-pass":
        return work
    found = work.found._replace(roots=["relu", "depthwise", "fused"])
    return work._replace(found=found, names=["relu", "depthwise", "relu_1", "fused"])


@pytest.fixture(scope="module")
def evaluator():
    return Evaluator({"toy": two_forms}, Simulator(), TPU_V3, {"area_ratio": 1e9, "tdp_ratio": 1e9}, residency="paper")


@pytest.fixture(scope="module")
def best(evaluator):
    return Best(3, evaluator.final(FAST_LARGE), "three-pass")


def test_seconds_add_up_to_a_query(evaluator, best):
    table = kernels_table(evaluator.workloads, evaluator.baseline, best)
    assert KERNELS.problem(table) is None
    assert table["root"].tolist() == ["relu", "depthwise", "classifier"]
    assert table["executions"].tolist() == [2, 1, 1]
    for column, evaluation in (("baseline_s", evaluator.baseline), ("best_s", best.evaluation)):
        assert table["executions"] @ table[column] == pytest.approx(1 / evaluation.runs["toy"].queries_per_s)
    moved = best.evaluation.runs["toy"].dram_bytes.sum() / FAST_LARGE["native_batch"]
    assert table["executions"] @ table["best_dram_bytes"] == pytest.approx(moved)


def test_what_stays_is_a_share_of_executions(evaluator, best):
    run = best.evaluation.runs["toy"]
    kept = run.schedules._replace(resident=np.array([2, 0, 0, 6], dtype=np.uint8))
    changed = best.evaluation._replace(runs={"toy": run._replace(schedules=kept)})
    table = kernels_table(evaluator.workloads, evaluator.baseline, best._replace(evaluation=changed))
    assert table["weight_resident"].tolist() == [0.5, 0.0, 1.0]
    assert table["output_resident"].tolist() == [0.0, 0.0, 1.0]
    assert table["input_resident"].tolist() == [0.0, 0.0, 0.0]


def test_kernels_of_another_form_of_softmax_follow(evaluator):
    best = Best(3, evaluator.final(FAST_LARGE, softmax="two-pass"), "two-pass")
    table = kernels_table(evaluator.workloads, evaluator.baseline, best)
    assert KERNELS.problem(table) is None
    assert table["root"].tolist() == ["relu", "depthwise", "classifier", "fused"]
    assert table["kernel"].tolist() == [0, 1, 2, 3]
    assert np.isnan(table["best_s"][2])
    assert table["baseline_s"][3] == 0.0
    best_s = table["best_s"].fillna(0.0)
    assert table["executions"] @ best_s == pytest.approx(1 / best.evaluation.runs["toy"].queries_per_s)


def test_without_a_best_design_nothing_is_known_of_it(evaluator):
    table = kernels_table(evaluator.workloads, evaluator.baseline, None)
    assert KERNELS.problem(table) is None
    assert table["best_s"].isna().all()


def test_designs_stand_side_by_side(evaluator, best):
    found = designs(Space({}), evaluator, "tpu-v3", best, [])
    assert [design.name for design in found.references] == list(REFERENCES)
    assert (found.baseline.name, found.compiled.name) == ("tpu-v3", "tpu-v3")
    assert found.scheduled.name == "tpu-v3, best schedules"
    assert found.compiled.value == pytest.approx(1.0)
    assert found.best.name == "trial 3"
    large = found.references[0]
    assert large.queries_per_s == pytest.approx(found.best.queries_per_s)
    assert large.latency_s["toy"] == pytest.approx(FAST_LARGE["native_batch"] / large.queries_per_s["toy"])
    assert large.dram_bytes["toy"] == pytest.approx(
        best.evaluation.runs["toy"].dram_bytes.sum() / FAST_LARGE["native_batch"]
    )
