"""What two runs of one study must have in common: every byte of every artifact, and the report but for its times."""

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path

APART = ("report", "log", "benchmark", ".journal")
"""What a run says of times and places."""
REPORT = "report/index.html"


def artifact_files(results: Path) -> dict[str, bytes]:
    """All files of all artifacts, by their path in the results."""
    files = (file for file in results.rglob("*") if file.is_file() and file.relative_to(results).parts[0] not in APART)
    return {file.relative_to(results).as_posix(): file.read_bytes() for file in files}


def report_without_times(results: Path) -> tuple[str, dict, dict]:
    """The report's file without its page *Run*, its charts but for that page's, and its figures that are no times."""
    text = (results / REPORT).read_text()
    charts = re.search(r'<script type="text/plain" id="figures">(.*?)</script>', text, re.DOTALL)
    assert charts
    drawn = json.loads(gzip.decompress(b64decode(charts[1])))
    page = re.sub(r'<section id="run" .*?</section>', "", text.replace(charts[1], ""), count=1, flags=re.DOTALL)
    summary = json.loads((results / "report" / "summary.json").read_text())["figures"]
    figures = {figure["name"]: figure for figure in summary if not re.search(r"^run\.|_per_s$", figure["name"])}
    return page, {id: chart for id, chart in drawn.items() if not id.startswith("run-")}, figures


def different_files(one: Path, other: Path) -> list[str]:
    """Files that only one of two results has, or that differ; the report's where it differs in more than times."""
    first, second = artifact_files(one), artifact_files(other)
    assert first, f"{one} holds no artifact"
    different = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    reports = [report_without_times(results) if (results / REPORT).exists() else None for results in (one, other)]
    return different if reports[0] == reports[1] else [*different, REPORT]
