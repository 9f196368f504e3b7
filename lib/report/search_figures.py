"""What the report's pages of searches show, computed from a search's merged artifact."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from schemas.artifact import Artifact
from schemas.search_artifact import DesignSummary, SearchDesigns

HALVES = 0.5
"""A design whose gain under `public` is at most this share of its gain under the limits' model owes it to the fit."""
NEAR_LIMIT = 0.9
"""A limit binds where the best design takes at least this share of it: sizes go in powers of two, so few meet it."""


def trials_of(summary: Artifact) -> pd.DataFrame:
    """Trials of all islands with the speed against the baseline, and latency in ms."""
    trials = summary["trials.parquet"]
    speed_ratio, latency_ms = trials["perf_per_tdp_gain"] * trials["tdp_ratio"], trials["latency_s"] * 1e3
    return trials.assign(speed_ratio=speed_ratio, latency_ms=latency_ms)


def places(designs: SearchDesigns, named: Sequence[DesignSummary]) -> dict[str, dict[str, float]]:
    """Where designs lie among the trials: name to tdp_ratio, area_ratio, latency_ms and speed_ratio (geometric means
    over the workloads)."""
    baseline, model = designs.baseline, designs.power_area_model

    def ratio(values: Mapping[str, float], of: Mapping[str, float]) -> float:
        return sum(values.values()) / sum(of.values())

    found = {}
    for design in named:
        tdp_ratio = ratio(design.power_w[model], baseline.power_w[model])
        found[design.name] = {
            "tdp_ratio": tdp_ratio,
            "area_ratio": ratio(design.area_mm2[model], baseline.area_mm2[model]),
            "latency_ms": 1e3 * geometric_mean(list(design.latency_s.values())),
            "speed_ratio": design.perf_per_tdp_gain[model] * tdp_ratio,
        }
    return found


def gain_halves(gain: float, gain_public: float) -> bool:
    """Whether a gain halves, or worse, under the public power model."""
    return gain_public <= HALVES * gain


def best_so_far_band(summary: Artifact) -> pd.DataFrame:
    """Best so far against trials: mean over islands and its 90 % band, from where every island has a design on.

    Rows: the trials at which the mean changes, and the last. Columns: trial (number of trials made), mean, low, high
    (NaN with fewer than two islands).
    """
    return band_of(summary["progress.parquet"])


def band_of(progress: pd.DataFrame) -> pd.DataFrame:
    """The same of :func:`lib.search.summary.progress`."""
    progress = progress[progress["islands"] == progress["islands"].max()]
    progress = progress[progress["islands"] > 0]
    changed = progress["mean"].diff().fillna(1.0) != 0
    if len(progress):
        changed.iloc[-1] = True
    return progress[changed].assign(trial=progress["trial"] + 1).reset_index(drop=True)


def trials_to_reach(trials: pd.DataFrame, value: float) -> np.ndarray:
    """float64[islands] trials that each island made until its best so far reached `value`; infinite where it never
    did."""
    counts = []
    for _, rows in trials.groupby("island"):
        reached = rows.sort_values("trial")["best_so_far"].to_numpy() >= value
        counts.append(float(np.argmax(reached)) + 1.0 if reached.any() else math.inf)
    return np.array(counts)


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers; NaN for none."""
    return float(np.exp(np.mean(np.log(values)))) if len(values) else math.nan


def heaviest_kernels(kernels: pd.DataFrame) -> pd.DataFrame:
    """Kernels by time per query: label, baseline_s, best_s (all executions, seconds per query of the whole chip)."""
    table = kernels.assign(label=kernels["workload"] + " · " + kernels["root"] + " (" + kernels["kernel_class"] + ")")
    for column in ("baseline_s", "best_s"):
        table[column] *= table["executions"]
    table["heavier"] = table[["baseline_s", "best_s"]].max(axis=1)
    return table.sort_values("heavier", ascending=False)
