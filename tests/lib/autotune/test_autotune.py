"""A whole entry on a small program: the artifact is valid and says what a person needs."""

import numpy as np
import pytest

from lib.autotune.autotune import check_kernel_classes, run_autotune
from lib.autotune.target import DatapathTarget, Measured, SimulatedTarget
from lib.cost.cost_model import Reason
from lib.cost.simulator import Simulator
from lib.fusion.default_kernels import default_kernels
from schemas.autotune_artifact import AutotuneArtifact
from tests.datapath_examples import tpu_v3
from tests.lib.autotune.three_kernels import SPEC
from tests.program_examples import squeeze_excite

PROGRAM = squeeze_excite()
ENTRY = SPEC | {
    "id": "tiles",
    "task": "tiles",
    "workload": "block",
    "hardware": {"id": "tpu-v3"},
    "tile_models": [],
    "fusion_models": [],
}


@pytest.fixture(scope="module")
def contents():
    return run_autotune(ENTRY, PROGRAM, {}, SimulatedTarget(Simulator(), tpu_v3(), timeout_s=10.0))


def test_it_is_a_valid_artifact(contents, tmp_path):
    AutotuneArtifact.write(tmp_path / "a", id="x", origin="simulated", code="", spec=ENTRY, contents=contents)
    read = AutotuneArtifact.read(tmp_path / "a")
    assert read["summary.json"] == contents["summary.json"]


def test_a_trace_that_gets_slower_is_refused(contents):
    trace = contents["trace.parquet"].copy()
    trace.loc[trace.index[-1], "runtime_s"] *= 3
    field, problem = AutotuneArtifact.check(contents | {"trace.parquet": trace})
    assert field == "trace.parquet: runtime_s"
    assert problem.startswith("rises")


def test_chosen_kernels_add_up_to_the_program(contents):
    chosen, summary = contents["chosen.parquet"], contents["summary.json"]
    assert (chosen["chosen_s"] * chosen["executions"]).sum() == pytest.approx(summary.chosen_runtime_s)
    assert (chosen["default_s"] * chosen["executions"]).sum() == pytest.approx(summary.default_s)
    assert (chosen["chosen_s"] <= chosen["default_s"]).all()
    assert summary.best_known_s <= summary.chosen_runtime_s <= summary.default_s


def test_one_tile_kernels_are_counted_and_said(contents):
    summary, chosen = contents["summary.json"], contents["chosen.parquet"]
    assert summary.one_tile_kernels == int((chosen["tiles"] == 1).sum())
    said = any("a single tile" in note for note in summary.notes)
    assert said == (summary.one_tile_kernels > 0)


def test_the_listing_names_every_kernel_and_its_instructions(contents):
    listing, instructions = contents["listing.txt"], contents["instructions.parquet"]
    for name in set(instructions["kernel"]) - {""}:
        assert f"%{name} {{" in listing
    for name in instructions["name"]:
        assert f"%{name} = " in listing


def test_without_a_change_the_difference_says_so():
    one_tile = ENTRY | {"tiles_per_kernel": 1}
    found = run_autotune(one_tile, PROGRAM, {}, SimulatedTarget(Simulator(), tpu_v3(), timeout_s=10.0))
    assert found["difference.txt"] == "The default configuration is the one chosen.\n"
    assert any("a sample of that size was ranked" in note for note in found["summary.json"].notes)


class FailingTarget(DatapathTarget):
    """Runs nothing."""

    datapath, batch = tpu_v3(), 10

    def measure(self, kernels, schedules):
        rows = len(schedules.kernel)
        return Measured(np.full(rows, np.nan), np.full(rows, Reason.FAILED, dtype=np.uint8))


def test_a_target_that_cannot_run_the_default_is_an_error_in_words():
    with pytest.raises(ValueError, match=r"autotune 'tiles', workload 'block' on hardware 'tpu-v3': the target can't"):
        run_autotune(ENTRY, PROGRAM, {}, FailingTarget())


def test_an_unknown_kernel_class_is_an_error_in_words():
    found = default_kernels(PROGRAM)
    found.kernels.kernel_class[-1] = 99
    with pytest.raises(ValueError, match="is of the unknown class 99; known are 0 convolution"):
        check_kernel_classes(found)
