"""The report's page of one search: progress, trade-offs, limits, best design against the baseline, what it pays."""

from collections.abc import Mapping, Sequence
from typing import Any

from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.return_on_investment import break_even_table, costs_table, returns_figure
from lib.report.search_charts import best_so_far_chart, kernels_side_by_side, states_chart, trade_off_chart
from lib.report.search_comparison import CONVERGENCE_WORKLOAD, islands_of
from lib.report.search_figures import best_so_far_band, heaviest_kernels, places, trials_of
from lib.report.search_tables import (
    best_trials_table,
    component_table,
    design_table,
    explained_table,
    in_words,
    kernel_table,
    limits_table,
    paper_design_table,
    residency_table,
    states_table,
    taken_of_limits,
)
from schemas.artifact import Artifact
from schemas.reference import load_reference
from schemas.search_artifact import DesignSummary

AXES = {
    "tdp_ratio": "TDP, times the baseline's",
    "area_ratio": "area, times the baseline's",
    "latency_ms": "latency of a batch, ms",
}
"""What speed is shown against."""
OBJECTIVE_WORDS = {
    "perf-per-tdp": "Perf/TDP, times the baseline's",
    "throughput": "queries/s, times the baseline's",
    "latency": "the baseline's latency over the design's",
    "energy": "the baseline's energy of a query over the design's",
}
MODELS_NOTE = "Power and area by the model that the limits use."


def search_page(data: ReportData, name: str) -> Page:
    """All islands of a search together; the best design is that of the best island."""
    page = Page(f"search-{name}", f"Search: {name}", "Searches")
    summary, spec = data.search_summaries[name], data.spec["searches"][name]
    trials, designs = trials_of(summary), summary["designs.json"]
    islands = islands_of(data, name)
    page.text(
        f"{len(trials):,} trials by {spec['optimiser']} in {_islands(islands)} over {designs.space_size:.3g} designs "
        f"for {', '.join(spec['workloads'])}. Objective: {spec['objective']} against {designs.baseline.name}; "
        f"residency: {spec['residency']}."
    )
    if designs.best is not None:
        page.text(in_words(designs))
    _progress(page, summary, spec, islands)
    named = [designs.compiled, designs.scheduled, *designs.references]
    page.chart(
        trade_off_chart(trials, places(designs, named), AXES, "Speed against power, area and latency"),
        "simulated",
        f"{MODELS_NOTE} Pareto front: no other design is as good in all four. The paper's figure 12 has step time "
        "against power and area, without numbers.",
    )
    page.heading("Limits and refused trials")
    for unmet in designs.unmet:
        page.text(f"{unmet.text[0].upper()}{unmet.text[1:]}.")
    page.table(limits_table(trials, spec["limits"], taken_of_limits(designs)))
    page.chart(
        states_chart(trials, "What became of the trials, by part of the search"), "simulated", "All islands together."
    )
    page.table(states_table(trials))
    if designs.best is None:
        page.text("No trial met the limits and ran every workload, so there is no best design to show.")
        return page
    _best_design(page, summary, spec, [designs.best, *named])
    page.table(best_trials_table(trials))
    _returns(page, data, name, designs.best.perf_per_tdp_gain)
    page.heading("To use it: paste this under hardware: in a study")
    page.code(summary["best.yaml"])
    return page


def _islands(number: int) -> str:
    return f"{number} island{'s' * (number > 1)}"


def _progress(page: Page, summary: Artifact, spec: Mapping[str, Any], islands: int) -> None:
    """Best so far against trials; on EfficientNet-B7 the paper's curves beside it."""
    label = f"{spec['optimiser']} ({_islands(islands)})"
    with_paper = spec["workloads"] == [CONVERGENCE_WORKLOAD] and spec["objective"] == "perf-per-tdp"
    note = f"{MODELS_NOTE} Mean over islands" + (" and its 90 % interval (Student's t)." if islands > 1 else ".")
    if with_paper:
        note += " Dotted: means of the paper's five runs, read off figure 11; its tpe is the Bayesian optimiser."
    page.chart(
        best_so_far_chart(
            {label: best_so_far_band(summary)}, paper_convergence() if with_paper else {},
            "Best so far against trials", OBJECTIVE_WORDS[spec["objective"]],
        ),
        "simulated, published" if with_paper else "simulated",
        note,
    )  # fmt: skip


def _best_design(page: Page, summary: Artifact, spec: Mapping[str, Any], designs: Sequence[DesignSummary]) -> None:
    """The best design, first of `designs`, beside the others, then its kernels."""
    model, baseline = summary["designs.json"].power_area_model, summary["designs.json"].baseline
    page.heading(f"Best design ({designs[0].name}) against {baseline.name}")
    page.table(design_table(designs, model))
    if spec["workloads"] == [CONVERGENCE_WORKLOAD]:
        page.table(paper_design_table())
    page.table(component_table(baseline, designs[0], model))
    if len(summary["explained.parquet"]):
        page.table(explained_table(summary["explained.parquet"]))
    page.heading("Kernels before and after")
    kernels = heaviest_kernels(summary["kernels.parquet"])
    page.chart(
        kernels_side_by_side(
            kernels, f"The 20 kernels that take the most time on {baseline.name}, or on the best design", baseline.name
        ),
        "simulated",
        "Time of all executions of the kernel in a run, divided by the queries of the run over all cores.",
    )
    page.table(kernel_table(kernels))
    page.table(residency_table(summary["kernels.parquet"]))


def paper_convergence() -> dict[str, dict[int, float]]:
    """Figure 11: optimiser to best so far by trials."""
    table = load_reference().tables["fast-convergence"]
    return {
        optimiser: {int(row.split()[1]): value for row, value in table.column(optimiser).items() if value is not None}
        for optimiser in table.units
    }


def _returns(page: Page, data: ReportData, name: str, gain_by_model: Mapping[str, float]) -> None:
    costs = data.spec["return_on_investment"][name]
    gains = {f"{name}, {model}": gain for model, gain in gain_by_model.items()}
    page.heading("Return on investment")
    page.table(break_even_table(gains, costs, {}))
    page.chart(
        returns_figure(gains, costs, "Return on investment against volume"),
        "modelled",
        "Savings over what making the design costs. Solid: this search's best design under both power models; dotted: "
        "round gains, as the paper's figure 6.",
    )
    page.table(costs_table(costs))
