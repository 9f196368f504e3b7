"""What the autotuners of an entry reached, in numbers: over programs and seeds, for the page, the summary and goals."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from schemas.artifact import Artifact

HEADLINE_TOP = 10
"""Tiles of a kernel that headline figures are about (the paper's number), where the entry has it."""
NEAR_PCT = 1.0
"""A strategy has come near the best known configuration where it is within this."""
LITTLE_TO_GAIN_PCT = 1.0
"""Programs whose best known configuration is less than this better than the default are left out of comparisons."""
TIE_PCT = 0.1
"""Runtimes closer than this are equal."""


def results_of(artifacts: Sequence[Artifact]) -> pd.DataFrame:
    """`results.parquet` of all programs, with `workload`, `default_s` and `held_out` (no model learned the program)."""
    frames = []
    for artifact in artifacts:
        summary, spec = artifact["summary.json"], artifact.manifest.spec
        learned = {id for model in (*spec["tile_models"], *spec["fusion_models"]) for id in model["trained_on"]}
        frames.append(
            artifact["results.parquet"].assign(
                workload=summary.workload, default_s=summary.default_s, held_out=summary.workload not in learned
            )
        )
    return pd.concat(frames, ignore_index=True)


def traces_of(artifacts: Sequence[Artifact]) -> pd.DataFrame:
    """`trace.parquet` of all programs, with `workload`."""
    frames = [artifact["trace.parquet"].assign(workload=artifact["summary.json"].workload) for artifact in artifacts]
    return pd.concat(frames, ignore_index=True)


def whole_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Of results or traces those that are no beginning of others: a smaller budget is a run of its own only where the
    target alone anneals, whose temperature falls with the budget."""
    largest = rows["budget_s"].isna() | (rows["budget_s"] == rows["budget_s"].max())
    return rows[largest | (rows["strategy"] == "target")]


def headline_strategy(artifacts: Sequence[Artifact]) -> str:
    """Of the last stage: the entry's first model, or what stands for it."""
    return str(artifacts[0]["summary.json"].headline)


def fusion_headline(artifacts: Sequence[Artifact]) -> str | None:
    """Of stage fusion: the entry's first fusion model; None without one."""
    models = artifacts[0].manifest.spec["fusion_models"]
    return str(models[0]["id"]) if models else None


def last_stage(artifacts: Sequence[Artifact]) -> str:
    """The stage that an entry's programs end with."""
    return "fusion" if artifacts[0].manifest.spec["task"] == "fusion" else "tiles"


def headline_cost_s(artifacts: Sequence[Artifact]) -> float:
    """The first compile cost."""
    return float(artifacts[0].manifest.spec["compile_costs_s"][0])


def headline_top(artifacts: Sequence[Artifact]) -> int:
    """HEADLINE_TOP, or the largest number of tiles that are run."""
    tops = artifacts[0].manifest.spec["top"]
    return HEADLINE_TOP if HEADLINE_TOP in tops else max(tops)


def headline_rows(artifacts: Sequence[Artifact]) -> pd.DataFrame:
    """The rows of the last stage that stand for each strategy: its headline number of tiles or, of fusion, its largest
    budget; of the exhaustive strategy all tiles. At the first compile cost, from the default configuration."""
    results = results_of(artifacts)
    rows = results[
        (results["stage"] == last_stage(artifacts))
        & (results["compile_cost_s"] == headline_cost_s(artifacts))
        & (results["start"] == "default")
    ]
    if last_stage(artifacts) == "fusion":
        return rows[rows["budget_s"] == rows["budget_s"].max()]
    whole = (rows["strategy"] == "exhaustive") & rows["budget_s"].isna()
    return rows[whole | (rows["top"] == headline_top(artifacts))]


def mean_speedup(rows: pd.DataFrame) -> float:
    """Geometric mean over seeds and programs; NaN without rows."""
    return float(np.exp(np.log(rows["speedup"]).mean()))


def runs_ratio(rows: pd.DataFrame, strategy: str) -> float:
    """Target runs of the exhaustive strategy over those of another one, mean over its seeds, all programs together."""
    total = rows.groupby(["strategy", "seed"])["target_runs"].sum().groupby("strategy").mean()
    if "exhaustive" not in total or strategy not in total or not total[strategy]:
        return float("nan")
    return float(total["exhaustive"] / total[strategy])


def target_s_to_near(artifacts: Sequence[Artifact], stage: str) -> pd.DataFrame:
    """Target seconds until a strategy is within NEAR_PCT of the best runtime that the stage knows: median over programs
    and seeds.

    Columns: `strategy`, `start`, `budget_s`, `compile_cost_s`, `target_s` (infinite where more than half never came
    near), `reached`, `runs`.
    """
    traces = whole_runs(traces_of(artifacts))
    traces = traces[traces["stage"] == stage]
    best = traces.groupby("workload")["runtime_s"].min()
    near = traces["runtime_s"] <= traces["workload"].map(best) * (1.0 + NEAR_PCT / 100.0)
    run = ["strategy", "start", "budget_s", "compile_cost_s", "seed", "workload"]
    first = traces.assign(target_s=traces["target_s"].where(near, np.inf))
    by_run = first.groupby(run, dropna=False, sort=False)["target_s"].min().reset_index()
    grouped = by_run.groupby(run[:4], dropna=False, sort=False)["target_s"]
    return grouped.agg(
        target_s="median", reached=lambda seconds: int(np.isfinite(seconds).sum()), runs="size"
    ).reset_index()


def learned_above_analytical_pct(artifacts: Sequence[Artifact]) -> pd.Series:
    """By program: runtime with the headline strategy's top tiles above that with the analytical model's, %, mean over
    seeds."""
    rows = headline_rows(artifacts)
    by_program = rows.groupby(["strategy", "workload"])["runtime_s"].mean()
    headline = headline_strategy(artifacts)
    if headline == "analytical" or not {headline, "analytical"} <= set(rows["strategy"]):
        return pd.Series(dtype=float)
    return (by_program[headline] / by_program["analytical"] - 1.0) * 100.0


def model_against_target(
    artifacts: Sequence[Artifact], budgets_s: tuple[float, float] = (60.0, 600.0), start: str = "default"
) -> pd.Series:
    """By program: how much faster, in %, the headline strategy is with the first budget than the target alone with the
    second, mean over seeds. Programs with little to gain by fusion are left out."""
    results = results_of(artifacts)
    fusion = results[results["stage"] == "fusion"]
    least = fusion.groupby("workload")["runtime_s"].min()
    rows = fusion[(fusion["compile_cost_s"] == headline_cost_s(artifacts)) & (fusion["start"] == start)]
    default = {artifact["summary.json"].workload: artifact["summary.json"].default_s for artifact in artifacts}
    model = rows[(rows["strategy"] == fusion_headline(artifacts)) & (rows["budget_s"] == budgets_s[0])]
    alone = rows[(rows["strategy"] == "target") & (rows["budget_s"] == budgets_s[1])]
    ratio = alone.groupby("workload")["runtime_s"].mean() / model.groupby("workload")["runtime_s"].mean()
    worthwhile = [w for w in ratio.index if default[w] / least[w] >= 1.0 + LITTLE_TO_GAIN_PCT / 100.0]
    return (ratio[worthwhile].dropna() - 1.0) * 100.0


def wins_pct(gains_pct: pd.Series) -> float:
    """Share of programs with a gain, in %; ties count half; NaN without programs."""
    if not len(gains_pct):
        return float("nan")
    ties = (gains_pct.abs() <= TIE_PCT).sum()
    return float(100.0 * ((gains_pct > TIE_PCT).sum() + 0.5 * ties) / len(gains_pct))
