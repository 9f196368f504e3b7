"""How many full evaluations searches need for one value, e.g. with a surrogate and without:
`python -m lib.search.evaluations_saved RESULTS/search_summary/PLAIN RESULTS/search_summary/SCREENED ...`

Each search has islands of their own seeds. The value to reach is a share of what the first search has reached at its
end, in the geometric mean over its islands. Designs over the limits of area and power take no evaluation.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

from lib.command_line import run_command
from lib.search.summary import BAND
from schemas.search_artifact import SearchSummaryArtifact

FREE = ("area", "tdp", "bound")
"""States of trials that end before any kernel is scheduled."""


class Evaluations(NamedTuple):
    """What the islands of a search needed."""

    mean: float
    low: float
    """Of the band of the mean by Student's t; NaN with one island."""
    high: float
    reached: int
    """Islands that reached the value; the others count with all of their evaluations, so the mean is too low."""
    islands: int


def evaluations_until(trials: pd.DataFrame, value: float) -> tuple[int, bool]:
    """Trials of one island (rows of `trials.parquet`) that were evaluated until `best_so_far` is `value`, and whether
    it came to that."""
    evaluated = ~trials["state"].isin(FREE).to_numpy()
    there = np.flatnonzero(trials["best_so_far"].to_numpy() >= value)
    return (int(evaluated[: there[0] + 1].sum()), True) if len(there) else (int(evaluated.sum()), False)


def evaluations_of(trials: pd.DataFrame, value: float) -> Evaluations:
    """Mean over the islands of `trials`."""
    found = [evaluations_until(rows, value) for _, rows in trials.groupby("island")]
    counts = np.array([count for count, _ in found], dtype=float)
    half = np.nan
    if len(counts) > 1:
        half = student_t.ppf(0.5 + BAND / 2, len(counts) - 1) * counts.std(ddof=1) / np.sqrt(len(counts))
    mean = float(counts.mean())
    return Evaluations(mean, mean - half, mean + half, sum(there for _, there in found), len(counts))


def reached_at_the_end(trials: pd.DataFrame) -> float:
    """Geometric mean over the islands of the best value; NaN where one has none."""
    return float(np.exp(np.log(trials.groupby("island")["best_so_far"].max()).mean()))


def main(arguments: Sequence[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Full evaluations that searches need to reach a value.")
    parser.add_argument("folders", type=Path, nargs="+", help="RESULTS/search_summary/ID, the first for comparison")
    parser.add_argument("--share", type=float, default=1.0, help="of what the first search has reached at its end")
    given = parser.parse_args(arguments)
    tables = {folder.name: SearchSummaryArtifact.read(folder)["trials.parquet"] for folder in given.folders}
    value = given.share * reached_at_the_end(tables[given.folders[0].name])
    print(f"to reach {value:.4g}:")
    for name, trials in tables.items():
        found = evaluations_of(trials, value)
        print(
            f"{name}: {found.mean:.0f} evaluations ({found.low:.0f} to {found.high:.0f}), "
            f"{found.reached} of {found.islands} islands reach it; at the end {reached_at_the_end(trials):.4g}"
        )
    return 0


if __name__ == "__main__":
    run_command(main)
