"""The report as one self-contained HTML file."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from lib.report.tables import Table

TEMPLATE = "page.html.jinja"
MOST_TABS_A_GROUP = 3
"""Of pages of one kind; more become one menu."""
NUMBER = re.compile(r"-?|[-+]?[\d,.]+(e[-+]?\d+)?( [kMG]i?B(/s)?| [MG]Hz)?( \[.*\])?")


@dataclass(frozen=True)
class Card:
    """One big number."""

    label: str
    value: str
    detail: str
    goal: str | None = None
    met: bool | None = None


@dataclass
class Page:
    """One tab or entry of a menu: an ordered list of parts."""

    id: str
    title: str
    """Of a page of a group `kind: name`."""
    group: str = ""
    """What all pages of a kind are called together, e.g. Searches; empty for a page of its own."""
    parts: list[dict] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """A heading within the page."""
        self.parts.append({"kind": "heading", "text": text})

    def text(self, text: str) -> None:
        """A paragraph."""
        self.parts.append({"kind": "text", "text": text})

    def code(self, text: str) -> None:
        """Preformatted text."""
        self.parts.append({"kind": "code", "text": text})

    def cards(self, cards: list[Card]) -> None:
        """A row of big numbers."""
        self.parts.append({"kind": "cards", "cards": cards})

    def table(self, table: Table) -> None:
        """A table."""
        self.parts.append({"kind": "table", "table": table})

    def chart(self, figure: go.Figure, note: str = "") -> None:
        """A chart; `note` says where the numbers come from."""
        title = figure.layout.title.text
        self.parts.append({"kind": "chart", "figure": figure, "title": title, "note": note})


def menu_of(pages: list[Page]) -> list[list[Page]]:
    """The tabs in order: one page each, or all pages of a group that would take too many tabs."""
    groups: dict[str, list[Page]] = {}
    for page in pages:
        groups.setdefault(page.group or page.id, []).append(page)
    menu: list[list[Page]] = []
    for together in groups.values():
        menu.extend([together] if len(together) > MOST_TABS_A_GROUP else [[page] for page in together])
    return menu


def is_number(cell: str) -> bool:
    """Whether a table's cell holds a number, possibly with a unit or an interval."""
    return bool(NUMBER.fullmatch(cell))


def render(title: str, subtitle: str, pages: list[Page]) -> str:
    """The whole file. Charts are drawn when their page is first shown."""
    figures: dict[str, dict] = {}
    for page in pages:
        for part in page.parts:
            if part["kind"] == "chart":
                part["id"] = f"figure-{len(figures)}"
                figures[part["id"]] = json.loads(part["figure"].to_json())
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    environment.filters["is_number"] = is_number
    environment.filters["has_numbers"] = lambda table, column: all(is_number(row[column]) for row in table.rows)
    return environment.get_template(TEMPLATE).render(
        title=title,
        subtitle=subtitle,
        pages=pages,
        menu=menu_of(pages),
        plotly=Markup(get_plotlyjs()),
        figures=Markup(json.dumps(figures, sort_keys=True).replace("</", "<\\/")),
    )
