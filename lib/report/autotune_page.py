"""The report's page of one entry of `autotune:`: progress against target seconds, programs, and what was chosen."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib.report import charts
from lib.report.autotune_charts import best_so_far_chart
from lib.report.autotune_figures import (
    NEAR_PCT,
    fusion_headline,
    headline_cost_s,
    headline_rows,
    headline_strategy,
    headline_top,
    last_stage,
    learned_above_analytical_pct,
    mean_speedup,
    model_against_target,
    results_of,
    target_s_to_near,
    traces_of,
    whole_runs,
)
from lib.report.autotune_goals import AutotuneGoalResult, autotune_goal_results
from lib.report.goal_table import NO_BREAK, goal_table
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Table, number
from schemas.artifact import Artifact
from schemas.autotune_configuration import ChosenKernel
from schemas.reference import load_reference

STAGE_WORDS = {"tiles": "Tiles of each kernel", "fusion": "Fusion configuration"}
BEGINNINGS = {"default": "from the default configuration", "random": "from a random configuration"}
MOST_NOTES = 6
"""More are shown folded."""
MOST_KERNELS = 15
"""Kernels of each kind that the page shows of a program; all are in the artifact."""


def autotune_page(data: ReportData, id: str) -> Page:
    """All programs of an entry together, then what was chosen for each."""
    artifacts = data.autotunes[id]
    page = Page(f"autotune-{id}", f"Autotune: {id}", "Autotuning")
    spec, summaries = artifacts[0].manifest.spec, [artifact["summary.json"] for artifact in artifacts]
    origin = artifacts[0].manifest.origin
    page.text(
        f"Task {spec['task']} on {len(artifacts)} program{'s' * (len(artifacts) > 1)} for {summaries[0].hardware} "
        f"({origin}). {_charged(spec, origin)} A kernel that was run before is not run again, and the default "
        f"configuration has been run before. The headline strategy is {headline_strategy(artifacts)}"
        + (f"; headline figures are at {headline_cost_s(artifacts):g} s a kernel." if origin == "simulated" else ".")
    )
    if (table := remeasured_table(artifacts)) is not None:
        page.table(table)
    if last_stage(artifacts) == "tiles" and not spec["exhaustive"]:
        page.text(
            "Not all tiles were run (exhaustive: false), so regret is above the best that any run found, which is at "
            "most as good as the best of all tiles; goals that are about all tiles are left open."
        )
    if any(summary.notes for summary in summaries):
        page.table(note_table(artifacts))
    page.table(autotune_goal_table(autotune_goal_results(data)))
    page.table(statement_table(artifacts))
    _progress(page, artifacts)
    page.heading("By program")
    rows = headline_rows(artifacts)
    bars = charts.bars_by_program(_gains(rows, headline_strategy(artifacts)), _titled(artifacts), "faster, %")
    page.chart(
        bars.update_xaxes(title="program"),
        origin,
        "Runtime under the default configuration over that of the one found, minus 1, mean over seeds.",
    )
    page.table(program_table(artifacts))
    page.table(strategy_table(artifacts))
    page.table(near_table(artifacts))
    page.heading("What was chosen")
    page.text(
        f"The configuration of the headline strategy, kernel by kernel, is in autotune/{id}/WORKLOAD: "
        "configuration.json (for compilers: instructions and tile of each kernel), chosen.parquet, "
        "instructions.parquet (the kernel of each instruction), listing.txt (HLO with kernels named) and "
        "difference.txt (against the default)."
    )
    for artifact in artifacts:
        page.table(chosen_kernels_table(artifact))
    return page


def _charged(spec: Mapping[str, Any], origin: str) -> str:
    """What target seconds are."""
    if origin == "measured":
        return "Target seconds are what compiling and running each new kernel truly took."
    costs = _listed(spec["compile_costs_s"])
    return f"Target seconds count a compile cost for each new kernel ({costs} s) and {spec['repeats']} runs of it."


def remeasured_table(artifacts: Sequence[Artifact]) -> Table | None:
    """The true speedup on a device; None of a simulated target."""
    rows, logarithms = [], []
    for artifact in artifacts:
        summary = artifact["summary.json"]
        again = summary.remeasured
        if again is not None:
            speedup = float(np.exp(np.mean(np.log(again.speedups))))
            logarithms.append(np.log(speedup))
            rows.append(
                [summary.workload, str(again.kernels), number(summary.default_s / summary.chosen_runtime_s, 4),
                 *(number(each, 4) for each in again.speedups), number(speedup, 4)]
            )  # fmt: skip
    if not rows:
        return None
    return Table(
        "True speedup over the default configuration, measured anew after the tuning",
        ["program", "kernels measured anew", "while tuning", "default first", "default last", "mean"],
        rows,
        f"Geometric mean over programs: {number(float(np.exp(np.mean(logarithms))), 4)}. A tuner keeps what was "
        "fastest of many noisy runs, so its own figure is a little kind; measured anew in both orders, nothing is "
        "favoured.",
    )


def note_table(artifacts: Sequence[Artifact]) -> Table:
    """What a person must know, each note once with its programs."""
    programs: dict[str, list[str]] = {}
    for artifact in artifacts:
        for note in artifact["summary.json"].notes:
            programs.setdefault(note, []).append(artifact["summary.json"].workload)
    rows = [["all" if len(of_it) == len(artifacts) else ", ".join(of_it), note] for note, of_it in programs.items()]
    return Table("To know", ["programs", "note"], rows, "", folded=len(rows) > MOST_NOTES)


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _titled(artifacts: Sequence[Artifact]) -> str:
    if last_stage(artifacts) == "fusion":
        return f"Speedup by program within {max(artifacts[0].manifest.spec['budgets_s']):g} target seconds"
    return f"Speedup by program, the best {headline_top(artifacts)} tiles of each kernel run"


def _progress(page: Page, artifacts: Sequence[Artifact]) -> None:
    page.heading("Best so far against target seconds")
    traces = whole_runs(traces_of(artifacts))
    for stage, of_stage in traces.groupby("stage", sort=False):
        for start, of_start in of_stage.groupby("start", sort=False):
            for cost_s, rows in of_start.groupby("compile_cost_s", sort=False):
                after_fusion = stage == "tiles" and artifacts[0].manifest.spec["task"] == "both"
                begin = "after fusion, whose seconds count" if after_fusion else BEGINNINGS[str(start)]
                title = f"{STAGE_WORDS[str(stage)]}, {begin}; {cost_s:g} s a compile"
                page.chart(
                    best_so_far_chart(rows, [headline_strategy(artifacts), fusion_headline(artifacts)], title),
                    artifacts[0].manifest.origin,
                    "Geometric mean over programs; bands: least and greatest mean of a single seed.",
                )


def _gains(rows: pd.DataFrame, headline: str) -> pd.DataFrame:
    """Columns workload, model, value (%) for a bar chart; the headline strategy is called and coloured as learned, and
    those of tiles after fusion by what ranks the tiles."""
    by_program = rows.groupby(["strategy", "workload"], sort=False)["speedup"].mean()
    table = ((by_program - 1.0) * 100.0).rename("value").reset_index().rename(columns={"strategy": "model"})
    learned = {} if headline == "analytical" else {headline: "learned"}
    return table.assign(model=[learned.get(name, name.rpartition("+")[2]) for name in table["model"]])


def autotune_goal_table(results: list[AutotuneGoalResult]) -> Table:
    """One row a goal, with the programs and the entry that its figure is of."""
    details = {
        "programs": lambda result: f"{result.programs} ({result.left_out} left out)" if result.autotune else "-",
        "entry": lambda result: result.autotune or "-",
    }
    note = (
        "Over programs that no model of the entry was trained on. Left out: programs that one was trained on and, for "
        "fusion, those whose best known configuration is under 1 % better than the default."
    )
    return goal_table("Goals of the autotuners", results, details, note)


def statement_table(artifacts: Sequence[Artifact]) -> Table:
    """The paper's statements beside ours."""
    ours = {
        "autotune-tiles": learned_above_analytical_pct(artifacts),
        "autotune-fusion": model_against_target(artifacts),
        "autotune-fusion-random": model_against_target(artifacts, start="random"),
    }
    rows = []
    for id, values in ours.items():
        claim = load_reference().claim(id)
        holds = values <= claim.value if id == "autotune-tiles" else values >= claim.value
        low, high = (float(round(value, 9)) + 0.0 for value in (values.min(), values.max()))  # -1e-14 is 0
        spread = f"{low:.3g} to {high:.3g}" if len(values) else "-"
        share = f"{holds.sum()} of {len(values)}" if len(values) else "-"
        rows.append([claim.claim, number(claim.value), number(values.mean()), spread, share, claim.unit])
    return Table(
        "The paper's statements",
        ["statement", "paper", "ours, mean", "ours, least and greatest program", "programs where it holds", "unit"],
        rows,
        "Tiles: runtime with the learned model's top tiles above that with the analytical model's, negative: learned "
        "is faster; it holds where learned is at most the paper's 3 % slower. Fusion: speedup of the model with 60 "
        "target seconds over the target alone with 600, over programs with 1 % or more to gain. Paper: real TPUs.",
    )


def program_table(artifacts: Sequence[Artifact]) -> Table:
    """One row a program: default runtime, speedup and regret of each strategy's headline rows."""
    rows = headline_rows(artifacts)
    strategies = list(dict.fromkeys(rows["strategy"]))
    with_regret = [strategy for strategy in strategies if strategy != "exhaustive"]
    mean = rows.groupby(["workload", "strategy"])[["speedup", "regret_pct"]].mean()
    cells = []
    for artifact in artifacts:
        summary = artifact["summary.json"]
        line = [summary.workload, str(summary.kernels), number(summary.default_s * 1e6)]
        for figure, columns in (("speedup", strategies), ("regret_pct", with_regret)):
            line += [number(mean[figure].get((summary.workload, strategy)), 4) for strategy in columns]
        cells.append(line)
    heads = [f"speedup: {strategy}" for strategy in strategies]
    heads += [f"regret, %: {strategy}" for strategy in with_regret]
    note = "Mean over seeds. Regret: above the least runtime that any strategy found."
    return Table("Programs", ["program", "kernels", "default, us", *heads], cells, note)


def strategy_table(artifacts: Sequence[Artifact]) -> Table:
    """One row a strategy and number of tiles or budget, at the first compile cost; seconds at every one."""
    results = results_of(artifacts)
    results = results.assign(budget_s=results["budget_s"].fillna(0.0))  # no budget; NaN would not be found again
    key = ["stage", "strategy", "start", "top", "budget_s"]
    costs = artifacts[0].manifest.spec["compile_costs_s"]
    by_cost = results.groupby([*key, "compile_cost_s"])["target_s"].mean()
    rows = []
    for values, group in results[results["compile_cost_s"] == costs[0]].groupby(key, sort=False):
        stage, strategy, start, top, budget_s = values
        asked = f"{budget_s:g} s" if budget_s else (f"top {top}" if top else "all tiles")
        worst_pct = group.groupby("workload")["regret_pct"].mean().max()
        seconds = [by_cost.get((*values, cost)) for cost in costs]
        rows.append(
            [
                f"{strategy}", str(stage), str(start), asked.replace(" ", NO_BREAK), number(mean_speedup(group), 4),
                number(group["regret_pct"].mean()), number(worst_pct), number(group["ranked_regret_pct"].mean()),
                number(group["target_runs"].mean()), *(number(value) for value in seconds),
                str(int(group["failed"].sum() + group["timed_out"].sum())),
            ]
        )  # fmt: skip
    return Table(
        "Strategies",
        [
            "strategy", "stage", "start", "limit", "speedup", "regret, %", "worst program's, %",
            "of the ranked alone, %",
            "target runs", *(f"target s at {cost:g} s a compile" for cost in costs), "skipped",
        ],
        rows,
        "Means over programs and seeds (geometric for the speedup). Regret: above the best that any run of the stage "
        "found; that of the ranked alone does not fall back on the default tile. Skipped: configurations that the "
        "target could not run.",
        {place for place, row in enumerate(rows) if row[0] == headline_strategy(artifacts)},
    )  # fmt: skip


def near_table(artifacts: Sequence[Artifact]) -> Table:
    """Target seconds until each strategy is near the best known, at every compile cost."""
    stage = last_stage(artifacts)
    near = target_s_to_near(artifacts, stage)
    costs = artifacts[0].manifest.spec["compile_costs_s"]
    rows = []
    for (strategy, start, budget_s), group in near.groupby(["strategy", "start", "budget_s"], dropna=False, sort=False):
        by_cost = group.set_index("compile_cost_s")
        first = by_cost.loc[costs[0]]
        name = strategy if pd.isna(budget_s) else f"{strategy}, {budget_s:g} s"
        seconds = [by_cost["target_s"].get(cost, np.nan) for cost in costs]
        rows.append(
            [
                str(name), str(start), *(number(value if np.isfinite(value) else None) for value in seconds),
                f"{first['reached']:.0f} of {first['runs']:.0f}",
            ]
        )  # fmt: skip
    return Table(
        f"Target seconds to come within {NEAR_PCT:g} % of the best known",
        ["strategy", "start", *(f"s at {cost:g} s a compile" for cost in costs), "runs that came near"],
        rows,
        "Median over programs and seeds; -: more than half of the runs ended before.",
    )


def chosen_kernels_table(artifact: Artifact) -> Table:
    """The kernels that are other than by default: those that hold other instructions, by the time that they take, then
    those with another tile, by what it gains."""
    summary, kernels = artifact["summary.json"], artifact["configuration.json"].kernels
    other = [one for one in kernels if not one.in_default_configuration]
    tiled = [one for one in kernels if one.in_default_configuration and one.tile != one.default_tile]
    other.sort(key=lambda one: -one.seconds * one.executions)
    tiled.sort(key=lambda one: (one.seconds - one.default_s) * one.executions)
    rows = [_chosen_row(one, summary.default_s) for one in (*other[:MOST_KERNELS], *tiled[:MOST_KERNELS])]
    faster_pct = (summary.default_s / summary.chosen_runtime_s - 1.0) * 100.0
    return Table(
        f"{summary.workload}: {faster_pct:.2f} % faster than by default, by {summary.headline} in "
        f"{number(summary.chosen_target_s)} target seconds",
        ["kernel", "class", "executions", "instructions", "default tile", "chosen tile", "default, us", "chosen, us",
         "gain, %"],
        rows,
        f"Of {len(kernels)} kernels {len(other)} hold other instructions than by default (shown with their number) and "
        f"{len(tiled)} further ones have another tile; at most {MOST_KERNELS} of each are shown. Default: with the "
        "default tile; gain of the tile: share of the program's default runtime. Tiles: extents of the kernel's loops.",
        folded=True,
    )  # fmt: skip


def _chosen_row(kernel: ChosenKernel, program_s: float) -> list[str]:
    default_tile, tile = ("x".join(map(str, one.values())) for one in (kernel.default_tile, kernel.tile))
    gained_s = (kernel.default_s - kernel.seconds) * kernel.executions
    instructions = "as by default" if kernel.in_default_configuration else f"{len(kernel.instructions)}, other"
    return [
        kernel.name, kernel.kernel_class, str(kernel.executions), instructions, default_tile, tile,
        number(kernel.default_s * 1e6, 4), number(kernel.seconds * 1e6, 4), number(100.0 * gained_s / program_s),
    ]  # fmt: skip
