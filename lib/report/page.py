"""The report as one self-contained HTML file."""

import base64
import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from lib.report.chart_data import plain_figure
from lib.report.chart_description import described
from lib.report.tables import Table, numeric_columns, raw

TEMPLATE, STYLE, SCRIPT = "page.html.jinja", "page.css", "page.js"
MOST_LINKS_A_GROUP = 3
"""Pages of one kind; more are folded into one entry of the menu."""
MANY_HEADINGS = 4
"""A page with so many begins with a list of them."""
ORIGINS = ("simulated", "measured", "recorded", "published", "modelled")
"""Where a chart's numbers may come from; several are joined by commas."""


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
    """One entry of the menu: an ordered list of parts."""

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

    def links(self, text: str, targets: dict[str, str]) -> None:
        """A paragraph and links below it: id of a page to what the link says."""
        self.parts.append({"kind": "links", "text": text, "targets": targets})

    def chart(self, figure: go.Figure, origin: str, note: str = "") -> None:
        """A chart. `origin`: of its numbers, one or more of ORIGINS; `note` says what a reader must know."""
        title = figure.layout.title.text
        self.parts.append({"kind": "chart", "figure": figure, "title": title, "origin": origin, "note": note})

    @property
    def headings(self) -> list[dict]:
        """The parts that are headings."""
        return [part for part in self.parts if part["kind"] == "heading"]


def menu_of(pages: list[Page]) -> list[list[Page]]:
    """The entries in order: one page each, or all pages of a group that would take too many entries."""
    groups: dict[str, list[Page]] = {}
    for page in pages:
        groups.setdefault(page.group or page.id, []).append(page)
    menu: list[list[Page]] = []
    for together in groups.values():
        menu.extend([together] if len(together) > MOST_LINKS_A_GROUP else [[page] for page in together])
    return menu


def render(title: str, subtitle: str, pages: list[Page]) -> str:
    """The whole file. Charts and what draws them are packed, and unpacked by the page's script; the rest is HTML."""
    figures: dict[str, dict[str, Any]] = {}
    for page in pages:
        for place, part in enumerate(page.parts):
            part["id"] = f"{page.id}-{place}"
            if part["kind"] == "chart":
                figures[part["id"]] = plain_figure(part["figure"])
                part |= {"words": described(figures[part["id"]]), "height": part["figure"].layout.height}
    folder = Path(__file__).parent
    environment = Environment(loader=FileSystemLoader(folder), autoescape=True)
    environment.filters |= {"raw": raw, "numeric_columns": numeric_columns}
    return environment.get_template(TEMPLATE).render(
        title=title,
        subtitle=subtitle,
        pages=pages,
        menu=menu_of(pages),
        many_headings=MANY_HEADINGS,
        style=Markup((folder / STYLE).read_text()),
        script=Markup((folder / SCRIPT).read_text()),
        figures=packed(json.dumps(figures, sort_keys=True, separators=(",", ":"))),
        plotly=packed(get_plotlyjs()),
    )


def packed(text: str) -> str:
    """Compressed, as text; the same for the same `text`."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
