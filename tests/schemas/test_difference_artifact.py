"""What a difference artifact refuses."""

import pandas as pd
import pytest

from schemas.artifact import ArtifactError
from schemas.difference_artifact import DifferenceArtifact
from tests.lib.report.test_difference_page import kernels, tiles


def write(tmp_path, **changes):
    contents = {"kernels.parquet": kernels(), "tiles.parquet": tiles()}
    for name, table in contents.items():
        contents[name] = table.astype({c: "int32" for c in table if table[c].dtype == "int64"})
    for name, change in changes.items():
        contents[f"{name}.parquet"] = change(contents[f"{name}.parquet"])
    DifferenceArtifact.write(tmp_path / "d", id="d", origin="simulated", code="", spec={}, contents=contents)
    return DifferenceArtifact.read(tmp_path / "d")


def test_tables_come_back(tmp_path):
    assert len(write(tmp_path)["kernels.parquet"]) == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kernels": lambda t: pd.concat([t, t.iloc[[1]]])}, "row 4 repeats"),
        ({"kernels": lambda t: t.assign(simulator_launch_s=1.0)}, r"simulator_total_s.*row 0 is not the sum"),
        ({"tiles": lambda t: t.assign(best_simulator_total_s=1.0)}, "row 0 is above the picked one"),
    ],
)
def test_contradictions_are_refused(tmp_path, change, words):
    with pytest.raises(ArtifactError, match=words):
        write(tmp_path, **change)
