"""A target says how long kernels take; a cost model is anything with the right members. Nothing is registered."""

import numpy as np

from lib.autotune.autotune import run_autotune
from lib.autotune.target import DatapathTarget, Measured, SimulatedTarget
from lib.cost.analytical import Analytical
from lib.cost.cost_model import Costs, Reason
from lib.dataset.tasks import tile_shard
from lib.fusion.default_kernels import default_kernels
from tests.datapath_examples import tpu_v3
from tests.lib.autotune.three_kernels import SPEC
from tests.program_examples import squeeze_excite

PROGRAM = squeeze_excite()
ENTRY = SPEC | {
    "id": "tiles", "task": "tiles", "workload": "block", "hardware": {"id": "toy"}, "tile_models": [],
    "fusion_models": [],
}  # fmt: skip


class SmallTilesAreFast(DatapathTarget):
    """A device on which a kernel takes a millisecond, and a nanosecond for each element of its tile."""

    batch = 100

    def __init__(self):
        self.datapath = tpu_v3()

    def measure(self, kernels, schedules) -> Measured:
        seconds = 1e-3 + 1e-9 * schedules.tile.astype(np.float64).prod(axis=1)
        return Measured(seconds, np.full(len(seconds), Reason.OK, np.uint8))


class ElementsOfTheTile:
    """The same as a cost model."""

    name, scale, accepts, part_names = "elements", "seconds", frozenset({"tile"}), ()

    def cost(self, kernels, schedules, datapath, *, parts=False) -> Costs:
        seconds = SmallTilesAreFast().measure(kernels, schedules).seconds
        reason = np.full(len(seconds), Reason.OK, np.uint8)
        return Costs(seconds, reason, np.zeros((len(seconds), 3)), None, None)


def test_an_autotuner_finds_what_is_best_on_a_toy_target():
    contents = run_autotune(ENTRY, PROGRAM, {}, SmallTilesAreFast())
    chosen = contents["chosen.parquet"]
    tiles = [column for column in chosen if column.startswith("chosen_tile_")]
    elements = chosen[tiles].fillna(1).clip(lower=1).prod(axis=1)
    np.testing.assert_allclose(chosen["chosen_s"], 1e-3 + 1e-9 * elements)
    assert contents["summary.json"].best_known_s <= contents["summary.json"].default_s


def test_a_toy_cost_model_stands_for_a_target_too():
    by_model = run_autotune(ENTRY, PROGRAM, {}, SimulatedTarget(ElementsOfTheTile(), tpu_v3(), timeout_s=10.0))
    by_target = run_autotune(ENTRY, PROGRAM, {}, SmallTilesAreFast())
    assert by_model["summary.json"] == by_target["summary.json"]


def test_a_toy_cost_model_labels_a_dataset():
    found = default_kernels(PROGRAM)
    rows = tile_shard(found, {"toy": tpu_v3()}, ElementsOfTheTile(), Analytical(), 8, 1).rows
    tiles = rows[[column for column in rows if column.startswith("tile_")]].clip(lower=1).prod(axis=1)
    np.testing.assert_allclose(rows["runtime_s"], 1e-3 + 1e-9 * tiles)
