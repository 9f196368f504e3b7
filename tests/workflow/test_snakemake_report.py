"""Snakemake's own report of a run (`--report`): one file with captions, which loads nothing from elsewhere."""

import re

from tests.workflow.run_snakemake import snakemake

STUDY = "results: results/captions\nfidelity: {peers: {sources: [scalesim]}}\n"
"""Two jobs of a few seconds: this one's and the report."""
LOADED = re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=["']?(?:https?:)?//""")


def test_it_has_captions_and_loads_nothing(tmp_path):
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    for options in ([], ["--report", "report.html"]):
        done = snakemake(tmp_path, study, *options)
        assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "report.html").read_text()
    assert "Results of one Tilewright study, from a single YAML file" in text
    assert "The report of the whole study, one file" in text
    assert LOADED.findall(text) == []
    assert LOADED.search('<script type="text/javascript" src="https://example.org/a.js">')
