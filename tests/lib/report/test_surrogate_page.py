"""What pre-screening saves, on the report's page."""

from lib.report.search_comparison import screened_searches
from lib.report.surrogate_page import SHARES, surrogate_page
from tests.lib.report.report_examples import report_data, search


def islands(best, **spec):
    """Islands that reach 4 so many evaluations after the first one."""
    gains = [[1.0, *[2.0] * (number - 1), *[4.0] * (1 + max(best) - number)] for number in best]
    return [search(island, of_island, **spec) for island, of_island in enumerate(gains, start=1)]


def example():
    return report_data(
        searches={
            "plain": islands([32, 64]),
            "regression": islands([8, 16], surrogate="regression"),
            "other-space": islands([8], space={"pes_x": [1]}),
        }
    )


def test_searches_that_differ_in_the_surrogate_are_compared():
    assert screened_searches(example()) == {"plain": ["regression"]}


def test_the_page_says_what_is_saved():
    """Four times fewer evaluations in each island but for the first one, which all islands make."""
    page = surrogate_page(example())
    (table,) = [part["table"] for part in page.parts if part["kind"] == "table"]
    assert len(table.rows) == 2 * len(SHARES)
    plain, screened = table.rows[-2:]
    assert plain[:3] == ["100% (4)", "plain", "none"]
    assert plain[3].startswith("49 [")
    assert plain[5] == "-"
    assert screened[3].startswith("13 [")
    assert screened[4] == "2 of 2"
    assert screened[5].startswith("73.")  # 1 - 3/4 of (9 17) / (33 65), geometric means


def test_no_page_without_such_searches():
    assert not surrogate_page(report_data()).parts
