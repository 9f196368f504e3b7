"""The page 'FAST, the whole study': every search beside the paper's figures."""

from collections.abc import Iterator

import pandas as pd

from lib.report.fidelity_data import fidelity_figures
from lib.report.fidelity_page import figure_table, quantity_table, source_title
from lib.report.goal_table import goal_table
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.return_on_investment import break_even_table, costs_table, returns_figure
from lib.report.search_charts import beside_paper_chart, best_so_far_chart
from lib.report.search_comparison import (
    CONVERGENCE_WORKLOAD,
    MULTI_WORKLOADS,
    SINGLE_WORKLOADS,
    SPEEDUP,
    convergence_searches,
    found,
    islands_of,
    multi_search,
    scheduled_gains,
    single_searches,
)
from lib.report.search_figures import best_so_far_band, gain_halves, geometric_mean
from lib.report.search_goals import SearchGoalResult, search_goal_results
from lib.report.search_page import MODELS_NOTE, OBJECTIVE_WORDS, paper_convergence
from lib.report.tables import Table, number
from schemas.reference import load_reference

STAND_INS = ("ocr-rpn", "ocr-recognizer")
"""Workloads whose networks the paper does not publish."""
MEANS = {"mean-of-13": SINGLE_WORKLOADS, "mean-of-5": MULTI_WORKLOADS}
SERIES = ("scheduled", "single", "multi")
SERIES_WORDS = {
    "scheduled": "TPU-v3, better schedules and residency",
    "single": "a design of its own",
    "multi": "one design for several",
}
QUANTITIES = {"perf_per_tdp": ("perf-per-tdp", "Perf/TDP", 10), "speedup": ("throughput", "queries/s", 9)}
"""Start of the columns of the reference's `fast-speedup`: objective of the searches, words, figure."""
FIDELITY_SOURCES = (
    "fast-figure-15", "fast-table-6", "fast-figure-13", "fast-figure-14", "fast-table-1", "fast-table-2",
    "fast-figure-3", "fast-figure-4", "fast-figure-5", "fast-table-5",
)  # fmt: skip
"""Sources of the fidelity stage that belong to FAST's study, in the order of the page."""


def fast_page(data: ReportData) -> Page:
    """Goals, figures 9 and 10, convergence, what makes the gain, bottlenecks, return on investment."""
    page = Page("fast", "FAST, the whole study")
    if not data.search_summaries:
        return page
    page.text(
        "Every search of this study beside the figures of FAST (Zhang et al., ASPLOS 2022). The paper's baseline is "
        "TPU-v3 as its compiler runs it, simulated; so is ours. Its OCR networks are not public: ours are stand-ins of "
        "the same kind. Runtimes are simulated, power and area modelled by constants that were fitted to the paper's "
        "table 5 (fast-fitted); gains under published constants (public) stand beside."
    )
    page.table(search_goal_table(search_goal_results(data)))
    for prefix, (_, words, place) in QUANTITIES.items():
        table = speedups(data, prefix)
        if table["ours"].notna().any():
            page.heading(f"{words} over TPU-v3 (figure {place})")
            page.chart(
                beside_paper_chart(
                    table, f"{words} over TPU-v3, figure {place} beside ours", f"{words}, times TPU-v3's"
                ),
                "simulated, published",
                f"{MODELS_NOTE} Filled: ours; hollow: the paper's, read off the figure. {_objective_note(prefix)}",
            )
            page.table(speedup_table(table, f"Figure {place}: {words} over TPU-v3, times"))
    page.table(found_table(data))
    _convergence(page, data)
    _returns(page, data)
    _fidelity(page, data)
    return page


def _objective_note(prefix: str) -> str:
    objective = QUANTITIES[prefix][0]
    return f"Searches with objective {objective}, for each workload the study's first without a limit on latency."


def search_goal_table(results: list[SearchGoalResult]) -> Table:
    """One row a goal, with what its figure is of."""
    note = "Limits: 2.0 times TPU-v3's TDP and 1.67 times its area, power model fast-fitted."
    return goal_table("Goals of the searches", results, {"of": lambda result: result.basis}, note)


def speedups(data: ReportData, prefix: str) -> pd.DataFrame:
    """Ours and the paper's by workload and series, means below: workload, series, ours, public, paper.

    `prefix`: `perf_per_tdp` or `speedup`. A mean of ours is that of all of its workloads, NaN where one is missing.
    """
    rows = list(_speedup_rows(data, prefix))
    table = pd.DataFrame(rows, columns=["workload", "series", "ours", "public", "paper"])
    means = []
    for mean, workloads in MEANS.items():
        for series in SERIES:
            of_series = table[table["series"] == series].set_index("workload").reindex(list(workloads))
            ours, public = (
                geometric_mean(of_series[column].tolist()) if of_series[column].notna().all() else float("nan")
                for column in ("ours", "public")
            )
            means.append((mean, series, ours, public, _printed(mean, f"{prefix}_{series}")))
    return pd.concat([table, pd.DataFrame(means, columns=table.columns)], ignore_index=True)


def _speedup_rows(data: ReportData, prefix: str) -> Iterator[tuple[str, str, float, float, float]]:
    objective, scheduled = QUANTITIES[prefix][0], scheduled_gains(data)
    singles = {workload: found(data, search) for workload, search in single_searches(data, objective).items()}
    several = multi_search(data, objective)
    multi = multi_gains(data, several, prefix) if several else {}
    workloads = dict.fromkeys([*SINGLE_WORKLOADS, *singles, *multi])
    missing = float("nan")
    for workload in workloads:
        single = singles.get(workload)
        gain, public = missing, missing
        if single is not None:
            gain = single.gain if prefix == "perf_per_tdp" else single.speed_ratio
            public = single.gain_public if prefix == "perf_per_tdp" else missing
        ours = {"scheduled": scheduled.get(workload, missing), "single": gain, "multi": multi.get(workload, missing)}
        for series in SERIES:
            yield (
                workload, series, ours[series], public if series == "single" else missing,
                _printed(workload, f"{prefix}_{series}"),
            )  # fmt: skip


def _printed(row: str, column: str) -> float:
    value = SPEEDUP.row(row)[column] if row in SPEEDUP.rows else None
    return float("nan") if value is None else value


def multi_gains(data: ReportData, search: str, prefix: str) -> dict[str, float]:
    """Workload to the gain of the search's one design on it alone."""
    designs = data.search_summaries[search]["designs.json"]
    if designs.best is None:
        return {}
    model = designs.power_area_model
    watts = sum(designs.best.power_w[model].values()) / sum(designs.baseline.power_w[model].values())
    gains = {name: value / designs.baseline.queries_per_s[name] for name, value in designs.best.queries_per_s.items()}
    return {name: gain / watts if prefix == "perf_per_tdp" else gain for name, gain in gains.items()}


def speedup_table(table: pd.DataFrame, title: str) -> Table:
    """One row a workload: each series, ours beside the paper's."""
    by_key = table.set_index(["workload", "series"])
    workloads = [name for name in dict.fromkeys(table["workload"]) if by_key.loc[name]["ours"].notna().any()]
    rows = []
    for name in workloads:
        cells = [number(by_key.loc[(name, series), column]) for series in SERIES for column in ("ours", "paper")]
        public = by_key.loc[(name, "single"), "public"]
        label = f"{name} (stand-in)" if name in STAND_INS else name
        rows.append([label, *cells, number(public)])
    heads = [f"{SERIES_WORDS[series]}, {whose}, x" for series in SERIES for whose in ("ours", "paper")]
    return Table(
        title, ["workload", *heads, f"{SERIES_WORDS['single']}, ours, power model public, x"], rows,
        f"{load_reference().tables['fast-speedup'].note}. Means of ours only where all of their workloads were "
        "searched.",
        {place for place, name in enumerate(workloads) if name in MEANS},
    )  # fmt: skip


def found_table(data: ReportData) -> Table:
    """One row a search: what it looked for, how long, what it found."""
    rows: list[list[str]] = []
    marked = set()
    for search in data.search_summaries:
        spec, best = data.spec["searches"][search], found(data, search)
        optimiser = f"{spec['optimiser']}, {islands_of(data, search)}"
        halves = gain_halves(best.gain, best.gain_public)
        if halves:
            marked.add(len(rows))
        rows.append(
            [
                search, ", ".join(spec["workloads"]), spec["objective"], optimiser,
                f"{best.trials:,}", number(best.gain), number(best.gain_public), "yes" if halves else "no",
                number(best.speed_ratio), number(best.tdp_ratio), number(best.area_ratio),
            ]
        )  # fmt: skip
    heads = [
        "search", "workloads", "objective", "optimiser, islands", "trials", "Perf/TDP, x", "Perf/TDP, public, x",
        "halves?", "queries/s, x", "TDP, x", "area, x",
    ]  # fmt: skip
    return Table(
        "What every search found", heads, rows,
        "Times the baseline's. Marked: designs whose gain halves under the power model public.", marked,
    )  # fmt: skip


def _convergence(page: Page, data: ReportData) -> None:
    for searches in convergence_searches(data):
        spec = data.spec["searches"][searches[0]]
        workloads = ", ".join(spec["workloads"])
        with_paper = workloads == CONVERGENCE_WORKLOAD and spec["objective"] == "perf-per-tdp"
        curves, rows = {}, []
        for search in searches:
            optimiser = data.spec["searches"][search]["optimiser"]
            band = best_so_far_band(data.search_summaries[search])
            curves[f"{optimiser} ({islands_of(data, search)} islands)"] = band
            rows.append([search, optimiser, *_last(band)])
        page.heading(f"Convergence on {workloads}" + " (figure 11)" * with_paper)
        page.chart(
            best_so_far_chart(
                curves, paper_convergence() if with_paper else {}, f"Best so far against trials, {workloads}",
                OBJECTIVE_WORDS[spec["objective"]],
            ),
            "simulated, published" if with_paper else "simulated",
            f"{MODELS_NOTE} Mean over islands, each with a seed of its own, and its 90 % interval (Student's t). "
            + "Dotted: the paper's five runs, read off figure 11; its tpe is the Bayesian optimiser." * with_paper,
        )  # fmt: skip
        page.table(Table("After the last trial", ["search", "optimiser", "trials", "mean", "90 % interval"], rows))


def _last(band: pd.DataFrame) -> list[str]:
    if band.empty:
        return ["-", "-", "-"]
    last = band.iloc[-1]
    return [f"{last['trial']:.0f}", number(last["mean"]), f"{number(last['low'])} to {number(last['high'])}"]


def _returns(page: Page, data: ReportData) -> None:
    """Table 4 and figure 6, with the costs of the first search whose design is shown."""
    singles, several = single_searches(data, "perf-per-tdp"), multi_search(data, "perf-per-tdp")
    searches = [*singles.values(), *([several] if several else [])]
    searches = [search for search in searches if found(data, search).gain > 0]
    if not searches:
        return
    paper = load_reference().tables["fast-return-on-investment"]
    printed = {search: workload for workload, search in singles.items() if workload in paper.rows}
    if several and set(data.spec["searches"][several]["workloads"]) == set(MULTI_WORKLOADS):
        printed[several] = "mean-of-5"
    gains = {search: found(data, search).gain for search in searches}
    costs = data.spec["return_on_investment"][searches[0]]
    page.heading("Return on investment (table 4, figure 6)")
    page.table(break_even_table(gains, costs, printed))
    page.chart(
        returns_figure(gains, costs, "Return on investment against volume, figure 6"),
        "modelled",
        "Savings over what making the design costs. Solid: our designs; dotted: round gains. Costs: those of search "
        f"{searches[0]}.",
    )
    page.table(costs_table(costs))


def _fidelity(page: Page, data: ReportData) -> None:
    """What the fidelity stage of this study has of FAST's tables and figures."""
    figures = fidelity_figures(data)
    present = [source for source in FIDELITY_SOURCES if (figures["source"] == source).any()]
    page.heading("Build-up, ablation, intensity, bottlenecks")
    if not present:
        page.text(
            "This study compares no figures of the paper's own designs; the study workflow/studies/fast.yaml does "
            "(section fidelity, source fast)."
        )
        return
    page.text(
        "FAST-Large as the paper prints it, priced by our simulator; how, says the page How true is the simulator."
    )
    for source in present:
        rows = figures[figures["source"] == source]
        if source == "fast-figure-15":
            page.chart(
                beside_paper_chart(
                    build_up(rows),
                    "Speedup over one TPU-v3 core, one change after the other",
                    "speedup, times one TPU-v3 core",
                ),
                "simulated, published",
                "Filled: ours; hollow: the paper's, read off the figure.",
            )
        page.heading(source_title(source))
        if rows["quantity"].nunique() > 1:
            page.table(quantity_table(rows))
        page.table(figure_table(rows))


def build_up(figures: pd.DataFrame) -> pd.DataFrame:
    """Figure 15 in the form of `beside_paper_chart`."""
    columns = {"subject": "workload", "quantity": "series", "theirs": "paper"}
    return figures.rename(columns=columns)[["workload", "series", "ours", "paper"]]
