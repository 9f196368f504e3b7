"""The text of how a workload runs, read back."""

import numpy as np

from lib.cost.simulator import Simulator
from lib.search.evaluate import Evaluator
from lib.search.results import Best
from lib.search.schedule_text import best_schedules_text, schedule_text
from tests.lib.hardware.designs import FAST_SMALL, TPU_V3
from tests.lib.search.toy_workload import toy_kernels


def test_every_kernel_has_its_loops_and_its_time():
    evaluator = Evaluator({"toy": toy_kernels}, Simulator(), TPU_V3, {"area_ratio": 1.67, "tdp_ratio": 2.0})
    run = evaluator.evaluate(FAST_SMALL).runs["toy"]
    paragraphs = schedule_text(run, toy_kernels(64)).strip().split("\n\n")
    assert [paragraph.partition(":")[0] for paragraph in paragraphs] == ["relu", "depthwise", "classifier"]
    assert paragraphs[0].startswith("relu: 2 times, ")
    microseconds = [float(paragraph.split(" us in all")[0].rpartition(" ")[2]) for paragraph in paragraphs]
    assert np.isclose(sum(microseconds), run.latency_s * 1e6, rtol=1e-3)
    assert all(" compute" in paragraph or "\ncompute" in paragraph for paragraph in paragraphs)
    assert all("stationary" in paragraph for paragraph in paragraphs)


def test_a_search_has_the_text_of_its_best_design():
    evaluator = Evaluator({"toy": toy_kernels}, Simulator(), TPU_V3, {"area_ratio": 1.67, "tdp_ratio": 2.0})
    evaluation = evaluator.evaluate(FAST_SMALL)
    text = best_schedules_text({"toy": toy_kernels}, Best(0, evaluation, "three-pass"))
    assert text.startswith("# toy, batch 64\n\nrelu: ")
    assert text.endswith(schedule_text(evaluation.runs["toy"], toy_kernels(64)))
    assert "No design" in best_schedules_text({"toy": toy_kernels}, None)
