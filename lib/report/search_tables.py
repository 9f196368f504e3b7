"""Tables of one search: designs side by side, components, limits, refused trials, best trials."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from lib.report.search_charts import STATE_WORDS
from lib.report.search_figures import NEAR_LIMIT, gain_halves, places
from lib.report.tables import Table, number
from schemas.hardware import study_entry
from schemas.reference import load_reference
from schemas.search_artifact import DesignSummary, SearchDesigns
from schemas.search_space import DEFAULT_SPACE

MB = 1e6
OPERANDS = ("input", "weight", "output")
LIMITS = {
    "tdp": "TDP, times the baseline's",
    "area": "area, times the baseline's",
    "latency": "latency of a batch of the slowest workload, s",
}
PAPER_ROWS = {
    "peak_flops": "peak, TFLOP/s",
    "dram_bandwidth": "DRAM, GB/s",
    "queries": "queries/s",
    "latency": "latency, ms",
    "compute_utilisation": "utilisation while not waiting for DRAM",
    "perf_per_tdp": "Perf/TDP gain",
}
"""Columns of the reference's `fast-designs` that the table of designs repeats, in words."""


def design_table(designs: Sequence[DesignSummary], model: str) -> Table:
    """Designs side by side: what each takes and does, then its datapath."""

    def row(label: str, values: Sequence[Any]) -> list[str]:
        return [label, *(value if isinstance(value, str) else number(value) for value in values)]

    rows = [
        row("area, mm2", [sum(design.area_mm2[model].values()) for design in designs]),
        row("TDP, W", [sum(design.power_w[model].values()) for design in designs]),
    ]
    for power_model in designs[0].perf_per_tdp_gain:
        gains = [design.perf_per_tdp_gain[power_model] for design in designs]
        rows.append(row(f"Perf/TDP gain, power model {power_model}", gains))
    for workload in designs[0].queries_per_s:
        rows.append(row(f"queries/s, {workload}", [design.queries_per_s[workload] for design in designs]))
        rows.append(
            row(f"latency of a batch, ms, {workload}", [1e3 * design.latency_s[workload] for design in designs])
        )
        rows.append(row(f"energy of a query, mJ, {workload}", [1e3 * design.joules[workload] for design in designs]))
        rows.append(row(f"DRAM traffic of a query, MB, {workload}", [d.dram_bytes[workload] / MB for d in designs]))
        rows.append(row(f"utilisation, {workload}", [design.utilisation[workload] for design in designs]))
    entries = [study_entry(design.hardware)["datapath"] for design in designs]
    rows += [[key.replace("_", " "), *(str(entry[key]) for entry in entries)] for key in entries[-1]]
    return Table(
        "Designs", ["quantity", *(design.name for design in designs)], rows,
        "Utilisation: FLOPs over what the peak rate would do in the same time. Power, area and runtimes are modelled.",
    )  # fmt: skip


def in_words(designs: SearchDesigns) -> str:
    """The best design's gain under both power models, whether it halves, and over the scheduled baseline."""
    if designs.best is None:
        return ""
    gains, model = designs.best.perf_per_tdp_gain, designs.power_area_model
    text = f"Perf/TDP gain {number(gains[model])} by the power model {model}, {number(gains['public'])} by public. "
    if gain_halves(gains[model], gains["public"]):
        text += "It halves under public: the design owes it to the fitted constants of power. "
    else:
        text += "It does not halve under public. "
    scheduled = gains[model] / designs.scheduled.perf_per_tdp_gain[model]
    return text + f"Over {designs.scheduled.name}: {number(scheduled)}."


def taken_of_limits(designs: SearchDesigns) -> dict[str, float]:
    """What the best design takes of each limit, by the limit's name; empty without one."""
    best = designs.best
    if best is None:
        return {}
    place = places(designs, [best])[best.name]
    slowest_s = max(best.latency_s.values())
    return {"tdp_ratio": place["tdp_ratio"], "area_ratio": place["area_ratio"], "latency_s": slowest_s}


def paper_design_table() -> Table:
    """What the paper prints of its own designs for EfficientNet-B7 (table 5)."""
    paper = load_reference().tables["fast-designs"]
    columns = list(paper.rows)
    rows = [
        [words, *(number(paper.row(name)[column], 4) for name in columns)]
        for column, words in PAPER_ROWS.items()
    ]  # fmt: skip
    return Table(f"The paper's designs: {paper.title}", ["quantity", *columns], rows, paper.note, folded=True)


def component_table(baseline: DesignSummary, best: DesignSummary, model: str) -> Table:
    """Area and power by component of the chip."""
    rows = [
        [
            part.replace("_", " "),
            *(number(design.area_mm2[model].get(part)) for design in (baseline, best)),
            *(number(design.power_w[model].get(part)) for design in (baseline, best)),
        ]
        for part in dict.fromkeys([*best.area_mm2[model], *best.power_w[model]])
    ]
    columns = ["component", *(f"{quantity}, {d.name}" for quantity in ("mm2", "W") for d in (baseline, best))]
    return Table(f"Area and power-virus power by component, model {model}", columns, rows, folded=True)


def states_table(trials: pd.DataFrame) -> Table:
    """What became of the trials, and the commonest reason of each state."""
    rows = []
    for state in [state for state in STATE_WORDS if (trials["state"] == state).any()]:
        of_state = trials[trials["state"] == state]
        reasons = of_state["reason"][of_state["reason"] != ""]
        example = "" if reasons.empty else str(reasons.iloc[0])
        share = 100 * len(of_state) / len(trials)
        rows.append([STATE_WORDS[state], str(len(of_state)), number(share), example])
    return Table(
        "What became of the trials", ["trials", "number", "%", "for example"], rows,
        "Bound below the best: stopped early, as even its bound can't beat the best design so far. Can't run: can't be "
        "built, or has no tile that fits for a kernel.",
    )  # fmt: skip


def limits_table(trials: pd.DataFrame, limits: Mapping[str, float | None], taken: Mapping[str, float]) -> Table:
    """Each limit beside what the best design takes (`taken`, by limit; empty without one): which of them binds."""
    rows = []
    for state, words in LIMITS.items():
        column = "latency_s" if state == "latency" else f"{state}_ratio"
        limit = limits.get(column)
        if limit is None:
            continue
        over = 100 * float((trials["state"] == state).mean())
        binds = "-" if not taken else "yes" if taken[column] >= NEAR_LIMIT * limit else "no"
        rows.append([words, number(limit), number(taken.get(column)), binds, number(over)])
    return Table(
        "Limits", ["limit", "at most", "best design", "binds?", "% of trials over it"], rows,
        f"A limit binds where the best design takes at least {NEAR_LIMIT:g} of it. Limits are checked in the order "
        "area, TDP, then what is simulated; a trial counts for the first that it breaks.",
    )  # fmt: skip


def explained_table(explained: pd.DataFrame) -> Table:
    """Which parameters make the best design better than FAST-Large, as factors, all of them together last.

    `explained`: the artifact's `explained.parquet`, log2 of ratios.
    """
    figures = ("share_gain", "share_performance", "share_power", "ladder_gain")
    rows = [
        [row["group"], row["reference"], row["design"], *(number(2.0 ** row[figure]) for figure in figures)]
        for _, row in explained.iterrows()
    ]
    total = [number(2.0 ** explained[figure].sum()) for figure in figures]
    return Table(
        "What makes it better than FAST-Large",
        ["parameters", "FAST-Large", "best design", "Perf/TDP, x", "queries/s, x", "1 / TDP, x", "one by one, x"],
        [*rows, ["all together", "", "", *total]],
        "Factors that multiply to the whole: mean over all orders in which the parameters can be changed (Shapley "
        "value); the last column changes them one after the other, from top to bottom. Priced as in a trial.",
        {len(rows)},
    )  # fmt: skip


def residency_table(kernels: pd.DataFrame) -> Table:
    """What stays in the global buffer between kernels of the best design, by kind of tensor.

    `kernels`: the artifact's `kernels.parquet`.
    """
    runs = kernels["executions"].sum()
    rows = []
    for kind in OPERANDS:
        share = kernels[f"{kind}_resident"]
        kept = kernels[share > 0]
        heaviest = kept.assign(s=kept["best_s"] * kept["executions"]).nlargest(3, "s")["root"]
        of_runs = 100 * float((share * kernels["executions"]).sum()) / runs
        rows.append([kind, str(len(kept)), number(of_runs), ", ".join(heaviest)])
    return Table(
        "What stays on chip between kernels", ["tensor", "kernels", "% of kernel executions", "heaviest kernels"], rows,
        f"Best design. DRAM traffic of a query: {_traffic(kernels, 'best')} MB, of the baseline "
        f"{_traffic(kernels, 'baseline')} MB.",
    )  # fmt: skip


def _traffic(kernels: pd.DataFrame, design: str) -> str:
    return number(float((kernels[f"{design}_dram_bytes"] * kernels["executions"]).sum()) / MB)


def kernel_table(kernels: pd.DataFrame, most: int = 40) -> Table:
    """The heaviest kernels before and after, all executions, of a query. `kernels`: `heaviest_kernels`'s table."""
    rows = [
        [
            row.label, str(row.executions), number(row.baseline_s * 1e6), number(row.best_s * 1e6),
            number(row.baseline_s / row.best_s), number(row.baseline_dram_bytes * row.executions / MB),
            number(row.best_dram_bytes * row.executions / MB),
            ", ".join(kind for kind in OPERANDS if getattr(row, f"{kind}_resident") > 0) or "-",
        ]
        for row in kernels.head(most).itertuples(index=False)
    ]  # fmt: skip
    heads = [
        "kernel", "executions", "baseline, us", "best, us", "faster, times", "baseline, DRAM MB", "best, DRAM MB",
        "stays on chip",
    ]  # fmt: skip
    return Table(
        f"The {len(rows)} heaviest kernels", heads, rows, "Of a query, over all cores. All are in kernels.parquet.",
        folded=True,
    )  # fmt: skip


def best_trials_table(trials: pd.DataFrame, most: int = 10) -> Table:
    """The best trials with their parameters; all of them are in the artifact's `trials.parquet`."""
    best = trials[trials["state"] == "ok"].nlargest(most, "value")
    figures = ["perf_per_tdp_gain", "perf_per_tdp_gain_public", "tdp_ratio", "area_ratio", "speed_ratio", "latency_ms"]
    parameters = [name for name in DEFAULT_SPACE if name in trials]
    rows = [
        [
            f"{row['island']}/{row['trial']}",
            *(number(row[name]) for name in figures),
            *(str(row[name]) for name in parameters),
        ]
        for _, row in best.iterrows()
    ]
    words = ["Perf/TDP, x", "Perf/TDP, public, x", "TDP, x", "area, x", "queries/s, x", "latency, ms"]
    heads = ["island/trial", *words, *(name.replace("_", " ") for name in parameters)]
    note = "Ratios to the baseline, but for latency. All trials are in the search's trials.parquet."
    return Table(f"The {len(rows)} best trials", heads, rows, note, folded=True)
