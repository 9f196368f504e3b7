"""Layers against the recorded SCALE-Sim table, and comparisons with a peer whose answers are made up."""

import pytest

from lib.benchmark.peers import compare
from lib.benchmark.peers.compare import (
    PeersMissing,
    our_rate,
    peer_ratios,
    scalesim_array,
    scalesim_figures,
    zigzag_figures,
)
from lib.benchmark.peers.layers import LAYERS, convolution
from lib.cost.simulator import Simulator
from lib.fidelity.scalesim import layers as recorded_layers
from lib.fidelity.zigzag import tpu_like
from lib.program.extraction import kernel_work
from lib.schedule.tiles import tile_space
from tests.lib.benchmark.small_setting import small_setting

RECORDED = {row.layer: row for row in recorded_layers() if row.dataflow == "ws" and row.rows == 128}


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_layers_are_those_of_the_recorded_table(layer):
    row = RECORDED[layer.name]
    assert layer.products == (row.M, row.N, row.K)


def test_all_convolutions_of_the_table_are_there():
    assert {layer.name for layer in LAYERS} == {name for name in RECORDED if name.startswith("r50_")}


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_kernels_do_the_work_of_the_layer(layer):
    m, n, k = layer.products
    kernels = convolution(layer)
    assert kernel_work(kernels).flops.tolist() == [2 * m * n * k]
    for datapath in (scalesim_array(128), tpu_like()):
        schedules = tile_space(kernels, datapath, 4, seed=1)
        assert (Simulator().cost(kernels, schedules, datapath).value > 0).all()


def test_scalesim_figures(monkeypatch, tmp_path):
    layer = LAYERS[1]
    cycles = RECORDED[layer.name].compute_cycles

    def answer(script, request, layers, budget_s):
        assert (script, request) == ("run_scalesim.py", {"rows": 128, "columns": 128, "dataflow": "ws"})
        return [{"name": layer.name, "seconds": 2.0, "compute_cycles": cycles}]

    monkeypatch.setattr(compare, "run_peer", answer)
    monkeypatch.setattr(compare, "our_rate", lambda layer, datapath: 1000.0)
    figures = {found.name: found for found in scalesim_figures((layer,), small_setting(tmp_path))}
    assert figures["bench.peer.scalesim.layers_per_s"].values == (0.5,)
    assert figures["bench.peer.scalesim.our_rows_per_s"].values == (1000.0,)
    assert figures["bench.peer.scalesim.ratio"].values == (2000.0,)
    assert figures["bench.peer.scalesim.compute_cycles_error_pct"].values == (0.0,)
    note = figures["bench.peer.scalesim.layers_per_s"].note
    assert note == f"1 of ResNet-50's 11 convolution shapes, in the time that there was: {layer.name}"


def test_zigzag_figures(monkeypatch, tmp_path):
    answers = [{"name": layer.name, "seconds": 3.0, "evaluations": 720} for layer in LAYERS]
    monkeypatch.setattr(compare, "run_peer", lambda *arguments: answers)
    monkeypatch.setattr(compare, "our_rate", lambda layer, datapath: 480_000.0)
    figures = {found.name: found for found in zigzag_figures(LAYERS, small_setting(tmp_path))}
    assert figures["bench.peer.zigzag.mappings_per_s"].value == 240.0
    assert figures["bench.peer.zigzag.ratio"].value == 2000.0
    assert figures["bench.peer.zigzag.mappings_per_s"].note == "11 of ResNet-50's 11 convolution shapes"


def test_our_rate_is_one():
    assert our_rate(LAYERS[1], tpu_like(), tiles=4, least_s=0.01) > 0


def test_missing_peers_say_so(monkeypatch, tmp_path):
    monkeypatch.setattr(compare, "ENVIRONMENT", tmp_path)
    with pytest.raises(PeersMissing, match="not installed"):
        peer_ratios(small_setting(tmp_path))
