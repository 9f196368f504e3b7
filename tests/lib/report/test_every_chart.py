"""Every chart of a report with all kinds of pages: title, axes with units, origin, words, data."""

import re

import pytest

from lib.report.chart_data import plain_figure
from lib.report.chart_description import axis_titles, described
from lib.report.page import ORIGINS
from tests.lib.report.whole_report import whole_pages, whole_report

CHARTS = [pytest.param(part, id=f"{page.id}: {part['title']}") for page in whole_pages() for part in page.parts
          if part["kind"] == "chart"]  # fmt: skip
WITHOUT_UNIT = {
    "test program", "program", "workload", "rule", "kernel", "kernel class", "source", "training step", "trials",
    "loss", "return on investment", "full evaluations", "training programs", "training rows",
}  # fmt: skip
"""What an axis may show that has no unit: names and counts."""
RATIO = re.compile(
    r"tau|times the baseline's|speedup|over|ratio|ours / theirs|runtime / |simulator / |in the same unit"
)


def test_there_are_all_kinds_of_charts():
    assert len(CHARTS) >= 40


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_says_what_it_shows(chart):
    assert chart["title"]
    assert set(chart["origin"].split(", ")) <= set(ORIGINS)
    titles = axis_titles(plain_figure(chart["figure"]))
    assert {"x", "y"} <= set(titles)
    for title in titles.values():
        assert title in WITHOUT_UNIT or re.search(r", \S", title) or RATIO.search(title) or title.endswith("replaces")


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_told_in_words(chart):
    words = described(plain_figure(chart["figure"]))
    assert re.match(r"(Bar|Line|Scatter|Box) chart\. x: .+; y: .+\. .+: .*\d.*\.", words)


def test_each_has_its_words_its_data_and_a_file_beside_it():
    boxes = re.findall(r'<figure class="chart".*?</figure>', whole_report(), re.DOTALL)
    assert len(boxes) == len(CHARTS)
    for box in boxes:
        plot = re.search(r'<div class="plot" role="img" aria-label="[^"]+" aria-describedby="([^"]+)"', box)
        assert re.search(f'id="{plot[1]}">[^<]{{20,}}<', box)
        assert '<details class="data"><summary>Data' in box
        assert '<button type="button" class="csv">' in box
        assert re.search(r'class="note">Origin: \w+', box)
