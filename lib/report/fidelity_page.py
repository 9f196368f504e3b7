"""The page 'How true is the simulator': our figures beside those of papers, of peers' tools and of real chips."""

import pandas as pd

from lib.report import charts
from lib.report.fidelity_data import SOURCES, fidelity_figures
from lib.report.fidelity_headline import fidelity_headlines
from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.tables import Table, interval, number
from schemas.reference import load_reference
from schemas.summary import HeadlineFigure

NEAR_PCT = 10.0
"""Errors up to this count as near in the summary."""
SMALLEST_PCT = 0.05
"""Smaller errors are shown as 0."""
FOLDED_ROWS = 40
"""Longer tables are folded."""

ERROR_COLUMNS = ("figures", "median error, %", f"within {NEAR_PCT:g} %", "largest error, %", "bounds that hold")


def fidelity_page(data: ReportData) -> Page:
    """Summary by source, all pairs in one chart, what the papers contradict themselves in, then every figure."""
    page = Page("fidelity", "How true is the simulator")
    figures = fidelity_figures(data)
    if figures.empty:
        return page
    page.text(
        "Our figures beside figures that others published or that we made with their tools. Calibration: constants of "
        "the simulator were fitted to it, so agreement shows that the form of the model can follow. Validation: "
        "nothing was ever fitted to it. Where constants are known only within a range, the range of our figure over it "
        "stands in brackets."
    )
    page.table(goal_table(fidelity_headlines(figures)))
    page.table(summary_table(figures))
    comparable = figures[figures["relation"] == "equal"]
    page.chart(
        charts.ours_against_theirs(comparable, "Ours against theirs"),
        "simulated, published",
        "Filled: validation. Hollow: calibration.",
    )
    page.chart(
        charts.ours_over_theirs(comparable, "Ours over theirs, by source"),
        "simulated, published",
        "The band: within 10 %.",
    )
    page.heading("Where the papers contradict themselves")
    page.text("No model can meet all of these figures. They are listed, not chased.")
    page.table(errata_table())
    for source, rows in figures.groupby("source", sort=False):
        page.heading(source_title(str(source)))
        if about := _about(str(source)):
            page.text(about)
        if rows["quantity"].nunique() > 1:
            page.table(quantity_table(rows))
        page.table(figure_table(rows))
    return page


def _about(source: str) -> str:
    """Title and note of a table or figure of the paper."""
    place = source.removeprefix("fast-").replace("-", " ")
    for table in load_reference().tables.values():
        title, _, where = table.title.rpartition(" (")
        if where.replace("figures 9 and 10)", "figure 9)") == f"{place})":
            return f"{title}: {table.note}."
    return ""


def goal_table(headlines: list[HeadlineFigure]) -> Table:
    """The figures that the project has set itself a goal for."""
    with_goal = [figure for figure in headlines if figure.goal is not None]
    return Table(
        "Goals",
        ["figure", "role", "unit", "value", "goal", "met?"],
        [
            [
                _words(figure.name.removeprefix("fidelity.").replace("error_pct", "error").replace(".", ", ")),
                figure.role, figure.unit, number(figure.value), figure.goal or "", "yes" if figure.met else "no",
            ]
            for figure in with_goal
        ],
        "Errors are absolute. Of quantities with several subjects: largest error, or the median where the name ends in "
        "error alone.",
    )  # fmt: skip


def source_title(source: str) -> str:
    """`FAST, table 5` for `fast-table-5`."""
    if source.startswith("fast-"):
        return "FAST, " + source.removeprefix("fast-").replace("-", " ")
    return SOURCES.get(source, source)


def summary_table(figures: pd.DataFrame) -> Table:
    """One row a source and role."""
    return Table(
        "Summary",
        ["source", "role", *ERROR_COLUMNS],
        [
            [source_title(source), role, *_error_cells(rows)]
            for (source, role), rows in figures.groupby(["source", "role"], sort=False)
        ],
        "Errors are absolute, in percent of their figure. Figures: those that have a counterpart, bounds apart.",
    )


def quantity_table(figures: pd.DataFrame) -> Table:
    """One row a quantity and role of a source."""
    return Table(
        "By quantity",
        ["quantity", "role", *ERROR_COLUMNS],
        [
            [_words(quantity), role, *_error_cells(rows)]
            for (quantity, role), rows in figures.groupby(["quantity", "role"], sort=False)
        ],
    )


def _error_cells(figures: pd.DataFrame) -> list[str]:
    """Figures to be near to, their errors, and how many bounds hold."""
    bounds = figures[figures["relation"] != "equal"]["error_pct"].dropna()
    held = f"{int((bounds == 0).sum())} of {len(bounds)}" if len(bounds) else "-"
    errors = figures[figures["relation"] == "equal"]["error_pct"].abs().dropna()
    if errors.empty:
        return ["0", "-", "-", "-", held]
    near = int((errors <= NEAR_PCT).sum())
    return [str(len(errors)), _percent(errors.median()), str(near), _percent(errors.max()), held]


def _percent(error: float) -> str:
    return "0" if error < SMALLEST_PCT else number(error)


def figure_table(figures: pd.DataFrame) -> Table:
    """Every figure of a source."""
    return Table(
        "All figures",
        ["subject", "quantity", "unit", "role", "ours", "theirs", "error, %", "note"],
        [
            [
                row.subject, _words(row.quantity), row.unit, row.role, interval(row.ours, row.low, row.high),
                number(row.theirs), _compared(row.error_pct, row.relation), row.note,
            ]
            for row in figures.itertuples(index=False)
        ],
        folded=len(figures) > FOLDED_ROWS,
    )  # fmt: skip


def _compared(error_pct: float, relation: str) -> str:
    """Signed error; of a bound, whether it holds."""
    if pd.isna(error_pct):
        return "-"
    if relation == "equal":
        return "0" if abs(error_pct) < SMALLEST_PCT else f"{error_pct:+.1f}"
    return f"{relation}: holds" if error_pct == 0 else f"{relation}: broken by {abs(error_pct):.1f}"


def errata_table() -> Table:
    """What is wrong in the papers themselves."""
    return Table("Errata", ["where", "what"], [[erratum.where, erratum.text] for erratum in load_reference().errata])


def _words(quantity: str) -> str:
    return quantity.replace("_", " ")
