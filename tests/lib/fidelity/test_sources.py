"""The table of figures, and that every source can be asked."""

import math
from typing import get_args

import pytest

from lib.fidelity.figure import Figure
from lib.fidelity.sources import COLUMNS, fidelity_figures, figure_table
from schemas.fidelity import FidelitySource
from schemas.fidelity_artifact import FidelityArtifact


def test_a_figure_becomes_a_row_with_its_error():
    row = figure_table([Figure("s", "layer", "cycles", "cycles", "validation", 110.0, 100.0, "why", 90.0, 120.0)]).iloc[
        0
    ]
    assert row["error_pct"] == 100 * (110.0 / 100.0 - 1)
    assert (row["low"], row["high"], row["note"]) == (90.0, 120.0, "why")


def test_a_bound_has_an_error_only_where_it_is_broken():
    upper = Figure("s", "layer", "cycles", "cycles", "validation", 90.0, 100.0, relation="at most")
    assert (upper.error_pct, upper._replace(ours=110.0).error_pct) == (0.0, pytest.approx(10.0))
    lower = upper._replace(relation="at least")
    assert (lower.error_pct, lower._replace(ours=110.0).error_pct) == (pytest.approx(-10.0), 0.0)


def test_every_source_gives_figures_that_the_artifact_takes(tmp_path):
    figures = fidelity_figures(list(get_args(FidelitySource)), {})
    assert list(figures.columns) == list(COLUMNS)
    contents = {"figures.parquet": figures}
    FidelityArtifact.write(tmp_path / "all", id="all", origin="simulated", code="c", spec={}, contents=contents)
    assert len(FidelityArtifact.read(tmp_path / "all")["figures.parquet"]) == len(figures) > 0
    assert not any(map(math.isinf, figures["ours"]))
