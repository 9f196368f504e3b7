"""SCALE-Sim's compute cycles beside the simulator's matrix unit.

`schemas/presets/scalesim_layers.csv`: M output pixels, N output channels, K = filter window x input channels of 11
convolutions of ResNet-50 and 8 products of matrices, on two array sizes, weight- and output-stationary.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from lib.cost.matrix_unit import array_cycles
from lib.cost.simulator_constants import FOLDS_APART, FOLDS_OVERLAP
from lib.fidelity.figure import Figure, Relation
from lib.schedule.schedules import OUTPUT_STATIONARY, WEIGHT_STATIONARY
from schemas.presets import FOLDER

TABLE = FOLDER / "scalesim_layers.csv"
DATAFLOWS = {"ws": WEIGHT_STATIONARY, "os": OUTPUT_STATIONARY}


class Layer(NamedTuple):
    """A row of the table: one layer on one array under one dataflow."""

    layer: str
    M: int
    N: int
    K: int
    dataflow: str
    rows: int
    cols: int
    compute_cycles: int
    """SCALE-Sim's."""
    scalesim: str
    """Its version."""

    @property
    def name(self) -> str:
        """Layer, dataflow and array."""
        return f"{self.layer}-{self.dataflow}-{self.rows}x{self.cols}"

    @property
    def ideal_cycles(self) -> float:
        """Multiply-accumulates over those that the array does in a cycle."""
        return self.M * self.N * self.K / (self.rows * self.cols)

    def our_cycles(self, timing: int) -> int:
        """Cycles of the simulator's array under FOLDS_APART or FOLDS_OVERLAP."""
        row_folds = -(-self.K // self.rows)
        return array_cycles(
            DATAFLOWS[self.dataflow], 1, row_folds, self.M, self.N, self.K, self.rows, self.cols, timing
        )  # fmt: skip


def layers() -> list[Layer]:
    """All rows of the table."""
    return [Layer(*row) for row in pd.read_csv(TABLE, comment="#").itertuples(index=False)]


def figures() -> list[Figure]:
    """Three figures a row: cycles without overlap of folds against SCALE-Sim's; with it against SCALE-Sim's and against
    the ideal, between which they should lie."""
    return [figure for layer in layers() for figure in _figures(layer)]


def _figures(layer: Layer) -> Iterator[Figure]:
    overlapped = float(layer.our_cycles(FOLDS_OVERLAP))
    theirs = float(layer.compute_cycles)
    relation: Relation
    for quantity, ours, relation, compared, note in (
        ("compute_cycles", float(layer.our_cycles(FOLDS_APART)), "equal", theirs, "every fold pays fill and drain"),
        ("compute_cycles_with_overlap", overlapped, "at most", theirs, "SCALE-Sim lets no fold overlap the next"),
        ("compute_cycles_with_overlap_to_ideal", overlapped, "at least", layer.ideal_cycles, "every cell busy"),
    ):
        yield Figure(
            "scalesim", layer.name, quantity, "cycles", "validation", ours, compared, note, relation=relation
        )  # fmt: skip


__all__ = ["Layer", "figures", "layers"]
