"""The report's pages: complete, self-contained, and right about what is not there."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from lib.report.claims import claims_table
from lib.report.headline import summary
from lib.report.page import Page, menu_of, render
from lib.report.pages import HOW_TO_READ, _accuracy_cards, build_report
from lib.report.read import read_wall_times
from lib.report.tables import interval, number
from schemas.summary import HeadlineFigure
from tests.lib.report.report_examples import evaluation, report_data


class Collector(HTMLParser):
    """Ids, links of the menu, and whatever is fetched from elsewhere."""

    def __init__(self):
        super().__init__()
        self.ids, self.targets, self.outside, self.plots = set(), set(), [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.add(values.get("id"))
        if values.get("class") == "plot":
            self.plots.append(values["data-figure"])
        addresses = [value for name, value in attributes if name in ("src", "href")]
        self.targets |= {address[1:] for address in addresses if address.startswith("#")}
        self.outside += [address for address in addresses if not address.startswith(("#", "data:,"))]


def figures_of(page: str) -> dict:
    """The charts' figures by id."""
    packed = re.search(r'<script type="text/plain" id="figures">(.*?)</script>', page)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.fixture(scope="module")
def page():
    return build_report(report_data())[0]


def test_the_page_stands_alone_and_its_links_lead_somewhere(page):
    collector = Collector()
    collector.feed(page)
    assert collector.outside == []
    assert {
        "overview",
        "paper",
        "claims",
        "accuracy-accuracy",
        "search-net",
        "hardware-tpu-v3",
        "study",
    } <= collector.targets
    assert collector.targets <= collector.ids
    assert set(collector.plots) == set(figures_of(page))


def test_many_pages_of_a_kind_become_one_menu():
    searches = [Page(f"search-{n}", f"Search: {n}", "Searches") for n in range(4)]
    others = [Page("overview", "Overview"), Page("accuracy-a", "Accuracy: a", "Accuracy"), Page("study", "Study")]
    menu = menu_of([*others[:2], *searches, others[2]])
    assert [[page.id for page in together] for together in menu] == [
        ["overview"], ["accuracy-a"], ["search-0", "search-1", "search-2", "search-3"], ["study"],
    ]  # fmt: skip
    for page in (*others, *searches):
        page.text("words")
    html = render("title", "subtitle", [*others, *searches])
    collector = Collector()
    collector.feed(html)
    assert {page.id for page in (*others, *searches)} <= collector.targets
    assert html.count("<summary>") == 1
    assert "<summary>Searches (4)</summary>" in html


def test_names_from_programs_cannot_break_the_page(page):
    assert "<dot & add>" not in page
    assert "&lt;dot &amp; add&gt;" in page


def test_a_card_tells_of_baselines_where_there_are_some():
    def figure(model: str, value: float):
        name = f"evaluation.mine.tile.tpu-v3.ape_pct.{model}"
        return HeadlineFigure(name=name, value=value, unit="%", origin="simulated", goal="<= 1 %", met=True)

    learned, analytical = figure("learned", 0.4), figure("analytical", 1.5)
    (alone,) = _accuracy_cards("mine", {learned.name: learned})
    assert alone.detail == ""
    (beside,) = _accuracy_cards("mine", {learned.name: learned, analytical.name: analytical})
    assert beside.detail == "analytical 1.5."


def test_claims_stand_beside_ours():
    data = report_data()
    rows = {row[0]: row for row in claims_table(data, summary(data)).rows}
    assert rows["learned model: fusion accuracy against ground truth"][1:3] == ["95.5", "94.5"]
    assert rows["learned model: better than the analytical model on fusion"][1:3] == ["26.6", "25.5"]
    assert rows["learned model: tile-size mean error on TPU v3"][1:3] == ["3.8", "0.8"]
    assert rows["FAST: average single-workload Perf/TDP"][2] == "3"
    scheduling = rows["FAST, first version: TPU-v3 with better scheduling"]
    assert scheduling[2] == "1.7"
    assert rows["FAST: one design over five workloads"][2] == "-"


def test_a_study_without_searches_or_evaluations_has_a_report_too():
    text, _ = build_report(report_data(evaluations={}, searches={}))
    assert '<section id="study"' in text
    assert '<section id="search' not in text


def test_recorded_runtimes_are_called_so_and_stand_beside_no_goal_or_claim():
    recorded = evaluation()
    recorded.manifest = recorded.manifest.model_copy(update={"origin": "recorded"})
    data = report_data(evaluations={"accuracy": recorded}, searches={})
    page, figures = build_report(data)
    assert "runtimes: recorded" in page
    assert HOW_TO_READ["recorded"] in page
    assert HOW_TO_READ["simulated"].split(":")[0] not in page
    assert '<section id="paper"' not in page
    assert {figure.origin for figure in figures.figures if figure.name.startswith("evaluation.")} == {"recorded"}
    assert not [figure.name for figure in figures.figures if figure.goal]


def test_a_family_on_both_sides_of_the_split_is_said():
    assert report_data().held_out("accuracy") == "programs whose families were never trained on"
    shared = report_data(evaluations={"accuracy": evaluation(shared_family=True)})
    assert shared.held_out("accuracy") == "programs never trained on, but other programs of f were"


def test_numbers_for_people():
    assert [number(v) for v in (None, np.nan, 0.0, 0.12345, 1234567.0)] == ["-", "-", "0", "0.123", "1,234,567"]
    assert interval(2.0, np.nan, np.nan) == "2"


def test_wall_times_are_read_by_rule_and_job(tmp_path):
    head = "s\th:m:s\tmax_rss\tcpu_time\n"
    (tmp_path / "search" / "net").mkdir(parents=True)
    (tmp_path / "search" / "net" / "island-1.tsv").write_text(head + "1.5\t0:00:01\t120.5\t3\n")
    (tmp_path / "report.tsv").write_text(head + "0.1\t0:00:00\t-\t-\n")
    (tmp_path / "killed.tsv").write_text("")
    (tmp_path / "half.tsv").write_text(head)
    table = read_wall_times(tmp_path).set_index("rule")
    assert sorted(table.index) == ["report", "search"]
    assert table.loc["search", ["job", "wall_s", "cpu_s", "max_rss_mb"]].tolist() == ["net/island-1", 1.5, 3.0, 120.5]
    assert np.isnan(table.loc["report", "max_rss_mb"])


def test_no_wall_times_at_all(tmp_path):
    assert len(read_wall_times(tmp_path / "nowhere")) == 0
