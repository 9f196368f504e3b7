"""The pages of the report, and the whole of it."""

from lib.report import tables
from lib.report.accuracy_page import accuracy_page
from lib.report.autotune_page import autotune_page
from lib.report.claims import claims_table
from lib.report.difference_page import difference_page
from lib.report.fast_page import fast_page
from lib.report.fidelity_page import fidelity_page
from lib.report.goals import goal_results
from lib.report.hardware_page import hardware_page, variants_table
from lib.report.headline import summary as headline_summary
from lib.report.measured_goals import measured_goal_results
from lib.report.measured_page import measured_page
from lib.report.model_page import model_page
from lib.report.page import Card, Page, render
from lib.report.paper_page import goals_in_words, paper_page
from lib.report.report_data import ReportData
from lib.report.run_page import run_page
from lib.report.search_goals import search_goal_results
from lib.report.search_page import search_page
from lib.report.surrogate_page import surrogate_page
from lib.report.training_page import training_page
from schemas.summary import HeadlineFigure, Summary

COMPARED = ("analytical", "calibrated-analytical", "boosted-trees", "random")
"""Baselines on the first page."""
MOST_SEARCH_CARDS = 6
"""Searches on the first page."""
MAIN_METRICS = ("ape_pct", "mape_pct", "kendall_tau")
HOW_TO_READ = {
    "simulated": "Runtimes are simulated: the learned models are trained and judged on the simulator's labels, and "
    "searched designs are compared under the same simulator. Accuracy here says how well a model learns this "
    "simulator, not how well it predicts a chip.",
    "measured": "Measured runtimes were taken on this machine, each kernel by itself; the page Measured here has the "
    "device, its noise and what was left out. No model can be expected to be better than the noise of its labels.",
    "recorded": "Recorded runtimes were measured on a chip by others and read from files; the simulator has no part "
    "in them.",
}
"""What the runtimes are, by origin."""


def build_report(data: ReportData) -> tuple[str, Summary]:
    """`index.html`'s text and the headline figures."""
    pages, summary = report_pages(data)
    counts = " · ".join(
        f"{len(entries)} {noun if len(entries) == 1 else plural}"
        for entries, noun, plural in (
            (data.spec["workloads"], "program", "programs"),
            (data.spec["hardware"], "hardware variant", "hardware variants"),
            (data.models, "model", "models"),
            (data.searches, "search", "searches"),
        )
    )
    return render("Tilewright report", f"{counts} · runtimes: {', '.join(data.origins)}", pages), summary


def report_pages(data: ReportData) -> tuple[list[Page], Summary]:
    """All pages that the study has something for, in order, and the headline figures."""
    summary = headline_summary(data)
    pages = [
        overview_page(data, summary),
        paper_page(data.simulated()),
        claims_page(data.simulated(), summary),
        *(accuracy_page(data, name) for name in data.evaluations),
        measured_page(data),
        training_page(data),
        *(model_page(data, name) for name in data.models),
        *(autotune_page(data, name) for name in data.autotunes),
        fast_page(data),
        surrogate_page(data),
        *(search_page(data, name) for name in data.searches),
        *(hardware_page(data, name) for name in data.spec["hardware"]),
        difference_page(data),
        fidelity_page(data),
        run_page(data),
        study_page(data),
    ]
    return [page for page in pages if page.parts], summary


def overview_page(data: ReportData, summary: Summary) -> Page:
    """The numbers that a person wants first."""
    page = Page("overview", "Overview")
    by_name = {figure.name: figure for figure in summary.figures}
    for evaluation in data.evaluations:
        page.heading(f"Accuracy on {data.held_out(evaluation)} ({evaluation})")
        page.cards(_accuracy_cards(evaluation, by_name))
        page.table(_overall_table(data, evaluation))
    if data.simulated().evaluations:
        page.text(goals_in_words(goal_results(data.simulated())) + " The page Beside the paper has them all.")
    if len(data.measured.shards):
        page.heading("Measured on this machine")
        page.cards(
            [
                Card(result.goal.what, tables.number(result.value), "", result.goal.text, result.met)
                for result in measured_goal_results(data)
                if result.met is not None
            ]
        )
    if data.autotunes:
        page.heading("Autotuning")
        page.cards([card for name in data.autotunes for card in _autotune_cards(name, summary)])
    if data.searches:
        page.heading("Search")
        page.cards(_search_cards(data, by_name))
    page.heading("How to read this")
    words = [HOW_TO_READ[origin] for origin in HOW_TO_READ if origin in data.origins]
    page.text(" ".join([*words, "Each test program is scored once a seed."]))
    return page


def _accuracy_cards(evaluation: str, by_name: dict[str, HeadlineFigure]) -> list[Card]:
    """The learned model's figures that have a goal; where none has, the first hardware variant's main ones."""
    learned = [
        figure
        for name, figure in by_name.items()
        if name.startswith(f"evaluation.{evaluation}.") and name.endswith(".learned")
    ]
    chosen = [figure for figure in learned if figure.goal] or [
        figure
        for figure in learned
        if figure.name.split(".")[3] == learned[0].name.split(".")[3] and figure.name.split(".")[4] in MAIN_METRICS
    ]
    cards = []
    for figure in chosen:
        _, _, task, hardware, metric, _ = figure.name.split(".")
        others = [
            f"{baseline} {tables.number(by_name[key].value)}"
            for baseline in COMPARED[:2]
            if (key := f"evaluation.{evaluation}.{task}.{hardware}.{metric}.{baseline}") in by_name
        ]
        detail = ", ".join(others) + "." if others else ""
        label = f"{tables.metric_name(metric)} · {task} task · {hardware}"
        cards.append(Card(label, tables.number(figure.value), detail, figure.goal, figure.met))
    return cards


def _overall_table(data: ReportData, evaluation: str) -> tables.Table:
    """One row a hardware variant and metric: learned beside the baselines, with intervals."""
    overall, headline = data.means(evaluation), data.headline(evaluation)
    baselines = [name for name in COMPARED if name in set(overall["model"])]
    rows = []
    for (task, hardware, metric), group in overall.groupby(["task", "hardware", "metric"], sort=False):
        if metric not in MAIN_METRICS:
            continue
        by_model = group.set_index("model")
        cells = [
            tables.interval(*by_model.loc[model, ["value", "low", "high"]]) if model in by_model.index else "-"
            for model in (headline.get(task), *baselines)
        ]
        rows.append([task, hardware, tables.metric_name(metric), *cells])
    return tables.Table(
        "All hardware variants",
        ["task", "hardware", "metric", "learned", *baselines],
        sorted(rows),
        "Mean over the test programs (geometric for errors), in brackets a 90 % bootstrap interval over programs.",
    )


def _autotune_cards(autotune: str, summary: Summary) -> list[Card]:
    """Speedup of the headline strategy, and its figures that have a goal."""
    cards = []
    for figure in summary.figures:
        section, id, *_ = figure.name.split(".")
        if (section, id) != ("autotune", autotune):
            continue
        quantity, strategy = figure.name.split(".")[-2:]
        if figure.goal or (quantity == "speedup" and strategy == "learned"):
            label = f"{autotune}: {quantity.replace('_pct', ', %').replace('_', ' ')}"
            cards.append(Card(label, tables.number(figure.value, 4), f"strategy {strategy}", figure.goal, figure.met))
    return cards


def _search_cards(data: ReportData, by_name: dict[str, HeadlineFigure]) -> list[Card]:
    """The figures of the searches that have a goal, then the first few searches; the page of FAST has all."""
    cards = []
    for result in search_goal_results(data):
        if result.met is not None:
            cards.append(
                Card(result.goal.what, tables.number(result.value), result.basis, result.goal.text, result.met)
            )
    return [*cards, *(_search_card(name, by_name) for name in list(data.searches)[:MOST_SEARCH_CARDS])]


def _search_card(search: str, by_name: dict[str, HeadlineFigure]) -> Card:
    trials = by_name[f"search.{search}.trials"].value
    if f"search.{search}.perf_per_tdp_gain" not in by_name:
        return Card(f"{search}: Perf/TDP gain", "-", f"none of {trials:.0f} trials met the limits")
    names = ("perf_per_tdp_gain", "perf_per_tdp_gain_public", "tdp_ratio", "area_ratio")
    gain, public, tdp, area = (by_name[f"search.{search}.{name}"].value or 0.0 for name in names)
    detail = f"{trials:.0f} trials; {tables.number(public)} x by the power model public; "
    detail += f"{tables.number(tdp)} x TDP, {tables.number(area)} x area of the baseline"
    return Card(f"{search}: Perf/TDP gain", f"{tables.number(gain)} x", detail)


def claims_page(data: ReportData, summary: Summary) -> Page:
    """Each claim of the two papers beside ours; of a study that only measures there is nothing to set beside them."""
    page = Page("claims", "Claims")
    if len(data.measured.shards) and not (data.evaluations or data.autotunes or data.searches):
        return page
    page.text(
        "What the two papers claim, beside what this study shows. The papers measured real TPUs (learned model) and "
        "a production simulator (FAST); ours are simulated and of the size of this study, so agreement is a sanity "
        "check, not a reproduction."
    )
    page.table(claims_table(data, summary))
    return page


def study_page(data: ReportData) -> Page:
    """Programs, hardware, datasets and software."""
    page = Page("study", "Study")
    page.table(tables.program_table(data))
    if (variants := variants_table(data.spec["hardware"])) is not None:
        page.table(variants)
    if len(data.shards):
        page.table(tables.shard_table(data))
    page.table(tables.Table("Software", ["name", "version"], [[k, v] for k, v in sorted(data.software.items())]))
    return page
