"""What an evaluation artifact refuses."""

import numpy as np
import pandas as pd
import pytest

from lib.evaluation.tables import Prediction, evaluation_tables
from schemas.artifact import ArtifactError
from schemas.evaluation_artifact import EvaluationArtifact
from tests.shard_examples import hand_made_shard


def tables():
    shards = [hand_made_shard([[1, 2, 4]], [[2, 1, 3]], workload=w) for w in ("a", "b")]
    predictions = [Prediction(number, "ranker", 1, np.array([1.0, 3, 2])) for number in (0, 1)]
    return evaluation_tables(shards, predictions, {"a": "x", "b": "y"}, seed=1)


def write(tmp_path, contents):
    return EvaluationArtifact.write(tmp_path / "e", id="e", origin="simulated", code="", spec={}, contents=contents)


def test_tables_come_back(tmp_path):
    contents = tables()
    write(tmp_path, contents)
    read = EvaluationArtifact.read(tmp_path / "e")
    for name, table in contents.items():
        pd.testing.assert_frame_equal(read[name], table)


def test_repeated_rows_are_refused(tmp_path):
    contents = tables()
    table = contents["programs.parquet"]
    contents["programs.parquet"] = pd.concat([table, table.iloc[[3]]], ignore_index=True)
    with pytest.raises(ArtifactError, match=rf"row {len(table)} repeats"):
        write(tmp_path, contents)


def test_overall_must_match_programs(tmp_path):
    contents = tables()
    contents["overall.parquet"] = contents["overall.parquet"].iloc[1:].reset_index(drop=True)
    with pytest.raises(ArtifactError, match=r"not those of programs\.parquet"):
        write(tmp_path, contents)


@pytest.mark.parametrize("name", ["overall.parquet", "comparisons.parquet"])
def test_reversed_intervals_are_refused(tmp_path, name):
    contents = tables()
    contents[name].loc[0, ["low", "high"]] = [2.0, 1.0]
    with pytest.raises(ArtifactError, match="row 0 is above high"):
        write(tmp_path, contents)


def test_kinds_are_known(tmp_path):
    contents = tables()
    contents["comparisons.parquet"].loc[0, "kind"] = "quotient"
    with pytest.raises(ArtifactError, match="'quotient' is not one of"):
        write(tmp_path, contents)
