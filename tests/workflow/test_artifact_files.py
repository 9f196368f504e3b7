"""The comparison of two runs tells what differs, and times do not count."""

import gzip
import json
from base64 import b64encode
from pathlib import Path

import pytest

from tests.workflow.artifact_files import different_files

FILES = {
    "program/a/manifest.json": "1",
    "report/index.html": '<section id="accuracy" x>1</section><section id="run" x>2 s</section>'
    '<script type="text/plain" id="figures">CHARTS</script>',
    "report/summary.json": {"figures": [{"name": "tau", "value": 1}, {"name": "run.all.wall_s", "value": 2}]},
    "log/program/a.log": "12:00",
}
CHARTS = {"accuracy-1": [1], "run-1": [2]}


def results(folder: Path, files: dict, charts: dict) -> Path:
    """Results with these files."""
    packed = b64encode(gzip.compress(json.dumps(charts).encode(), mtime=0)).decode()
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("CHARTS", packed))
    return folder


@pytest.mark.parametrize(
    ("changed", "charts", "different"),
    [
        ({"log/program/a.log": "13:00"}, {}, []),
        ({"program/a/manifest.json": "2"}, {}, ["program/a/manifest.json"]),
        ({"program/b/manifest.json": "1"}, {}, ["program/b/manifest.json"]),
        ({"report/index.html": FILES["report/index.html"].replace("2 s", "3 s")}, {"run-1": [3]}, []),
        ({"report/index.html": FILES["report/index.html"].replace(">1<", ">3<")}, {}, ["report/index.html"]),
        ({}, {"accuracy-1": [3]}, ["report/index.html"]),
        ({"report/summary.json": {"figures": [{"name": "tau", "value": 1}]}}, {}, []),
        ({"report/summary.json": {"figures": [{"name": "tau", "value": 2}]}}, {}, ["report/index.html"]),
    ],
)
def test_what_differs(tmp_path, changed, charts, different):
    one = results(tmp_path / "one", FILES, CHARTS)
    other = results(tmp_path / "other", FILES | changed, CHARTS | charts)
    assert different_files(one, other) == different


def test_without_reports_artifacts_count_alone(tmp_path):
    files = {"program/a/manifest.json": "1"}
    one, other = (results(tmp_path / name, files, {}) for name in ("one", "other"))
    assert different_files(one, other) == []
    with_report = results(tmp_path / "third", FILES, CHARTS)
    assert different_files(one, with_report) == ["report/index.html"]
