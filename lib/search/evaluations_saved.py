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
from lib.search.summary import BAND, progress
from schemas.search_artifact import SearchSummaryArtifact

FREE = ("area", "tdp", "bound")
"""States of trials that end before any kernel is scheduled."""


class Evaluations(NamedTuple):
    """What the islands of a search needed."""

    counts: np.ndarray
    """float64[islands]"""
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
    return Evaluations(counts, mean, mean - half, mean + half, sum(there for _, there in found), len(counts))


class Saved(NamedTuple):
    """Share of the evaluations that one search needs and the other does not."""

    share: float
    """By the geometric means over the islands."""
    low: float
    """Of the 90 % interval, Student's t on logarithms with Welch's degrees of freedom; NaN with one island."""
    high: float


def saved(plain: Evaluations, screened: Evaluations) -> Saved:
    """What `screened` needs less than `plain`. Where islands did not reach the value, their counts are too low."""
    logs = [np.log(np.maximum(1.0, found.counts)) for found in (plain, screened)]
    less = float(logs[0].mean() - logs[1].mean())
    half = np.nan
    if min(len(log) for log in logs) > 1:
        islands = np.array([len(log) for log in logs])
        variance = np.array([log.var(ddof=1) for log in logs]) / islands
        freedom = variance.sum() ** 2 / max((variance**2 / (islands - 1)).sum(), 1e-300)
        half = student_t.ppf(0.5 + BAND / 2, max(1.0, freedom)) * np.sqrt(variance.sum())
    low, mean, high = (1.0 - float(np.exp(-(less + shift))) for shift in (-half, 0.0, half))
    return Saved(mean, low, high)


def best_by_evaluations(trials: pd.DataFrame) -> pd.DataFrame:
    """:func:`lib.search.summary.progress` by full evaluations in place of trials, as far as every island has them."""
    curves = []
    for _, rows in trials.groupby("island"):
        best = rows["best_so_far"].to_numpy()
        evaluated = ~rows["state"].isin(FREE).to_numpy()
        # After each evaluation what is best before the next one.
        ends = np.append(np.flatnonzero(evaluated)[1:] - 1, len(best) - 1) if evaluated.any() else np.empty(0, int)
        curves.append(best[ends])
    shortest = min(len(curve) for curve in curves)
    return progress([curve[:shortest] for curve in curves])


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
    plain = evaluations_of(tables[given.folders[0].name], value)
    for name, trials in tables.items():
        found = evaluations_of(trials, value)
        less = saved(plain, found)
        print(
            f"{name}: {found.mean:.0f} evaluations ({found.low:.0f} to {found.high:.0f}), "
            f"{less.share:.0%} less ({less.low:.0%} to {less.high:.0%}), "
            f"{found.reached} of {found.islands} islands reach it; at the end {reached_at_the_end(trials):.4g}"
        )
    return 0


if __name__ == "__main__":
    run_command(main)
