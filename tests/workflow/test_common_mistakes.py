"""What a person gets who types the commonest mistakes; those within a study are in tests/schemas/test_study_file.py."""

import pytest

from tests.workflow.run_snakemake import ROOT, snakemake

TINY = ROOT / "workflow" / "studies" / "tiny.yaml"


@pytest.mark.parametrize("target", [str(TINY), "modles"], ids=["a study without --configfile", "a misspelt rule"])
def test_what_is_asked_for_is_no_target(tmp_path, target):
    done = snakemake(tmp_path, None, target, "--dry-run")
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert f"No rule to produce {target}" in text
    assert "Traceback" not in text


def test_targets_after_the_study_are_taken_for_studies(tmp_path):
    (tmp_path / "models").write_text("a: 1\n")
    done = snakemake(tmp_path, None, "--dry-run", "--configfile", str(TINY), str(tmp_path / "models"))
    assert done.returncode == 1
    assert "A study is one file; --configfile was given" in done.stdout + done.stderr
