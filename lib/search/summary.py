"""The islands of a search together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

from lib.search.trials_table import pareto_front
from lib.search.unmet import unmet_by_all
from schemas.artifact import Artifact

BAND = 0.90
"""Confidence of the band around the mean of the islands (FAST figure 11)."""
OF_THE_BEST = ("kernels.parquet", "explained.parquet", "schedules.txt", "best.yaml")
"""Files of the best island that stand for the search."""


def merged_search(islands: Sequence[Artifact]) -> dict[str, Any]:
    """Contents of a `schemas.search_artifact.SearchSummaryArtifact` from the islands' artifacts, in order."""
    parts = [island["trials.parquet"].assign(island=np.int32(number)) for number, island in enumerate(islands, start=1)]
    trials = pd.concat(parts, ignore_index=True)
    trials["pareto"] = pareto_front(trials)
    trials.insert(0, "island", trials.pop("island"))
    number = best_island(islands)
    designs = islands[number]["designs.json"]
    if designs.best is not None:
        best = designs.best.model_copy(update={"name": f"island {number + 1}, {designs.best.name}"})
        designs = designs.model_copy(update={"best": best})
    unmet = unmet_by_all([island["designs.json"].unmet for island in islands])
    return {
        "trials.parquet": trials,
        "progress.parquet": progress([island["trials.parquet"]["best_so_far"].to_numpy() for island in islands]),
        **{name: islands[number][name] for name in OF_THE_BEST},
        "designs.json": designs.model_copy(update={"unmet": unmet}),
    }


def best_island(islands: Sequence[Artifact]) -> int:
    """Place of the island with the best design, the first of equal ones; 0 if none has a design."""
    gains = [_gain(island) for island in islands]
    return int(np.argmax(gains))


def _gain(island: Artifact) -> float:
    best = island["designs.json"].best
    return -np.inf if best is None else best.value


def progress(best_so_far: Sequence[np.ndarray]) -> pd.DataFrame:
    """Best value so far by trial over islands (float64[trials] each, NaN before the first): mean of those that have
    one, their number, and the band of the mean by Student's t, which takes two of them."""
    curves = np.stack(best_so_far)
    there = np.isfinite(curves)
    count = there.sum(axis=0)
    total = np.where(there, curves, 0.0).sum(axis=0)
    mean = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    squares = np.where(there, (curves - mean) ** 2, 0.0).sum(axis=0)
    several = count > 1
    freedom = np.maximum(count - 1, 1)
    half = np.where(
        several, student_t.ppf(0.5 + BAND / 2, freedom) * np.sqrt(squares / freedom / np.maximum(count, 1)), np.nan
    )
    return pd.DataFrame(
        {
            "trial": np.arange(len(count), dtype=np.int32), "islands": count.astype(np.int32),
            "mean": mean, "low": mean - half, "high": mean + half,
        }
    )  # fmt: skip
