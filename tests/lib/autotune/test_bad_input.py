"""What can go wrong with a program, a target or a budget: nothing is silently best, and a person is told."""

import numpy as np
import pytest

from lib.autotune import notes
from lib.autotune.autotune import run_autotune
from lib.autotune.notes import model_notes
from lib.autotune.target import Measured, SimulatedTarget
from lib.cost.cost_model import Reason
from lib.cost.simulator import Simulator
from lib.program.program import Program
from lib.report.autotune_goals import autotune_headlines
from lib.report.autotune_page import autotune_page
from lib.report.page import render
from schemas.autotune_artifact import AutotuneArtifact
from tests.datapath_examples import tpu_v3
from tests.lib.autotune.killed_run import ENTRY
from tests.lib.report.report_examples import Stub, report_data
from tests.program_examples import Sketch, squeeze_excite


@pytest.fixture(autouse=True)
def few_moves_on_the_target(monkeypatch):
    monkeypatch.setattr("lib.autotune.fusion.MOST_TARGET_MOVES", 60)


class BrokenTarget(SimulatedTarget):
    """A target on which every second configuration that is not a default one fails, times out or has no sound time."""

    def __init__(self, reason: Reason, seconds: float):
        super().__init__(Simulator(), tpu_v3(), timeout_s=10.0)
        self.reason, self.seconds, self.calls = reason, seconds, 0

    def measure(self, kernels, schedules):
        said = super().measure(kernels, schedules)
        self.calls += 1
        if self.calls == 1:  # the default configuration
            return said
        broken = np.arange(len(said.seconds)) % 2 == 0
        return Measured(np.where(broken, self.seconds, said.seconds), np.where(broken, self.reason, said.reason))


def tuned(program: Program, target=None, **changes):
    target = target or SimulatedTarget(Simulator(), tpu_v3(), timeout_s=10.0)
    return run_autotune(ENTRY | changes, program, {}, target)


def one_tile_program() -> Program:
    s = Sketch()
    return s.program(s.op("negate", s.input(8, 128)))


@pytest.mark.parametrize("task", ["tiles", "fusion", "both"])
@pytest.mark.parametrize(
    ("reason", "seconds", "listed"),
    [
        (Reason.FAILED, np.nan, "FAILED"),
        (Reason.TIMED_OUT, np.nan, "TIMED_OUT"),
        (Reason.OK, 0.0, "FAILED"),
        (Reason.OK, np.nan, "FAILED"),
    ],
    ids=["fails", "times-out", "takes-no-time", "has-no-time"],
)
def test_what_the_target_can_not_run_is_counted_told_and_never_chosen(task, reason, seconds, listed):
    found = tuned(squeeze_excite(), BrokenTarget(reason, seconds), task=task)
    skipped, results, chosen = found["skipped.parquet"], found["results.parquet"], found["chosen.parquet"]
    assert set(skipped["reason"]) == {listed}
    assert results[["failed", "timed_out"]].max().max() > 0
    tile_columns = [name for name in skipped if name.startswith("tile_")]
    refused = set(skipped[["fingerprint", *tile_columns]].itertuples(index=False, name=None))
    taken = set(
        chosen[["fingerprint", *(f"chosen_{name}" for name in tile_columns)]].itertuples(index=False, name=None)
    )
    assert not refused & taken
    assert (chosen["chosen_s"] > 0).all()
    assert any(f"the target skipped {len(skipped)} configurations" in note for note in found["summary.json"].notes)


@pytest.mark.parametrize("task", ["tiles", "fusion", "both"])
def test_a_program_of_one_kernel_with_one_tile_keeps_its_default(task, tmp_path):
    found = tuned(one_tile_program(), task=task)
    summary = found["summary.json"]
    assert summary.one_tile_kernels == summary.kernels == 1
    assert summary.chosen_runtime_s == summary.default_s == summary.best_known_s
    assert set(found["results.parquet"]["target_s"]) == {0.0}
    assert any("1 of 1 kernels have a single tile" in note for note in summary.notes)
    AutotuneArtifact.write(tmp_path / "a", id="x", origin="simulated", code="", spec=ENTRY, contents=found)


@pytest.mark.parametrize("task", ["tiles", "fusion", "both"])
@pytest.mark.parametrize("exhaustive", [True, False])
def test_the_page_of_programs_with_nothing_to_choose_is_whole(task, exhaustive):
    changes = {"task": task, "exhaustive": exhaustive}
    data = report_data(autotunes={"tuned": [Stub(ENTRY | changes, tuned(one_tile_program(), **changes))]})
    html = render("title", "subtitle", [autotune_page(data, "tuned")])
    assert "1 of 1 kernels have a single tile" in html
    speedups = {figure.name: figure.value for figure in autotune_headlines(data) if ".speedup." in figure.name}
    assert set(speedups.values()) == {1.0}


@pytest.mark.parametrize("task", ["fusion", "both"])
def test_a_program_without_fusible_instructions_is_told(task):
    found = tuned(one_tile_program(), task=task)
    assert "no instruction can be fused otherwise" in " ".join(found["summary.json"].notes)
    assert found["difference.txt"] == "The default configuration is the one chosen.\n"


@pytest.mark.parametrize("task", ["tiles", "fusion"])
def test_a_budget_that_pays_for_no_kernel_is_told(task):
    found = tuned(squeeze_excite(), task=task, budgets_s=[1.0000001, 50.0], exhaustive=False)
    results = found["results.parquet"]
    least = results[(results["budget_s"] < 2.0) & (results["compile_cost_s"] == 1.0)]
    assert (least["configurations"] == 0).all()
    assert (least["speedup"] == 1.0).all() or task == "fusion"  # a random start may be another one
    (note,) = [note for note in found["summary.json"].notes if "did not pay for one new configuration" in note]
    assert note.startswith("1 target seconds did not pay")


def test_models_of_other_hardware_and_of_the_same_programs_are_told(monkeypatch):
    monkeypatch.setattr(notes, "training_note", lambda model, asked: f"{model} knows no {asked.id}")
    entries = [{"id": "ranker", "members": ["ranker", "other"], "trained_on": ["block"]}]
    trained = {"ranker": {2: "ranker-2", 1: "ranker-1"}, "other": {1: "other-1"}}
    assert model_notes(entries, trained, "block", "tpu-v3", tpu_v3()) == [
        "ranker-1 knows no tpu-v3",
        "other-1 knows no tpu-v3",
        "block is one of the programs that ranker learned, so it is not held out",
    ]
