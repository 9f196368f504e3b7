"""Devices as targets: true seconds are charged, what can't be built fails, the compiler's own pick is the default."""

from contextlib import nullcontext

import numpy as np
import pytest

from lib.autotune.autotune import run_autotune
from lib.autotune.target import KeptTarget, Prices, charged_s
from lib.cost.cost_model import Reason
from lib.journal import Journal
from lib.program.extraction import extract
from lib.schedule.schedules import schedules_for_tiles
from lib.targets import measured_target, measured_tiles
from lib.targets.measured_target import FusionDevice, TileDevice
from lib.targets.module import Module
from schemas.autotune_artifact import AutotuneArtifact
from tests.datapath_examples import tpu_v3
from tests.lib.autotune.three_kernels import SPEC
from tests.lib.targets.fake_measurer import SPENT_S, FakeMeasurer, NamedKernels
from tests.program_examples import squeeze_excite

PROGRAM = squeeze_excite()
ENTRY = SPEC | {
    "id": "device", "workload": "block", "hardware": {"id": "local"}, "tile_models": [], "fusion_models": [],
    "compile_costs_s": [0.0], "exhaustive": False, "top": [1], "starts": ["default"], "chains": 2, "rounds": 4,
    "budgets_s": [2.0],
}  # fmt: skip
ONE = np.ones(8, dtype=np.int32)
OTHER = ONE * np.array([2, 1, 1, 1, 1, 1, 1, 1], dtype=np.int32)


@pytest.fixture(autouse=True)
def devices(monkeypatch):
    monkeypatch.setattr(measured_target, "KernelModules", NamedKernels)
    monkeypatch.setattr(
        measured_target, "tile_module",
        lambda _, index, tile: Module("iree", f"{index} " + ("own" if tile is None else "other")),
    )  # fmt: skip
    monkeypatch.setattr(measured_tiles, "tunable", lambda program, i: program.instructions[i].opcode == "convolution")
    monkeypatch.setattr(measured_tiles, "own_tile", lambda program, i: ONE)
    monkeypatch.setattr(
        measured_tiles, "tile_candidates", lambda program, i, limit, seed: np.stack([ONE, OTHER])[:limit]
    )


def device(kind, seconds_of):
    return kind(PROGRAM, tpu_v3(), FakeMeasurer(seconds_of), lambda: nullcontext(FakeMeasurer(seconds_of)))


def whole_artifact(tmp_path, task, target):
    contents = run_autotune(ENTRY | {"task": task}, PROGRAM, {}, target)
    AutotuneArtifact.write(tmp_path / "a", id="x", origin="measured", code="", spec=ENTRY, contents=contents)
    return AutotuneArtifact.read(tmp_path / "a")


def test_fusion_is_tuned_with_what_kernels_truly_take(tmp_path):
    """An instruction takes 1 us and a kernel 10: the fewer kernels the better, and the default is hardly beaten."""
    target = device(FusionDevice, lambda text: (10 + len(text.split())) * 1e-6)
    found = whole_artifact(tmp_path, "fusion", target)
    results = found["results.parquet"]
    assert (results["target_s"] <= 2.0).all()
    spent = results.loc[results["configurations"] > 0]
    assert (spent["target_s"].to_numpy() == pytest.approx(SPENT_S * spent["configurations"].to_numpy())) or (
        spent["target_s"] == 2.0
    ).any()
    assert found["summary.json"].remeasured is not None


def test_the_compilers_own_pick_is_the_default_and_other_tiles_are_tried(tmp_path):
    target = device(TileDevice, lambda text: 5e-6 if text.endswith("own") else 4e-6)
    found = whole_artifact(tmp_path, "tiles", target)
    summary = found["summary.json"]
    assert summary.default_s / summary.best_known_s == pytest.approx(1.25)
    assert summary.remeasured.speedups == pytest.approx([1.25, 1.25])
    assert set(found["chosen.parquet"]["chosen_tile_batch"]) == {2}


def test_what_cant_be_built_fails_at_no_cost(monkeypatch):
    class Refusing(NamedKernels):
        def module(self, instructions):
            raise ValueError("no such op")

    monkeypatch.setattr(measured_target, "KernelModules", Refusing)
    target = device(FusionDevice, lambda text: 1e-6)
    groups = target.default_groups(PROGRAM)
    found = extract(PROGRAM, groups)
    for name, members in found.first_members(groups).items():
        target.occurs(name, members)
    measured = target.measure(found.kernels, schedules_for_tiles(np.array([0]), ONE[None]))
    assert measured.reason.tolist() == [Reason.UNSUPPORTED_OP]
    assert charged_s(measured, Prices(0.0, 3, 10.0)).tolist() == [0.0]


def test_what_was_paid_for_before_a_kill_is_charged_the_same(tmp_path):
    kernel_seconds = device(FusionDevice, lambda text: 1e-6)
    groups = kernel_seconds.default_groups(PROGRAM)
    found = extract(PROGRAM, groups)
    said = []
    for target in (kernel_seconds, device(FusionDevice, lambda text: 9.0)):
        kept = KeptTarget(target, Journal(tmp_path / "journal"))
        for name, members in found.first_members(groups).items():
            kept.occurs(name, members)
        said.append(kept.measure(found.kernels, schedules_for_tiles(np.array([0]), ONE[None])))
    assert said[0].seconds.tolist() == said[1].seconds.tolist() == [1e-6]
    assert said[0].spent_s.tolist() == said[1].spent_s.tolist() == [SPENT_S]
