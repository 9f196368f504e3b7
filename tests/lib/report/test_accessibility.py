"""The report's HTML by the rules of WCAG 2.1 that a program can check, on a report with all kinds of pages."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from lib.report import page as page_module
from lib.report.charts import COLOURS, PALETTE
from lib.report.search_charts import OPTIMISER_COLOURS, STATE_COLOURS
from tests.lib.report.whole_report import whole_pages, whole_report

VOID = {"meta", "link", "br", "hr", "img", "input"}
STYLE = (Path(page_module.__file__).parent / page_module.STYLE).read_text()
LEAST_TEXT, LEAST_GRAPHICS = 4.5, 3.0
"""Contrast of text (success criterion 1.4.3, level AA), and of controls and graphics (1.4.11)."""


class Element:
    """A tag with its attributes, its parent and all text below it."""

    def __init__(self, tag: str, attributes: dict, parent: "Element | None"):
        self.tag, self.attributes, self.parent, self.text = tag, attributes, parent, ""

    def inside(self, tag: str) -> bool:
        """Whether a parent of any degree has the tag."""
        return self.parent is not None and (self.parent.tag == tag or self.parent.inside(tag))


class Elements(HTMLParser):
    """All elements in order; a tag that is not closed is an error."""

    def __init__(self, html: str):
        super().__init__()
        self.all: list[Element] = []
        self.open: list[Element] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        element = Element(tag, dict(attributes), self.open[-1] if self.open else None)
        self.all.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        for element in self.open:
            element.text += data

    def named(self, *tags: str) -> list[Element]:
        """Those with one of the tags."""
        return [element for element in self.all if element.tag in tags]


@pytest.fixture(scope="module")
def elements() -> Elements:
    return Elements(whole_report())


def test_the_report_has_all_kinds_of_pages():
    kinds = {page.id.split("-")[0] for page in whole_pages()}
    assert kinds == {
        "overview", "paper", "claims", "accuracy", "measured", "training", "model", "autotune", "fast", "surrogates",
        "search", "hardware", "difference", "fidelity", "run", "study",
    }  # fmt: skip


def test_one_main_heading_and_no_level_is_skipped(elements):
    levels = [int(heading.tag[1]) for heading in elements.named("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(deeper - level <= 1 for level, deeper in pairwise(levels))
    assert all(heading.text.strip() for heading in elements.named("h1", "h2", "h3"))


def test_landmarks_and_a_way_past_the_menu(elements):
    assert len(elements.named("main")) == len(elements.named("header")) == 1
    labels = [nav.attributes.get("aria-label") for nav in elements.named("nav") if not nav.inside("main")]
    assert labels == ["Pages"]
    first = next(element for element in elements.all if element.tag in ("a", "button"))
    assert first.attributes["href"] == "#main"
    assert elements.named("html")[0].attributes["lang"] == "en"


def test_ids_are_unique_and_what_refers_to_one_finds_it(elements):
    ids = [element.attributes["id"] for element in elements.all if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in elements.all:
        for name in ("aria-labelledby", "aria-describedby", "aria-controls"):
            assert element.attributes.get(name, ids[0]) in ids
        if element.attributes.get("href", "").startswith("#"):
            assert element.attributes["href"][1:] in ids


def test_whatever_can_be_used_has_a_name_and_is_reached_by_keyboard(elements):
    for element in elements.named("a", "button", "summary"):
        assert element.text.strip(), element.attributes
        assert "tabindex" not in element.attributes
    assert all(button.attributes["type"] == "button" for button in elements.named("button"))
    names = [button.text for button in elements.named("button") if button.attributes.get("class") == "csv"]
    assert all(re.fullmatch(r"CSV file: .+", name) for name in names)


def test_tables_have_names_scopes_sortable_heads_and_cells_for_each(elements):
    tables = elements.named("table")
    assert len(tables) > 50
    assert all("aria-labelledby" in table.attributes for table in tables)
    heads = [head for head in elements.named("th") if head.parent.parent.tag == "thead"]
    assert all(head.attributes["scope"] == "col" for head in heads)
    buttons = {id(button.parent) for button in elements.named("button")}
    assert all(id(head) in buttons for head in heads)
    assert all(head.attributes["scope"] in ("col", "row") for head in elements.named("th"))
    columns = {id(row.parent.parent): 0 for row in elements.named("tr")}
    cells = dict.fromkeys(map(id, elements.named("tr")), 0)
    for cell in elements.named("th", "td"):
        cells[id(cell.parent)] += 1
    for row in elements.named("tr"):
        columns[id(row.parent.parent)] = columns[id(row.parent.parent)] or cells[id(row)]
        assert cells[id(row)] == columns[id(row.parent.parent)]


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2.1)."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """1 to 21 (WCAG 2.1)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # the textbook grey that just fails


THEMES = dict(zip(("light", "dark"), (dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
              for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)), strict=True))  # fmt: skip


@pytest.mark.parametrize("theme", THEMES)
def test_texts_and_controls_stand_out(theme):
    colours = THEMES[theme]
    for ground in ("paper", "ground", "marked"):
        for text in ("ink", "soft", "accent", "good", "bad"):
            assert contrast(colours[text], colours[ground]) >= LEAST_TEXT, (text, ground)
    assert contrast(colours["edge"], colours["paper"]) >= LEAST_GRAPHICS


@pytest.mark.parametrize("theme", THEMES)
def test_colours_of_charts_stand_out(theme):
    for colour in {*PALETTE, *COLOURS.values(), *STATE_COLOURS.values(), *OPTIMISER_COLOURS.values()}:
        assert contrast(colour, THEMES[theme]["paper"]) >= LEAST_GRAPHICS, colour


def test_the_focus_is_visible():
    assert re.search(r":focus-visible \{ outline: \dpx solid", STYLE)
    hidden = re.findall(r"([^}]*)\{[^}]*outline: none", STYLE)
    assert [selectors.strip() for selectors in hidden] == ["main:focus, h2:focus, h3:focus"]  # focused by script alone
