"""The page that sets the learned models beside the paper: goals, means by split, programs, ablations."""

from typing import NamedTuple

from lib.report.ablation import ablation_tables
from lib.report.goal_table import goal_table
from lib.report.goals import GoalResult, goal_results
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Table, doubtful, interval, metric_name, number, with_unit
from schemas.reference import ReferenceTable, load_reference

FUSION_BASELINE = "calibrated-analytical"
"""The paper calibrates its analytical model for the fusion task, a factor a kernel class."""
PAPER_HARDWARE = "TPU-v2"
"""Of the paper's tables by program."""


class Compared(NamedTuple):
    """A metric that the paper prints too."""

    task: str
    metric: str
    paper: str
    """Start of the columns of the paper's tables: `{paper}_learned` and `{paper}_analytical`."""


COMPARED = (
    Compared("tile", "ape_pct", "tile_ape"),
    Compared("tile", "kendall_tau", "tile_tau"),
    Compared("fusion", "mape_pct", "fusion_mape"),
    Compared("fusion", "kendall_tau", "fusion_tau"),
    Compared("fusion", "mape_short_pct", "short_mape"),
)
MODELS = ("learned", "analytical")
"""Ends of the columns of the paper's tables."""
BY_PROGRAM = COMPARED[:4]
"""What the paper prints by program."""
SPLITS = {
    "family": "whole families held out",
    "program": "programs held out (the paper's random split)",
    "likeness": "the least alike programs held out (the paper's manual split)",
    "name": "named programs held out",
}
"""Kinds of split in the order of the page, in words."""
MEANS = (
    "Means over the test programs: geometric for errors, arithmetic for tau; in brackets a 90 % bootstrap interval "
    "over programs. Ours: simulated runtimes; the paper's: real TPUs. (?) marks figures of the paper that come from "
    "memory and could not be checked."
)


def paper_page(data: ReportData) -> Page:
    """Goals, then each metric by split beside the paper's mean, then programs, then ablations."""
    page = Page("paper", "Beside the paper")
    if not data.evaluations:
        return page
    page.text(
        "What the learned models reach on programs that they were never trained on, beside the goals of this project "
        "and the tables of Kaufman et al. (MLSys 2021). The paper's runtimes are those of real TPUs and its programs "
        "are not public; ours are simulated, so the columns tell how hard each task was for each model, not which is "
        "better."
    )
    page.heading("Goals")
    page.table(accuracy_goal_table(goal_results(data)))
    page.heading("Means by split")
    page.text(MEANS)
    for compared in COMPARED:
        page.table(means_table(data, compared))
    page.heading("By program")
    page.text(
        "The paper's tables are of its random split, held out by program; ours of the same kind of split come first."
    )
    for evaluation in sorted(data.evaluations, key=lambda name: data.split_kind(name) != "program"):
        if set(data.evaluations[evaluation]["overall.parquet"]["hardware"]) - set(data.sampled(evaluation)):
            page.table(accuracy_beside_paper(data, evaluation))
    tables = ablation_tables(data)
    if tables:
        page.heading("Ablations")
        for table in tables:
            page.table(table)
    return page


def goals_in_words(results: list[GoalResult]) -> str:
    """How many goals are met, which are not."""
    met, missed = ([r for r in results if r.met is value] for value in (True, False))
    unknown = len(results) - len(met) - len(missed)
    text = f"{len(met)} of the {len(results)} goals of the learned models are met, {len(missed)} not met"
    text += f" ({'; '.join(f'{r.goal.what}: {number(r.value)}, goal {r.goal.text}' for r in missed)})" if missed else ""
    return text + (f"; of {unknown} this study says nothing." if unknown else ".")


def accuracy_goal_table(results: list[GoalResult]) -> Table:
    """One row a goal, with the programs, seeds and evaluation that its figure is of."""
    details = {
        "programs / seeds": lambda result: f"{result.programs} / {result.seeds}" if result.evaluation else "-",
        "evaluation": lambda result: result.evaluation or "-",
    }
    return goal_table(
        "Goals, on architectures never trained on",
        results,
        details,
        "In brackets a 90 % bootstrap interval over programs; whether a goal is met is told by the mean alone. "
        "Errors in %.",
        what=lambda result: f"{result.goal.what}, {result.goal.task} task, {result.goal.hardware}",
        value=lambda result: interval(result.value, result.low, result.high),
    )


def means_table(data: ReportData, compared: Compared) -> Table:
    """One metric: the paper's means, and below them ours of the same kind of split, by hardware."""
    paper = load_reference().tables["learned-means"]
    rows: list[list[str]] = []
    marked = set()
    for kind in dict.fromkeys([*SPLITS, *map(data.split_kind, data.evaluations)]):
        words = SPLITS.get(kind, f"split '{kind}'")
        for name in paper.rows:
            split, _, hardware = name.partition("-")
            if split == kind and any(paper.row(name)[f"{compared.paper}_{m}"] is not None for m in MODELS):
                marked.add(len(rows))
                rows.append(["paper", words, hardware, "", *_paper_cells(paper, name, compared)])
        for evaluation in data.evaluations:
            if data.split_kind(evaluation) == kind:
                rows += _our_means(data, evaluation, words, compared)
    return Table(
        f"{metric_name(compared.metric)}, {compared.task} task",
        ["whose", "split", "hardware", "programs / seeds", *(with_unit(model, compared.metric) for model in MODELS)],
        rows,
        marked=marked,
    )


def _paper_cells(paper: ReferenceTable, row: str, compared: Compared) -> list[str]:
    cells = []
    for model in MODELS:
        column = f"{compared.paper}_{model}"
        written = doubtful if column in paper.from_memory.get(row, []) else number
        cells.append(written(paper.row(row)[column]))
    return cells


def _our_means(data: ReportData, evaluation: str, words: str, compared: Compared) -> list[list[str]]:
    """A row a hardware variant and network of the evaluation; the headline model comes first."""
    overall = data.means(evaluation)
    overall = overall[(overall["task"] == compared.task) & (overall["metric"] == compared.metric)]
    by_key = overall.set_index(["hardware", "model"])
    analytical = FUSION_BASELINE if compared.task == "fusion" else "analytical"
    rows = []
    for model in data.evaluations[evaluation].manifest.spec["models"]:
        for hardware in dict.fromkeys(overall["hardware"]):
            if model["task"] != compared.task or (hardware, model["id"]) not in by_key.index:
                continue
            seeds = len(model.get("seeds", [])) or 1
            ours = by_key.loc[(hardware, model["id"])]
            cells = [
                interval(*by_key.loc[key, ["value", "low", "high"]]) if key in by_key.index else "-"
                for key in ((hardware, model["id"]), (hardware, analytical))
            ]
            rows.append([f"{evaluation}: {model['id']}", words, hardware, f"{ours['programs']} / {seeds}", *cells])
    return rows


def accuracy_beside_paper(data: ReportData, evaluation: str) -> Table:
    """The paper's accuracy by program and ours by hardware and program in one table, each with its mean."""
    reference = load_reference()
    paper = reference.tables["learned-accuracy"]
    kind = data.split_kind(evaluation)
    columns = [f"{c.paper}_{model}" for c in BY_PROGRAM for model in MODELS]
    rows = [
        [f"paper, {PAPER_HARDWARE}", name, *(number(paper.row(name)[column]) for column in columns)]
        for name in paper.rows
    ]
    hardware_ids = dict.fromkeys(data.evaluations[evaluation]["overall.parquet"]["hardware"])
    for hardware in [id for id in hardware_ids if id not in data.sampled(evaluation)]:
        rows += _our_programs(data, evaluation, hardware)
    return Table(
        f"The paper's accuracy and ours: {evaluation}, {SPLITS.get(kind, kind)}",
        ["whose", "program", *(f"{c.task} task, {metric_name(c.metric)}: {m}" for c in BY_PROGRAM for m in MODELS)],
        rows,
        f"Paper: {reference.sources[paper.source]}, real {PAPER_HARDWARE}, split by program; {paper.note}. Ours: "
        f"simulated. Analytical for the fusion task: calibrated by one factor a kernel class on each program's "
        "default fusion.",
        {position for position, row in enumerate(rows) if row[1] in ("median", "mean")},
        folded=kind != "program",
    )


def _our_programs(data: ReportData, evaluation: str, hardware: str) -> list[list[str]]:
    artifact, headline = data.evaluations[evaluation], data.headline(evaluation)
    programs = artifact["programs.parquet"]
    programs = programs[programs["hardware"] == hardware]
    by_program = programs.groupby(["workload", "task", "metric", "model"])["value"].mean()
    overall = artifact["overall.parquet"].set_index(["hardware", "task", "metric", "model"])
    columns = [
        (c.task, c.metric, model)
        for c in BY_PROGRAM
        for model in (headline.get(c.task), FUSION_BASELINE if c.task == "fusion" else "analytical")
    ]
    rows = [
        [f"simulated {hardware}", workload, *(number(by_program.get((workload, *column))) for column in columns)]
        for workload in dict.fromkeys(programs["workload"])
    ]
    keys = [(hardware, *column) for column in columns]
    means = [interval(*overall.loc[key, ["value", "low", "high"]]) if key in overall.index else "-" for key in keys]
    return [*rows, [f"simulated {hardware}", "mean", *means]]
