"""The report's page on pre-screening: full evaluations until a value is reached, with a surrogate and without."""

import pandas as pd

from lib.report.page import Page
from lib.report.report_data import ReportData
from lib.report.search_charts import best_so_far_chart
from lib.report.search_comparison import screened_searches
from lib.report.search_figures import band_of
from lib.report.search_page import MODELS_NOTE, OBJECTIVE_WORDS
from lib.report.tables import Table, interval, number
from lib.search.evaluations_saved import best_by_evaluations, evaluations_of, reached_at_the_end, saved

SHARES = (0.8, 0.9, 0.95, 0.98, 1.0)
"""Of what the search without a surrogate has at its end, in the geometric mean over its islands."""


def surrogate_page(data: ReportData) -> Page:
    """A chart and a table for each search that has others beside it which differ in the surrogate."""
    page = Page("surrogates", "Pre-screening")
    for plain, screened in screened_searches(data).items():
        spec = data.spec["searches"][plain]
        trials = {name: data.search_summaries[name]["trials.parquet"] for name in (plain, *screened)}
        surrogates = {name: str(data.spec["searches"][name]["surrogate"]) for name in trials}
        page.heading(f"{', '.join(spec['workloads'])}, {spec['optimiser']}")
        curves = {
            f"{name} ({surrogates[name]})": band_of(best_by_evaluations(rows)) for name, rows in trials.items()
        }  # fmt: skip
        page.chart(
            best_so_far_chart(
                curves, {}, f"Best so far against full evaluations, {', '.join(spec['workloads'])}",
                OBJECTIVE_WORDS[spec["objective"]], "full evaluations",
            ),
            "simulated",
            f"{MODELS_NOTE} Mean over islands and its 90 % interval (Student's t). Designs over a limit of area or "
            "power and those that a bound ends take no full evaluation.",
        )  # fmt: skip
        page.table(saved_table(trials, surrogates, plain))
    return page


def saved_table(trials: dict[str, pd.DataFrame], surrogates: dict[str, str], plain: str) -> Table:
    """One row a value to reach and search; `trials`: of all islands of a search."""
    at_the_end = reached_at_the_end(trials[plain])
    rows = []
    for share in SHARES:
        reference = evaluations_of(trials[plain], share * at_the_end)
        for name, of_search in trials.items():
            found = evaluations_of(of_search, share * at_the_end)
            less = saved(reference, found)
            rows.append(
                [
                    f"{share:.0%} ({number(share * at_the_end)})", name, surrogates[name],
                    interval(found.mean, found.low, found.high), f"{found.reached} of {found.islands}",
                    "-" if name == plain else interval(*(100 * value for value in less)),
                ]
            )  # fmt: skip
    return Table(
        "Full evaluations until a value is reached",
        ["value to reach", "search", "surrogate", "evaluations", "islands that reach it", f"fewer than {plain}, %"],
        rows,
        f"Value: share of what {plain} has at its end. Mean over islands and 90 % interval (Student's t); fewer: by "
        "geometric means, 90 % interval by Welch's t on logarithms. Islands that do not reach a value count with all "
        "of their evaluations, so that the figure is too low there.",
        {place for place in range(len(rows)) if place // len(trials) % 2},
    )  # fmt: skip
