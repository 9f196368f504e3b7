"""Cycles of the compiled matrix unit against SCALE-Sim's on all 76 rows that were run.

`schemas/presets/scalesim_layers.csv`: M output pixels, N output channels, K = filter window x input channels of 11
convolutions of ResNet-50 and 8 products of matrices, on two array sizes, weight- and output-stationary.
"""

from pathlib import Path

import pandas as pd
import pytest

from lib.cost.matrix_unit import array_cycles
from lib.schedule.schedules import OUTPUT_STATIONARY, WEIGHT_STATIONARY

TABLE = Path(__file__).parents[2] / "schemas" / "presets" / "scalesim_layers.csv"
ROWS = list(pd.read_csv(TABLE, comment="#").itertuples(index=False))
DATAFLOWS = {"ws": WEIGHT_STATIONARY, "os": OUTPUT_STATIONARY}


def our_cycles(row, overlap: bool) -> int:
    row_folds = -(-row.K // row.rows)
    return array_cycles(DATAFLOWS[row.dataflow], 1, row_folds, row.M, row.N, row.K, row.rows, row.cols, overlap)


def named(row) -> str:
    return f"{row.layer}-{row.dataflow}-{row.rows}x{row.cols}"


def test_the_table_is_whole():
    assert len({named(row) for row in ROWS}) == len(ROWS) == 19 * 2 * 2
    assert {row.scalesim for row in ROWS} == {"3.0.0"}


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_without_overlap_cycles_equal_scale_sim(row):
    assert our_cycles(row, overlap=False) == row.compute_cycles


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_with_overlap_cycles_lie_between_the_ideal_and_scale_sim(row):
    ideal = row.M * row.N * row.K / (row.rows * row.cols)
    assert ideal <= our_cycles(row, overlap=True) <= row.compute_cycles
