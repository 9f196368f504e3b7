"""A whole entry whose task is fusion, or fusion and then tiles: the artifact is valid and its parts agree."""

import pytest

from lib.autotune.autotune import run_autotune
from lib.autotune.target import SimulatedTarget
from lib.cost.simulator import Simulator
from schemas.autotune_artifact import AutotuneArtifact
from tests.datapath_examples import tpu_v3
from tests.lib.autotune.three_kernels import SPEC
from tests.program_examples import squeeze_excite

ENTRY = SPEC | {
    "id": "fusion",
    "workload": "block",
    "hardware": {"id": "tpu-v3"},
    "tile_models": [],
    "fusion_models": [],
    "starts": ["default", "random"],
    "chains": 4,
    "rounds": 20,
}


@pytest.fixture(scope="module", params=["fusion", "both"])
def contents(request):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lib.autotune.fusion.MOST_TARGET_MOVES", 100)
        target = SimulatedTarget(Simulator(), tpu_v3(), timeout_s=10.0)
        return run_autotune(ENTRY | {"task": request.param}, squeeze_excite(), {}, target)


def test_it_is_a_valid_artifact(contents, tmp_path):
    AutotuneArtifact.write(tmp_path / "a", id="x", origin="simulated", code="", spec=ENTRY, contents=contents)
    assert AutotuneArtifact.read(tmp_path / "a")["summary.json"] == contents["summary.json"]


def test_the_chosen_configuration_is_as_fast_as_its_strategy_s_result(contents):
    summary, results = contents["summary.json"], contents["results.parquet"]
    rows = results[(results["strategy"] == summary.headline) & (results["stage"] == results["stage"].iloc[-1])]
    assert summary.chosen_runtime_s == pytest.approx(rows["runtime_s"].min(), rel=1e-9)
    assert summary.chosen_runtime_s <= summary.default_s * (1 + 1e-12)
    chosen = contents["chosen.parquet"]
    assert (chosen["chosen_s"] * chosen["executions"]).sum() == pytest.approx(summary.chosen_runtime_s)


def test_tiles_begin_where_fusion_ended(contents):
    results, trace, summary = contents["results.parquet"], contents["trace.parquet"], contents["summary.json"]
    tiles = trace[trace["stage"] == "tiles"]
    if len(tiles):
        fused = results[(results["stage"] == "fusion") & (results["strategy"] == "analytical")]
        best = fused[fused["compile_cost_s"] == 1.0].sort_values(["runtime_s", "target_s"]).iloc[0]
        began = tiles.groupby("compile_cost_s").first()
        assert began.loc[1.0, "target_s"] == best["target_s"]
        assert began.loc[10.0, "target_s"] == pytest.approx(best["target_s"] + 9.0 * best["configurations"])
        assert began["runtime_s"].tolist() == pytest.approx([best["runtime_s"]] * 2)
        assert best["target_s"] <= summary.chosen_target_s <= tiles["target_s"].max()


def test_fusion_strategies_have_every_start_cost_and_budget(contents):
    results = contents["results.parquet"]
    fusion = results[results["stage"] == "fusion"]
    assert set(fusion["strategy"]) == {"target", "random", "analytical"}
    combinations = len(ENTRY["seeds"]) * 2 * len(ENTRY["compile_costs_s"]) * len(ENTRY["budgets_s"])
    assert (fusion.groupby("strategy").size() == combinations).all()
    assert (fusion["target_s"] <= fusion["budget_s"]).all()
