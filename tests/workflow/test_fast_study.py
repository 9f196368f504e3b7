"""The study fast.yaml asks for what the paper shows."""

from pathlib import Path

import pytest

from lib.report.search_comparison import CONVERGENCE_WORKLOAD, MULTI_WORKLOADS, SINGLE_WORKLOADS
from schemas.study_file import load_study

STUDIES = Path(__file__).parents[2] / "workflow" / "studies"


@pytest.fixture(scope="module")
def fast():
    return load_study(STUDIES / "fast.yaml")


@pytest.mark.parametrize("objective", ["perf-per-tdp", "throughput"])
def test_every_workload_has_a_search_of_its_own_and_five_share_one(fast, objective):
    """FAST figures 9 and 10: 13 workloads singly, five together, no limit on latency."""
    plain = [s for s in fast.searches.values() if s.objective == objective and s.limits.latency_s is None]
    of_paper = [search for search in plain if search.residency == "paper" and search.islands == 1]
    assert [s.workloads[0] for s in of_paper if len(s.workloads) == 1] == list(SINGLE_WORKLOADS)
    assert [set(s.workloads) for s in of_paper if len(s.workloads) > 1] == [set(MULTI_WORKLOADS)]


def test_limits_and_trials_are_the_papers(fast):
    """FAST table 5: 2.0 and 1.67 times TPU-v3; section 6.1: 5000 trials an experiment."""
    for search in fast.searches.values():
        assert (search.limits.tdp_ratio, search.limits.area_ratio, search.trials) == (2.0, 1.67, 5000)
        assert (search.baseline, search.baseline_schedule) == ("tpu-v3", "default")


def test_convergence_has_five_runs_of_three_optimisers(fast):
    """FAST figure 11."""
    runs = {s.optimiser: s for s in fast.searches.values() if s.islands == 5}
    assert set(runs) == {"swarm", "tpe", "random"}
    assert all(search.workloads == [CONVERGENCE_WORKLOAD] for search in runs.values())


def test_mlperfs_limit(fast):
    """FAST section 6.2.5: image classification within 15 ms."""
    assert [s.limits.latency_s for s in fast.searches.values() if s.limits.latency_s is not None] == [0.015]


def test_the_small_study_has_the_same_parts():
    tiny = load_study(STUDIES / "fast_tiny.yaml").searches.values()
    assert {s.optimiser for s in tiny} >= {"swarm", "tpe", "random"}
    assert {s.objective for s in tiny} == {"perf-per-tdp", "throughput"}
    assert any(s.islands > 1 for s in tiny)
    assert any(s.limits.latency_s for s in tiny)
    assert sum(s.trials * s.islands for s in tiny) < 200
