"""The paper's view of our kernels, and runs in its byte convention."""

import numpy as np
import pytest

from lib.fidelity.fast.conventions import table_5_bytes
from lib.fidelity.fast.regions import fast_regions
from lib.fidelity.fast.runs import Runs, block_labels, chip, perf_per_tdp_gain
from tests import program_examples

NETWORK = program_examples.squeeze_excite()
TPU_V3 = chip("tpu-v3")


@pytest.fixture(scope="module")
def runs():
    return Runs({"network": NETWORK})


def test_chain_links_the_projection_to_the_depthwise_convolution(runs):
    kernels_of, chain = runs.kernels("network", 1)
    assert kernels_of.names == ["expand", "depthwise", "mean", "narrow", "widen", "project"]
    assert [kernels_of.names[place] for place in chain.order] == ["expand", "depthwise", "project", "narrow", "widen"]
    assert [kernels_of.names[place] for place in chain.reductions] == ["mean"]
    # expand to depthwise, depthwise to project; what goes to and from squeeze-excite is no tensor of the chain.
    assert sorted(chain.found.occurrence_edge[:, :2].tolist()) == [[0, 1], [1, 2]]
    assert chain.leaves.tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("scheduling", ["default", "best"])
def test_bytes_are_those_of_convention_table_5(runs, scheduling):
    """Tiles of so small a network are whole, so each array moves once; squeeze-excite's own inputs are 2 x (16 + 4)."""
    run = runs.run("network", 1, TPU_V3, scheduling)
    convention = sum(map(table_5_bytes, fast_regions(NETWORK)))
    squeezed = 2 * 2 * (16 + 4 + 4 + 16)
    assert run.dram_bytes.sum() == pytest.approx(convention + squeezed, rel=1e-9)
    assert run.dram_bytes[2] == 0


def test_residency_saves_what_passes_between_neighbours(runs):
    unfused = runs.run("network", 1, TPU_V3, "default")
    fused = runs.run("network", 1, TPU_V3, "default", resident=True)
    # Both arrays of 16 channels are neither written nor read: expand, depthwise.
    kept = 2 * 2 * (2 * 8 * 8 * 16 * 2)
    weights = sum(region.weight_bytes for region in fast_regions(NETWORK))
    assert unfused.dram_bytes.sum() - fused.dram_bytes.sum() == pytest.approx(kept + weights)
    assert fused.latency_s < unfused.latency_s
    assert fused.compute_utilisation == pytest.approx(unfused.compute_utilisation)


def test_utilisation_and_queries_follow_from_time(runs):
    run = runs.run("network", 1, TPU_V3, "default")
    peak = 2 * 2 * 128 * 128 * 0.94e9
    assert run.utilisation() == pytest.approx(run.occurrences.flops.sum() / (run.latency_s * peak))
    assert run.queries_per_s == pytest.approx(2 / run.latency_s)
    assert run.compute_utilisation * (1 - run.stall_share) == pytest.approx(run.utilisation())
    assert run.time_share(np.ones(6, dtype=bool)) == pytest.approx(1.0)


def test_kernels_without_a_block_go_with_those_before():
    names = ["stem_conv_1/convolution", "block1a_depthwise_conv_1/depthwise", "pooling/Mean", "top_conv_1/convolution"]
    assert block_labels(names) == ["stem", "1a", "1a", "top"]


def test_perf_per_tdp_is_relative():
    large = chip("fast-large")
    assert perf_per_tdp_gain(100.0, TPU_V3, 50.0, TPU_V3) == pytest.approx(2.0)
    # FAST, table 5: 733 and 210 queries a second give 3.9 to 4.4, depending on how the TDPs are rounded.
    assert perf_per_tdp_gain(733.0, large, 210.0, TPU_V3) == pytest.approx(4.15, rel=0.06)
