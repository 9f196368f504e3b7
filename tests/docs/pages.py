"""The pages of the documentation: their code blocks, headings and links, as tests need them."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", *ROOT.glob("CONTRIBUTING.md"), *(ROOT / "docs").rglob("*.md")],
    key=lambda page: page.relative_to(ROOT).as_posix(),
)
FENCE = re.compile(r"(?P<indent> *)```(?P<language>\w*)(?P<rest>.*)$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block of code."""

    page: Path
    line: int
    """Of its first line."""
    language: str
    title: str
    """A file that it belongs into: `title="file"` behind the language; empty where none is named."""
    text: str

    @property
    def name(self) -> str:
        """`docs/page.md:LINE`, as pytest shows it."""
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


def blocks_of(page: Path) -> Iterator[Block]:
    """The fenced blocks in their order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    opened: tuple[int, re.Match] | None = None
    for number, line in enumerate(lines, start=1):
        fence = FENCE.match(line)
        if fence is None:
            continue
        if opened is None:
            opened = number, fence
        else:
            first, start = opened
            title = re.search(r'title="([^"]*)"', start["rest"])
            text = textwrap.dedent("\n".join(lines[first : number - 1])) + "\n"
            yield Block(page, first + 1, start["language"], title[1] if title else "", text)
            opened = None
    assert opened is None, f"{page}: a block of code doesn't end"


def blocks(*languages: str) -> list[Block]:
    """All blocks of the languages, page by page."""
    return [block for page in PAGES for block in blocks_of(page) if block.language in languages]


def prose_of(page: Path) -> str:
    """The page without its fenced blocks and code in a line."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            lines.append(line)
    return re.sub(r"`[^`\n]*`", "", "\n".join(lines))


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as Python-Markdown and GitHub make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower())
            for heading in headings}  # fmt: skip


def links_of(page: Path) -> list[str]:
    """What the page links to."""
    return LINK.findall(prose_of(page))


def merged(old: Any, new: Any) -> Any:
    """The entries of `new` put into `old`; all that is no mapping is replaced."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merged(old.get(key), value) for key, value in new.items()}
    return new
