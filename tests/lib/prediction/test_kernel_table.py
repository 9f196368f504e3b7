"""Tables of what models say of a program's kernels."""

import numpy as np
import pytest

from lib.cost.analytical import Analytical
from lib.cost.cost_model import Costs
from lib.cost.learned import Learned
from lib.fusion.default_kernels import default_kernels
from lib.prediction.kernel_table import runtime_table, tile_table
from lib.prediction.text import runtime_text, tile_text, total_text
from lib.schedule.tiles import tile_space
from schemas.dataset_artifact import TILE_COLUMNS
from tests.datapath_examples import tpu_v3
from tests.lib.prediction.model_folders import RUNTIMES, small_program, twice_the_estimate

CHOSEN, DEFAULT = ([f"{name}_{column}" for column in TILE_COLUMNS] for name in ("chosen", "default"))


class Smallest:
    """Ranks tiles by their elements, the fewest first."""

    name, scale, accepts, part_names = "smallest", "rank", frozenset({"tile"}), ()

    def cost(self, kernels, schedules, datapath, *, parts=False):
        rows = len(schedules.kernel)
        value = schedules.tile.astype(np.float64).prod(axis=1)
        return Costs(value, np.zeros(rows, np.uint8), np.zeros((rows, 3)), None, None)


@pytest.fixture(scope="module")
def found():
    return default_kernels(small_program())


def test_a_program_takes_the_sum_of_its_kernels_runs(found):
    table = runtime_table(found, Learned(twice_the_estimate(RUNTIMES)), tpu_v3())
    assert sorted(table["root"]) == ["first", "window"]
    assert table.set_index("root")["executions"].to_dict() == {"first": 2, "window": 1}
    np.testing.assert_allclose(table["predicted_s"], 2 * table["analytical_s"], rtol=1e-6)
    np.testing.assert_allclose(table["predicted_total_s"], table["predicted_s"] * table["executions"])
    assert table["share"].sum() == pytest.approx(1)
    assert (np.diff(table["predicted_total_s"]) <= 0).all()


def test_total_is_of_one_core_and_samples_of_all(found):
    table = runtime_table(found, Analytical(), tpu_v3()).assign(
        predicted_s=[1e-4, 2e-4], predicted_total_s=[2e-4, 2e-4], analytical_s=1e-4
    )
    # 400 us a batch of 8 on each of two cores: 2 * 8 / 400e-6 = 40,000 samples a second.
    assert total_text(table, 8, 2) == (
        "2 kernels, 3 executions: 400.0 us (300.0 us by the analytical model); 40,000 samples/s on 2 cores"
    )
    assert "samples" not in total_text(table, None, 2)


def test_the_analytical_models_choice_is_the_default_tile(found):
    tiles = tile_table(found.kernels, Analytical(), tpu_v3())
    np.testing.assert_array_equal(tiles[CHOSEN], tiles[DEFAULT])
    np.testing.assert_allclose(tiles["chosen_over_default"], 1)


def test_a_model_gets_the_tile_that_it_ranks_first(found):
    tiles = tile_table(found.kernels, Smallest(), tpu_v3())
    space = tile_space(found.kernels, tpu_v3(), 10**6, seed=1)
    for kernel in range(found.kernels.number):
        of_kernel = space.tile[space.kernel == kernel].astype(np.int64)
        assert tiles["tiles"][kernel] == len(of_kernel)
        assert np.prod(tiles[CHOSEN].to_numpy()[kernel].astype(np.int64)) == of_kernel.prod(axis=1).min()
    assert (tiles["chosen_over_default"] > 1).all()


def test_a_large_tile_space_is_sampled(found):
    assert (tile_table(found.kernels, Smallest(), tpu_v3(), most_tiles=3)["tiles"] == 3).all()


def test_text_shows_so_many_kernels_and_tiles_that_differ(found):
    table = runtime_table(found, Analytical(), tpu_v3())
    text = runtime_text(table, 1)
    assert table["root"][0] in text
    assert table["root"][1] not in text
    assert "1 more; --top 2" in text
    tiles = tile_table(found.kernels, Smallest(), tpu_v3())
    assert "another tile than the compiler for 2 of the 2 kernels" in tile_text(found.kernels, tiles, table)
    same = tile_text(found.kernels, tile_table(found.kernels, Analytical(), tpu_v3()), table)
    assert same == "The tile model chooses another tile than the compiler for 0 of the 2 kernels with a choice"
