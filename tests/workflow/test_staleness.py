"""Which jobs an edit runs again."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.workflow.many_runs import ManyRuns
from tests.workflow.run_snakemake import ROOT
from tests.workflow.staleness_edits import (
    CODE_EDITS,
    EXAMPLE,
    MEASURED_CODE_EDITS,
    MEASURED_STUDY_EDITS,
    REPORT,
    STUDY_EDITS,
    Edit,
)

PAGE = ROOT / "docs" / "staleness.md"


@pytest.fixture(scope="module")
def runs():
    with ManyRuns() as runs:
        yield runs


@pytest.fixture(scope="module")
def finished(tmp_path_factory, runs) -> Path:
    """A folder with the example beside its results, every job done."""
    folder = tmp_path_factory.mktemp("a study") / "folder"
    shutil.copytree(EXAMPLE, folder)
    for study_file in ("study.yaml", "measured.yaml"):
        runs.fabricate(folder, folder / study_file)
    return folder


def change(folder: Path, changes: list[tuple[str, str, str]]) -> None:
    for name, old, new in changes:
        text = (folder / name).read_text()
        assert old in text, f"{old!r} is not in {name}"
        (folder / name).write_text(text.replace(old, new, 1) if old else text + new)


@contextmanager
def edited(folder: Path, changes: list[tuple[str, str, str]]) -> Iterator[None]:
    """The folder with the changes meanwhile."""
    before = {name: (folder / name).read_text() for name, *_ in changes}
    try:
        change(folder, changes)
        yield
    finally:
        for name, text in before.items():
            (folder / name).write_text(text)


def assert_exactly(jobs: dict[str, bool], patterns: list[str]) -> None:
    """Those jobs run, and no others, that match a pattern; every pattern is of some job."""
    expected = {job for job in jobs if any(fnmatch(job, pattern) for pattern in patterns)}
    assert {job for job, runs in jobs.items() if runs} == expected
    assert [pattern for pattern in patterns if not any(fnmatch(job, pattern) for job in jobs)] == []


def test_nothing_runs_without_an_edit(runs, finished):
    jobs = runs.jobs(finished, finished / "study.yaml")
    assert_exactly(jobs, [])
    assert {job.split("/")[0] for job in jobs} == {
        "program", "dataset", "difference", "model", "evaluation", "autotune", "search", "search_summary", "fidelity",
        "report",
    }  # fmt: skip


@pytest.mark.parametrize("edit", STUDY_EDITS, ids=lambda edit: edit.what)
def test_an_edit_of_the_study(runs, finished, edit):
    with edited(finished, edit.changes):
        assert_exactly(runs.jobs(finished, finished / "study.yaml"), edit.runs)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of what Snakemake reads of this repository."""
    folder = tmp_path_factory.mktemp("check out")
    for part in ("lib", "schemas", "workflow", "rules", "profiles"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    return folder


@pytest.mark.parametrize("edit", CODE_EDITS, ids=lambda edit: edit.what)
def test_an_edit_of_code(checkout, finished, edit):
    own = [change for change in edit.changes if (finished / change[0]).exists()]
    others = [change for change in edit.changes if change not in own]
    with edited(checkout, others), edited(finished, own), ManyRuns(checkout) as runs:
        assert_exactly(runs.jobs(finished, finished / "study.yaml"), edit.runs)


@pytest.mark.parametrize("edit", MEASURED_STUDY_EDITS, ids=lambda edit: edit.what)
def test_an_edit_of_a_study_that_measures(runs, finished, edit):
    with edited(finished, edit.changes):
        assert_exactly(runs.jobs(finished, finished / "measured.yaml"), edit.runs)


@pytest.mark.parametrize("edit", MEASURED_CODE_EDITS, ids=lambda edit: edit.what)
def test_an_edit_of_code_that_measures(checkout, finished, edit):
    """Only jobs that measure, and what needs them: the study without a device keeps its results."""
    with edited(checkout, edit.changes), ManyRuns(checkout) as runs:
        assert_exactly(runs.jobs(finished, finished / "measured.yaml"), edit.runs)
        assert_exactly(runs.jobs(finished, finished / "study.yaml"), [])


def test_a_new_date_of_every_file_runs_nothing(runs, finished, checkout):
    for file in [*checkout.rglob("*.*"), *(finished / path.name for path in EXAMPLE.iterdir())]:
        os.utime(file)
    assert_exactly(runs.jobs(finished, finished / "study.yaml"), [])


def test_a_copy_runs_nothing(runs, finished, tmp_path):
    """Dates of a copy are new and in no order; checksums of inputs are in Snakemake's records."""
    shutil.copytree(finished, tmp_path / "copy", copy_function=shutil.copy)
    assert_exactly(runs.jobs(tmp_path / "copy", tmp_path / "copy" / "study.yaml"), [])


WITHOUT_RECORDS = ["a comment or an empty line", "a hyperparameter of the model `ranker`",
                   "a field of the hardware `edge`", "a limit of the search `plain`"]  # fmt: skip


@pytest.fixture(scope="module")
def without_records(finished, tmp_path_factory) -> Path:
    """Results whose `.snakemake` is gone; what artifacts were made from stands in their manifests alone."""
    folder = tmp_path_factory.mktemp("without records") / "copy"
    shutil.copytree(finished, folder, ignore=shutil.ignore_patterns(".snakemake"))
    os.utime(
        folder / "module.hlo", (0, 0)
    )  # where it is newer than the results, records alone tell that it is the same
    return folder


@pytest.mark.parametrize("what", WITHOUT_RECORDS)
def test_an_edit_where_snakemakes_records_are_lost(runs, without_records, what):
    """The report has no manifest, and is always made anew then."""
    (edit,) = [edit for edit in STUDY_EDITS if edit.what == what]
    with edited(without_records, edit.changes):
        assert_exactly(runs.jobs(without_records, without_records / "study.yaml"), [*{*edit.runs, REPORT}])
        shutil.rmtree(without_records / ".snakemake")


AFTER_RANKER = ["model/ranker/*", "evaluation/tiles", "autotune/tuned/*", REPORT]


@pytest.mark.parametrize(
    "content", ['{"spec": {}, "code": "0123456789abcdef"}', "{", "[" * 100_000, "[1]"], ids=lambda text: text[:8]
)
def test_a_job_that_ended_after_its_run_was_killed(runs, finished, tmp_path, content):
    """Its artifact is there and newer than Snakemake's record, whatever made it."""
    shutil.copytree(finished, tmp_path / "copy")
    manifest = tmp_path / "copy" / "results" / "staleness" / "model" / "ranker" / "seed-1" / "manifest.json"
    before = manifest.read_text()
    manifest.write_text(content)
    assert_exactly(runs.jobs(tmp_path / "copy", tmp_path / "copy" / "study.yaml"), AFTER_RANKER)
    manifest.write_text(before)
    after = runs.jobs(tmp_path / "copy", tmp_path / "copy" / "study.yaml")
    assert not after["model/ranker/seed-1"]


def test_touch_accepts_results_as_they_are(runs, finished, tmp_path):
    """Snakemake's own way to keep results after an edit that changes no number."""
    shutil.copytree(finished, tmp_path / "copy")
    study_file = tmp_path / "copy" / "study.yaml"
    study_file.write_text(study_file.read_text().replace("steps: 100", "steps: 200"))
    assert_exactly(runs.jobs(tmp_path / "copy", study_file), AFTER_RANKER)
    runs.run(tmp_path / "copy", study_file, "--touch")
    assert_exactly(runs.jobs(tmp_path / "copy", study_file), [])


def table(edits: list[Edit]) -> str:
    """Edits with what they run, as the page shows them."""
    rows = [(edit.what, ", ".join(f"`{job}`" for job in edit.runs) or "nothing") for edit in edits]
    return "\n".join(f"| {what} | {runs} |" for what, runs in [("edit", "jobs that run again"), ("---", "---"), *rows])


@pytest.mark.parametrize(
    "edits", [STUDY_EDITS + CODE_EDITS, MEASURED_STUDY_EDITS + MEASURED_CODE_EDITS], ids=["simulated", "measured"]
)
def test_the_page_shows_the_table(edits):
    assert table(edits) in PAGE.read_text(), f"{PAGE} should have this table:\n{table(edits)}"
