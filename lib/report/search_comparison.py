"""Which searches of a study stand beside which figure of FAST's, and what they found."""

import math
from typing import NamedTuple

import numpy as np

from lib.report.report_data import ReportData
from lib.report.search_figures import places, trials_to_reach
from schemas.reference import load_reference
from schemas.search_artifact import SearchDesigns

SPEEDUP = load_reference().tables["fast-speedup"]
SINGLE_WORKLOADS = tuple(name for name in SPEEDUP.rows if not name.startswith("mean-of-"))
"""FAST's 13 workloads by the names that the reference has."""
MULTI_WORKLOADS = tuple(name for name in SINGLE_WORKLOADS if SPEEDUP.row(name)["perf_per_tdp_multi"] is not None)
"""The five of them that its design for several workloads serves."""
CONVERGENCE_WORKLOAD = "efficientnet-b7"
"""That of the paper's figures 11 and 12 and of its table 5."""
PAPER_BASELINE = "tpu-v3"
OWN_FAST_LARGE = "fast-large"
NEAR = 0.98
"""Share of our own FAST-Large's value at which a search counts as having reached it."""


class Found(NamedTuple):
    """The best design of a search, over the baseline; NaN where the search found nothing."""

    search: str
    trials: int
    """Of all islands."""
    gain: float
    """Perf/TDP under the power model of the limits."""
    gain_public: float
    speed_ratio: float
    """Queries a second, geometric mean over the workloads."""
    tdp_ratio: float
    area_ratio: float


def found(data: ReportData, search: str) -> Found:
    """What a search found, over all of its islands."""
    summary = data.search_summaries[search]
    designs, trials = summary["designs.json"], len(summary["trials.parquet"])
    if designs.best is None:
        return Found(search, trials, math.nan, math.nan, math.nan, math.nan, math.nan)
    gains, place = designs.best.perf_per_tdp_gain, places(designs, [designs.best])[designs.best.name]
    return Found(
        search, trials, gains[designs.power_area_model], gains["public"], place["speed_ratio"], place["tdp_ratio"],
        place["area_ratio"],
    )  # fmt: skip


def single_searches(data: ReportData, objective: str) -> dict[str, str]:
    """Workload to the study's first search for it alone with that objective and no limit on latency."""
    chosen: dict[str, str] = {}
    for search in data.search_summaries:
        spec = data.spec["searches"][search]
        if len(spec["workloads"]) == 1 and _is_plain(spec, objective):
            chosen.setdefault(spec["workloads"][0], search)
    return chosen


def multi_search(data: ReportData, objective: str) -> str | None:
    """The study's first search for several workloads with that objective and no limit on latency; FAST's five go
    first."""
    specs = {search: data.spec["searches"][search] for search in data.search_summaries}
    several = {
        search: sorted(spec["workloads"])
        for search, spec in specs.items()
        if len(spec["workloads"]) > 1 and _is_plain(spec, objective)
    }
    of_fast = [search for search, workloads in several.items() if workloads == sorted(MULTI_WORKLOADS)]
    return next(iter([*of_fast, *several]), None)


def _is_plain(spec: dict, objective: str) -> bool:
    return spec["objective"] == objective and spec["limits"].get("latency_s") is None


def convergence_searches(data: ReportData) -> list[list[str]]:
    """Searches that differ in the optimiser alone, in groups of at least two."""
    groups: dict[tuple, dict[str, str]] = {}
    for search in data.search_summaries:
        spec = data.spec["searches"][search]
        key = (*_question(spec), str(spec["surrogate"]), islands_of(data, search))
        groups.setdefault(key, {}).setdefault(spec["optimiser"], search)
    return [list(group.values()) for group in groups.values() if len(group) > 1]


def screened_searches(data: ReportData) -> dict[str, list[str]]:
    """Searches without a surrogate to those that differ from them in it, and maybe in trials and islands; the first of
    each kind, only where there are some."""
    groups: dict[tuple, dict[str, str]] = {}
    for search in data.search_summaries:
        spec = data.spec["searches"][search]
        key = (*_question(spec), spec["optimiser"])
        groups.setdefault(key, {}).setdefault(str(spec["surrogate"]), search)
    return {
        group["none"]: [search for surrogate, search in group.items() if surrogate != "none"]
        for group in groups.values()
        if "none" in group and len(group) > 1
    }


def _question(spec: dict) -> tuple[str, ...]:
    """What a search is asked, however it looks for the answer."""
    same = ("workloads", "objective", "limits", "space", "residency", "baseline", "baseline_schedule")
    return tuple(str(spec[name]) for name in same)


def scheduled_gains(data: ReportData) -> dict[str, float]:
    """Workload to the Perf/TDP of the baseline with better schedules and residency alone over the same chip as its
    compiler runs it. Only baselines named TPU-v3 count; power does not change."""
    gains: dict[str, float] = {}
    for summary in data.search_summaries.values():
        designs = summary["designs.json"]
        if designs.compiled.name == PAPER_BASELINE:
            for workload, queries_per_s in designs.compiled.queries_per_s.items():
                gains.setdefault(workload, designs.scheduled.queries_per_s[workload] / queries_per_s)
    return gains


def trials_to_fast_large(data: ReportData) -> tuple[str, np.ndarray] | None:
    """The study's first search on EfficientNet-B7 with the most islands, and for each island the trials until it came
    near our own FAST-Large (infinite: never). None where no search has such a design beside it."""
    candidates = [
        (search, own_value)
        for search, summary in data.search_summaries.items()
        if data.spec["searches"][search]["workloads"] == [CONVERGENCE_WORKLOAD]
        and _is_plain(data.spec["searches"][search], "perf-per-tdp")
        and (own_value := reference_value(summary["designs.json"], OWN_FAST_LARGE)) is not None
    ]
    if not candidates:
        return None
    search, own_value = max(candidates, key=lambda candidate: islands_of(data, candidate[0]))
    return search, trials_to_reach(data.search_summaries[search]["trials.parquet"], NEAR * own_value)


def islands_of(data: ReportData, search: str) -> int:
    """Number of a search's islands."""
    return int(data.search_summaries[search]["trials.parquet"]["island"].nunique())


def reference_value(designs: SearchDesigns, name: str) -> float | None:
    """What a trial of one of the paper's designs is worth, as `best_so_far` is of trials; of older artifacts and where
    a trial refuses the design, the final design's value. None where it can't run the workloads."""
    for design in designs.references:
        if design.name == name:
            return design.value if design.value_as_trial is None else design.value_as_trial
    return None
