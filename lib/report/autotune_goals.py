"""The goals of the autotuners beside what the study's entries show, and the headline figures of each entry."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from lib.report.autotune_figures import (
    headline_cost_s,
    headline_rows,
    headline_strategy,
    last_stage,
    mean_speedup,
    model_against_target,
    results_of,
    runs_ratio,
    target_s_to_near,
    wins_pct,
)
from lib.report.report_data import ReportData
from schemas.artifact import Artifact
from schemas.goals import AutotuneGoal, load_autotune_goals
from schemas.summary import HeadlineFigure

UNITS = {"ranked_regret_pct": "%", "runs_ratio": "", "wins_pct": "%", "gain_pct": "%"}


class AutotuneGoalResult(NamedTuple):
    """A goal and the figure that it is about."""

    goal: AutotuneGoal
    autotune: str | None = None
    """None where no entry of the study speaks to the goal."""
    figure: str | None = None
    """The figure's name in summary.json."""
    value: float = math.nan
    programs: int = 0
    left_out: int = 0
    """Programs that a model learned, or with little to gain."""

    @property
    def met(self) -> bool | None:
        """None where the study can't tell."""
        return None if math.isnan(self.value) else self.goal.is_met(self.value)


def autotune_goal_results(data: ReportData) -> list[AutotuneGoalResult]:
    """Every goal with the first entry in the study's order that speaks to it."""
    return [_result(data, goal) for goal in load_autotune_goals()]


def _result(data: ReportData, goal: AutotuneGoal) -> AutotuneGoalResult:
    for id, artifacts in data.autotunes.items():
        held_out = [artifact for artifact in artifacts if _is_held_out(artifact)]
        if not held_out:
            continue
        value, programs = _value(goal, held_out)
        if not math.isnan(value):
            hardware = held_out[0]["summary.json"].hardware
            name = f"autotune.{id}.{hardware}.{goal.figure}.learned"
            return AutotuneGoalResult(goal, id, name, value, programs, len(artifacts) - programs)
    return AutotuneGoalResult(goal)


def _is_held_out(artifact: Artifact) -> bool:
    return bool(results_of([artifact])["held_out"].all())


def _value(goal: AutotuneGoal, artifacts: Sequence[Artifact]) -> tuple[float, int]:
    """The figure (NaN where the entry has none) and how many programs it is of. Those of tiles are about the best of
    all tiles, so about entries that run them all."""
    if goal.stage == "fusion":
        gains = model_against_target(artifacts, goal.budgets_s or (math.nan, math.nan))
        value = wins_pct(gains) if goal.figure == "wins_pct" else float(gains.mean())
        return value, len(gains)
    spec = artifacts[0].manifest.spec
    if spec["task"] != "tiles" or not spec["tile_models"] or not spec["exhaustive"]:
        return math.nan, 0
    results = results_of(artifacts)
    rows = results[(results["stage"] == "tiles") & (results["compile_cost_s"] == headline_cost_s(artifacts))]
    whole = (rows["strategy"] == "exhaustive") & rows["budget_s"].isna()
    rows = rows[whole | (rows["top"] == goal.top)]
    headline = headline_strategy(artifacts)
    of_headline = rows[rows["strategy"] == headline]
    if goal.figure == "runs_ratio":
        return runs_ratio(rows, headline), of_headline["workload"].nunique()
    return float(of_headline["ranked_regret_pct"].mean()), of_headline["workload"].nunique()


def autotune_headlines(data: ReportData) -> list[HeadlineFigure]:
    """`autotune.ID.HARDWARE.FIGURE.STRATEGY` of every entry; those with a goal say so."""
    found: dict[str, HeadlineFigure] = {}
    for id, artifacts in data.autotunes.items():
        prefix = f"autotune.{id}.{artifacts[0]['summary.json'].hardware}"
        found |= {figure.name: figure for figure in _figures(prefix, artifacts)}
    for result in autotune_goal_results(data):
        if result.figure is not None and result.autotune is not None:
            origin = data.autotunes[result.autotune][0].manifest.origin
            found[result.figure] = HeadlineFigure(
                name=result.figure, value=result.value, unit=UNITS[result.goal.figure], origin=origin,
                goal=result.goal.text, met=result.met,
            )  # fmt: skip
    return list(found.values())


def _figures(prefix: str, artifacts: Sequence[Artifact]) -> list[HeadlineFigure]:
    rows, origin = headline_rows(artifacts), artifacts[0].manifest.origin
    headline, cost_s = headline_strategy(artifacts), headline_cost_s(artifacts)
    near = target_s_to_near(artifacts, last_stage(artifacts))
    near = near[(near["compile_cost_s"] == cost_s) & (near["start"] == "default")]
    near = near.groupby("strategy")["target_s"].min()
    of_tiles, whole = last_stage(artifacts) == "tiles", "exhaustive" in set(rows["strategy"])
    figures = []
    for strategy in dict.fromkeys(rows["strategy"]):
        of_it = rows[rows["strategy"] == strategy]
        values = {
            "speedup": (mean_speedup(of_it), ""),
            "regret_pct": (float(of_it["regret_pct"].mean()), "%"),
            "target_s": (float(of_it["target_s"].mean()), "s"),
            "target_s_within_1_pct": (float(near.get(strategy, math.nan)), "s"),
        }
        if of_tiles and strategy != "exhaustive":
            above_all = float(of_it["ranked_regret_pct"].mean()) if whole else math.nan
            values |= {"ranked_regret_pct": (above_all, "%"), "runs_ratio": (runs_ratio(rows, strategy), "")}
        for name in [strategy] + (["learned"] if strategy == headline else []):
            figures += [
                HeadlineFigure(
                    name=f"{prefix}.{figure}.{name}", unit=unit, origin=origin,
                    value=value if math.isfinite(value) else None,
                )
                for figure, (value, unit) in values.items()
            ]  # fmt: skip
    return figures
