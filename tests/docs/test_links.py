"""Links of the documentation lead somewhere, and every page is in the site's navigation."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import PAGES, ROOT, anchors_of, links_of

SITE_PAGES = [page for page in PAGES if page.is_relative_to(ROOT / "docs")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path):
    broken = []
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", SITE_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_of_the_site_link_to_nothing_outside_of_it(page: Path):
    paths = [link.partition("#")[0] for link in links_of(page) if "://" not in link]
    outside = [path for path in paths if path and not (page.parent / path).resolve().is_relative_to(ROOT / "docs")]
    assert outside == []


def navigated(entry: Any) -> Iterator[str]:
    """The files in the site's navigation."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        for inner in entry.values():
            yield from navigated(inner)
    else:
        for inner in entry:
            yield from navigated(inner)


def test_every_page_is_in_the_navigation_once():
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in SITE_PAGES]
    assert sorted(navigated(site["nav"])) == pages
