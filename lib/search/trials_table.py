"""The table of a search's trials, and which are the best."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib.search.optimise import Trial
from lib.search.pareto import non_dominated
from lib.search.space import Space, design_of_point
from schemas.search_space import NAMES

WITHOUT_VALUE = ("queries_per_s", "latency_s", "joules", "perf_per_tdp_gain", "perf_per_tdp_gain_public")
"""Figures that only a trial that was run to its end has."""


def trials_table(trials: Sequence[Trial], space: Space) -> pd.DataFrame:
    """One row a trial, with the columns of `schemas.search_artifact.TRIALS`; details are those of
    :mod:`lib.search.trial_figures`."""
    figures = pd.DataFrame([trial.outcome.detail for trial in trials])
    figures.loc[figures["state"] != "ok", list(WITHOUT_VALUE)] = np.nan
    figures.loc[~figures["state"].isin(("ok", "bound")), "value"] = np.nan
    columns: dict[str, Any] = {
        "trial": np.array([trial.number for trial in trials], dtype=np.int32),
        "state": figures.pop("state"),
        "reason": figures.pop("reason"),
    }
    for name in space.values:
        chosen = [trial.point[name] for trial in trials]
        columns[name] = chosen if name in NAMES else np.array(chosen, dtype=np.int64)
    columns |= {name: figures[name].to_numpy(dtype=np.float64) for name in figures}
    table = pd.DataFrame(columns)
    table["best_so_far"] = np.fmax.accumulate(table["value"].where(table["state"] == "ok").to_numpy())
    table["pareto"] = pareto_front(table)
    return table


def pareto_front(trials: pd.DataFrame) -> np.ndarray:
    """bool[n] of a table of trials: no other one that was run to its end has as many queries a second on as little
    power and as little area at as little latency, and is better in one of the four."""
    costs = [-trials["queries_per_s"], trials["tdp_w"], trials["area_mm2"], trials["latency_s"]]
    return non_dominated(np.column_stack(costs))


def best_trials(trials: Sequence[Trial], most: int) -> list[Trial]:
    """The trials of the largest values that were run to their ends within the limits, best first, different designs; of
    equal values the earlier one first."""
    run = [trial for trial in trials if trial.outcome.feasible and not trial.outcome.bound]
    best: dict[tuple, Trial] = {}
    for trial in sorted(run, key=lambda trial: -trial.outcome.value):
        if len(best) < most:
            best.setdefault(design_of_point(trial.point), trial)
    return list(best.values())
