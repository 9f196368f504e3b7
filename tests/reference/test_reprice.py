"""Designs of a search cost the same when every kernel is walked with the schedule and placement that was chosen."""

import numpy as np
import pytest

from lib.cost.simulator import Simulator
from lib.search.evaluate import Evaluator
from lib.search.free_limits import free_limits
from lib.search.space import datapath_of
from schemas.hardware import HARDWARE_PRESETS, merged_datapath
from tests.lib.search.table_3 import table_3
from tests.lib.search.toy_workload import toy_kernels
from tests.reference.reprice import repriced_design

BASELINE = merged_datapath([HARDWARE_PRESETS["tpu-v3"]])
LIMITS = {"area_ratio": 1.67, "tdp_ratio": 2.0}


@pytest.mark.parametrize("residency", ["none", "paper"])
def test_searched_designs_walked(residency):
    evaluator = Evaluator({"toy": toy_kernels}, Simulator(), BASELINE, LIMITS, residency=residency)
    space, rng, limits = table_3(), np.random.default_rng(4), free_limits(BASELINE, LIMITS)
    walked = 0
    while walked < 4:
        point = space.point(rng.integers(space.counts))
        if point["native_batch"] > 4 or not limits.keeps(datapath_of(point)):
            continue
        evaluation = evaluator.evaluate(datapath_of(point))
        if evaluation.state == "ok":
            walked += 1
            found = repriced_design(evaluator, evaluation, "three-pass")["toy"]
            assert found.rows > 0
            assert found.largest_difference < 1e-9
            assert found.walked_s == pytest.approx(found.simulated_s, rel=1e-9)
