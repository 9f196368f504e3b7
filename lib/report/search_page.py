"""The report's page of one search: progress, Pareto front, best design against the baseline."""

import numpy as np
import pandas as pd

from lib.report import charts, tables
from lib.report.page import Page
from schemas.artifact import Artifact
from schemas.hardware import study_entry
from schemas.search_artifact import DesignSummary, SearchDesigns
from schemas.search_space import DEFAULT_SPACE

NOTE = "Perf/TDP and area by the power and area model that the limits use. Runtimes: simulated."


def search_page(name: str, islands: list[Artifact]) -> Page:
    """All islands of a search together; the best design is that of the best island."""
    page = Page(f"search-{name}", f"Search: {name}")
    trials = all_trials(islands)
    best_island = _best_island(islands)
    designs: SearchDesigns = best_island["designs.json"]
    spec = best_island.manifest.spec
    states = trials["state"].value_counts()
    page.text(
        f"{len(trials)} trials by {spec['optimiser']} over {designs.space_size:.3g} designs for "
        f"{', '.join(spec['workloads'])}: {', '.join(f'{count} {state}' for state, count in states.items())}. "
        f"Limits: TDP at most {spec['limits']['tdp_ratio']:g} and area {spec['limits']['area_ratio']:g} times "
        f"the baseline's ({spec['baseline']['id']}). Each kernel runs with its best tile under the simulator, for the "
        "baseline and for every design alike; schedules beyond tiles and residency are not searched yet."
    )
    page.chart(charts.search_progress(trials, "Perf/TDP by trial"), NOTE)
    page.chart(charts.pareto_front(trials, "Speed against power"), NOTE)
    if designs.best is None:
        page.text("No trial met the limits and ran every workload, so there is no best design to show.")
        return page
    page.heading(f"Best design ({designs.best.name}) against {designs.baseline.name}")
    page.table(_design_table(designs.baseline, designs.best, designs.power_area_model))
    page.chart(
        charts.kernels_side_by_side(
            heaviest_kernels(best_island["kernels.parquet"]),
            f"The 20 kernels that take the most time on {designs.baseline.name}, or on the best design",
            designs.baseline.name,
        ),
        "Time of all executions of the kernel in a run, divided by the queries of the run over all cores.",
    )
    page.table(_component_table(designs.baseline, designs.best, designs.power_area_model))
    page.table(best_trials_table(trials))
    page.heading("To use it: paste this under hardware: in a study")
    page.code(best_island["best.yaml"])
    return page


def all_trials(islands: list[Artifact]) -> pd.DataFrame:
    """Trials of all islands with their island's number and the speed against the baseline."""
    parts = [island["trials.parquet"].assign(island=island.manifest.spec["island"]) for island in islands]
    trials = pd.concat(parts, ignore_index=True)
    return trials.assign(speed_ratio=trials["perf_per_tdp_gain"] * trials["tdp_ratio"])


def _best_island(islands: list[Artifact]) -> Artifact:
    gains = [island["trials.parquet"]["perf_per_tdp_gain"].max() for island in islands]
    return islands[int(np.nanargmax(gains))] if np.isfinite(gains).any() else islands[0]


def best_trials_table(trials: pd.DataFrame, most: int = 10) -> tables.Table:
    """The best trials with their parameters; all of them are in the artifact's `trials.parquet`."""
    best = trials.dropna(subset=["perf_per_tdp_gain"]).nlargest(most, "perf_per_tdp_gain")
    figures = ["perf_per_tdp_gain", "tdp_ratio", "area_ratio", "speed_ratio"]
    parameters = [name for name in DEFAULT_SPACE if name in trials]
    rows = [
        [
            f"{row['island']}/{row['trial']}",
            *(tables.number(row[name]) for name in figures),
            *(str(row[name]) for name in parameters),
        ]
        for _, row in best.iterrows()
    ]
    heads = ["island/trial", "Perf/TDP", "TDP", "area", "speed", *(name.replace("_", " ") for name in parameters)]
    note = "Ratios to the baseline. All trials, refused ones included, are in the search's trials.parquet."
    return tables.Table(f"The {len(rows)} best trials", heads, rows, note)


def heaviest_kernels(kernels: pd.DataFrame) -> pd.DataFrame:
    """Kernels by time per query: label, baseline_s, best_s (all executions, seconds per query of the whole chip)."""
    table = kernels.assign(label=kernels["workload"] + " · " + kernels["root"] + " (" + kernels["kernel_class"] + ")")
    for column in ("baseline_s", "best_s"):
        table[column] *= table["executions"]
    table["heavier"] = table[["baseline_s", "best_s"]].max(axis=1)
    return table.sort_values("heavier", ascending=False)


def _design_table(baseline: DesignSummary, best: DesignSummary, model: str) -> tables.Table:
    def totals(parts: dict[str, float]) -> float:
        return sum(parts.values())

    rows = [
        ["area, mm2", tables.number(totals(baseline.area_mm2[model])), tables.number(totals(best.area_mm2[model]))],
        ["TDP, W", tables.number(totals(baseline.power_w[model])), tables.number(totals(best.power_w[model]))],
    ]
    for power_model in best.perf_per_tdp_gain:
        gain = tables.number(best.perf_per_tdp_gain[power_model])
        rows.append([f"Perf/TDP gain, power model {power_model}", "1", gain])
    for workload in best.queries_per_s:
        rows.append(
            [
                f"queries/s, {workload}",
                tables.number(baseline.queries_per_s[workload]),
                tables.number(best.queries_per_s[workload]),
            ]
        )
        rows.append(
            [
                f"utilisation, {workload}",
                tables.number(baseline.utilisation[workload]),
                tables.number(best.utilisation[workload]),
            ]
        )
    entries = [study_entry(design.hardware)["datapath"] for design in (baseline, best)]
    rows += [[key.replace("_", " "), *(str(entry[key]) for entry in entries)] for key in entries[1]]
    return tables.Table(
        "Designs", ["quantity", baseline.name, best.name], rows,
        "Utilisation: FLOPs over what the peak rate would do in the same time. A gain that halves under the power "
        "model `public` rests on the fitted constants.",
    )  # fmt: skip


def _component_table(baseline: DesignSummary, best: DesignSummary, model: str) -> tables.Table:
    rows = [
        [
            part.replace("_", " "),
            tables.number(baseline.area_mm2[model].get(part)),
            tables.number(best.area_mm2[model].get(part)),
            tables.number(baseline.power_w[model].get(part)),
            tables.number(best.power_w[model].get(part)),
        ]
        for part in dict.fromkeys([*best.area_mm2[model], *best.power_w[model]])
    ]
    columns = ["component", *(f"{quantity}, {d.name}" for quantity in ("mm2", "W") for d in (baseline, best))]
    return tables.Table(f"Area and power-virus power by component, model {model}", columns, rows)
