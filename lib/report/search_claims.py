"""What a study's searches say to the claims of the FAST paper."""

import math
from collections.abc import Callable

from lib.report.report_data import ReportData
from lib.report.search_comparison import (
    CONVERGENCE_WORKLOAD,
    MULTI_WORKLOADS,
    convergence_searches,
    found,
    multi_search,
    scheduled_gains,
    single_searches,
)
from lib.report.search_figures import best_so_far_band, geometric_mean
from lib.search.return_on_investment import return_on_investment, volume_for
from schemas.return_on_investment import ReturnOnInvestment

Answer = tuple[float, str] | None
"""Our value, and what it is; None where the study can't say."""


def search_answers(data: ReportData) -> dict[str, Callable[[], Answer]]:
    """Claim to our answer."""
    singles, several = single_searches(data, "perf-per-tdp"), multi_search(data, "perf-per-tdp")
    gains = {name: found(data, search).gain for name, search in singles.items()}
    gains = {name: gain for name, gain in gains.items() if not math.isnan(gain)}
    of_five = [gains[name] for name in MULTI_WORKLOADS if name in gains]

    def single(combine: Callable[[list[float]], float], words: str, values: list[float]) -> Answer:
        return (combine(values), f"{words} ({len(values)} in this study)") if values else None

    def multi(search: str | None, figure: str) -> Answer:
        value = math.nan if search is None else getattr(found(data, search), figure)
        return None if math.isnan(value) else (value, f"search {search}, geometric mean over its workloads")

    every = list(gains.values())
    return {
        "best-single-v1": lambda: single(max, "best of the single-workload searches", every),
        "average-single-v1": lambda: single(_mean, "mean of the single-workload searches", every),
        "average-single": lambda: single(geometric_mean, "geometric mean of the single-workload searches", every),
        "limited-single-v1": lambda: single(geometric_mean, "geometric mean, single, of the paper's five", of_five),
        "multi": lambda: multi(several, "gain"),
        "limited-multi-v1": lambda: multi(several, "gain"),
        "multi-throughput": lambda: multi(multi_search(data, "throughput"), "speed_ratio"),
        "scheduling": lambda: _scheduling(data),
        "scheduling-v1": lambda: _scheduling(data),
        "swarm-best": lambda: _swarm(data),
        "pareto": lambda: _pareto(data, singles),
        "break-even-fewest": lambda: single(min, "fewest, single-workload searches", _volumes(data, singles)),
        "break-even-most": lambda: single(max, "most, single-workload searches", _volumes(data, singles)),
        "volume-over-gain": _volume_over_gain,
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _scheduling(data: ReportData) -> Answer:
    scheduled = scheduled_gains(data)
    chosen = [scheduled[name] for name in MULTI_WORKLOADS if name in scheduled] or list(scheduled.values())
    return (geometric_mean(chosen), f"the baseline both ways ({len(chosen)} workloads)") if chosen else None


def _swarm(data: ReportData) -> Answer:
    """The swarm's mean best over that of the next best optimiser, after the last trial on EfficientNet-B7."""
    ends: dict[str, float] = {}
    for search in [search for group in convergence_searches(data) for search in group]:
        spec, band = data.spec["searches"][search], best_so_far_band(data.search_summaries[search])
        if spec["workloads"] == [CONVERGENCE_WORKLOAD] and len(band):
            ends.setdefault(spec["optimiser"], float(band["mean"].iloc[-1]))
    others = [value for optimiser, value in ends.items() if optimiser != "swarm"]
    if "swarm" not in ends or not others:
        return None
    return ends["swarm"] / max(others), "the swarm's mean best over the best other optimiser's, after the last trial"


def _pareto(data: ReportData, singles: dict[str, str]) -> Answer:
    search = singles.get(CONVERGENCE_WORKLOAD)
    if search is None:
        return None
    return float(
        data.search_summaries[search]["trials.parquet"]["pareto"].sum()
    ), f"designs on the front of search {search}"


def _volumes(data: ReportData, singles: dict[str, str]) -> list[float]:
    costs = data.spec["return_on_investment"]
    volumes = [volume_for(1, found(data, search).gain, costs[search]) for search in singles.values()]
    return [volume for volume in volumes if math.isfinite(volume)]


def _volume_over_gain() -> Answer:
    costs = ReturnOnInvestment().model_dump()
    ratio = return_on_investment(8000, 1.5, costs) / return_on_investment(2000, 100.0, costs)
    return float(ratio), "return of 8000 units at 1.5 over that of 2000 at 100, by the paper's own formula"
