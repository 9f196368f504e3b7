"""All figures of an entry of the study's `fidelity:`, from every source that it names."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from lib.fidelity import accelforge, scalesim, tpu_tiles, zigzag
from lib.fidelity.fast import fast_figures
from lib.fidelity.figure import Figure
from lib.program.program import Program

COLUMNS = (
    "source",
    "subject",
    "quantity",
    "unit",
    "role",
    "ours",
    "theirs",
    "error_pct",
    "low",
    "high",
    "relation",
    "note",
)


def fidelity_figures(sources: list[str], programs: Mapping[str, Program]) -> pd.DataFrame:
    """One row a figure, as `schemas.fidelity_artifact` describes. `programs`: FAST's workloads by the paper's names."""
    of_source: dict[str, Callable[[], Iterable[Figure]]] = {
        "scalesim": scalesim.figures,
        "zigzag": zigzag.figures,
        "accelforge": accelforge.figures,
        "tpu-tiles": tpu_tiles.figures,
        "fast": lambda: fast_figures(programs),
    }
    return figure_table([figure for source in sources for figure in of_source[source]()])


def figure_table(figures: list[Figure]) -> pd.DataFrame:
    """The figures as a table."""
    rows = [{name: getattr(figure, name) for name in COLUMNS} for figure in figures]
    return pd.DataFrame(rows, columns=list(COLUMNS))
