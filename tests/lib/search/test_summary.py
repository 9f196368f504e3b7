"""Islands together: curves by hand, the best island, one Pareto front."""

import numpy as np
import pandas as pd
import pytest

from lib.cost.simulator import Simulator
from lib.search.search import run_search
from lib.search.summary import best_island, merged_search, progress
from schemas.search_artifact import SearchArtifact, SearchSummaryArtifact
from tests.lib.search.test_search import SPEC
from tests.lib.search.toy_workload import toy_kernels


@pytest.fixture(scope="module")
def islands(tmp_path_factory):
    folder = tmp_path_factory.mktemp("islands")
    for island in (1, 2, 3):
        spec = SPEC | {"island": island, "optimiser": "random", "trials": 30}
        contents = run_search(spec, {"toy": toy_kernels}, Simulator())
        SearchArtifact.write(
            folder / str(island), id=f"{island}", origin="simulated", code="c", spec=spec, contents=contents
        )
    return [SearchArtifact.read(folder / str(island)) for island in (1, 2, 3)]


def test_the_band_of_two_islands_by_hand():
    """Mean of 2 and 4 is 3, their deviation sqrt 2; t of 95 % with one degree of freedom is 6.314."""
    nan = np.nan
    table = progress([np.array([nan, 2.0, 2.0]), np.array([nan, nan, 4.0])])
    assert table["islands"].tolist() == [0, 1, 2]
    np.testing.assert_allclose(table["mean"], [nan, 2.0, 3.0])
    np.testing.assert_allclose(table["low"], [nan, nan, 3 - 6.314], rtol=1e-3)
    np.testing.assert_allclose(table["high"], [nan, nan, 3 + 6.314], rtol=1e-3)


def test_five_equal_islands_have_no_band():
    table = progress([np.array([1.0, 2.0])] * 5)
    np.testing.assert_allclose(table[["mean", "low", "high"]], [[1, 1, 1], [2, 2, 2]])


def test_islands_are_merged_into_a_valid_artifact(islands, tmp_path):
    contents = merged_search(islands)
    SearchSummaryArtifact.write(tmp_path / "s", id="toy", origin="simulated", code="c", spec={}, contents=contents)
    merged = SearchSummaryArtifact.read(tmp_path / "s")
    trials = merged["trials.parquet"]
    assert trials.groupby("island").size().to_dict() == {1: 30, 2: 30, 3: 30}
    first = trials[trials.island == 1].drop(columns=["island", "pareto"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(first, islands[0]["trials.parquet"].drop(columns="pareto"))

    number = best_island(islands)
    values = [island["designs.json"].best.value for island in islands]
    assert values[number] == max(values)
    assert merged["designs.json"].best.name.startswith(f"island {number + 1}, trial ")
    assert merged["best.yaml"] == islands[number]["best.yaml"]
    assert merged["progress.parquet"]["mean"].iloc[-1] == pytest.approx(
        np.mean([island["trials.parquet"].best_so_far.iloc[-1] for island in islands])
    )


def test_the_front_is_one_over_all_islands(islands):
    trials = merged_search(islands)["trials.parquet"]
    front = trials[trials.pareto]
    assert len(front)
    alone = sum(int(island["trials.parquet"].pareto.sum()) for island in islands)
    assert len(front) <= alone
    for _, row in front.iterrows():
        better = trials[
            (trials.queries_per_s >= row.queries_per_s) & (trials.tdp_w <= row.tdp_w)
            & (trials.area_mm2 <= row.area_mm2) & (trials.latency_s < row.latency_s)
        ]  # fmt: skip
        assert not len(better)
