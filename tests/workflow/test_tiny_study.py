"""The tiny study, end to end as a person runs it; then edits, damage and a second run on its results."""

import shutil
from pathlib import Path

import pytest
import yaml

from schemas.evaluation_artifact import EvaluationArtifact
from schemas.search_artifact import SearchArtifact, SearchSummaryArtifact
from schemas.summary import Summary
from tests.workflow.run_snakemake import ROOT, planned_jobs, snakemake

STUDY = ROOT / "workflow" / "studies" / "tiny.yaml"
RESULTS = Path("results") / "tiny"


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A folder in which the tiny study has run."""
    folder = tmp_path_factory.mktemp("tiny study")
    done = snakemake(folder, STUDY)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def edited(folder: Path, edit) -> Path:
    """The tiny study after `edit(study)`, as a file outside of the results."""
    study = yaml.safe_load(STUDY.read_text())
    edit(study)
    file = folder / "edited.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False))
    return file


def test_everything_is_there_and_valid(finished):
    results = finished / RESULTS
    page = (results / "report" / "index.html").read_text()
    assert page.startswith("<!doctype html>")
    summary = Summary.model_validate_json((results / "report" / "summary.json").read_bytes())
    values = {figure.name: figure.value for figure in summary.figures}
    for name in (
        "evaluation.accuracy.tile.tpu-v3.ape_pct.learned",
        "evaluation.accuracy.tile.tpu-v3.ape_pct.analytical",
        "evaluation.accuracy.fusion.tpu-v3.mape_pct.learned",
        "evaluation.accuracy.fusion.tpu-v3.mape_pct.calibrated-analytical",
        "autotune.tiles.tpu-v3.speedup.learned",
        "autotune.tiles.tpu-v3.speedup.exhaustive",
        "search.convolutions.perf_per_tdp_gain",
    ):
        assert values[name] is not None, name
        assert values[name] > 0, name
    assert values["search.convolutions.trials"] == 8
    evaluation = EvaluationArtifact.read(results / "evaluation" / "accuracy")
    assert set(evaluation["programs.parquet"]["workload"]) == {"transformer"}
    search = SearchArtifact.read(results / "search" / "convolutions" / "island-1")
    assert yaml.safe_load(search["best.yaml"])


def test_a_second_run_has_nothing_to_do(finished):
    assert planned_jobs(finished, STUDY) == []


def _hyperparameter(study):
    study["models"]["tile-ranker"]["steps"] = 32


def _another_island(study):
    study["searches"]["convolutions"]["islands"] = 2


def _reordered(study):
    for section, entries in study.items():
        if isinstance(entries, dict):
            study[section] = dict(reversed(entries.items()))


EDITS = {
    _hyperparameter: [
        "Autotuning transformer for tiles", "Scoring accuracy on its test programs", "Training tile-ranker, seed 1",
        "Writing the report",
    ],
    _another_island: [
        "Merging the islands of convolutions", "Searching convolutions, island 2", "Writing the report",
    ],
    _reordered: [],
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__.strip("_"))
def test_an_edit_reruns_exactly_its_dependents(finished, tmp_path, edit):
    """On results that jobs have made; test_staleness.py has the whole table."""
    assert planned_jobs(finished, edited(tmp_path, edit)) == EDITS[edit]


def test_more_trials_and_islands_continue_a_search(finished, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)

    def more(study):
        _another_island(study)
        study["searches"]["convolutions"]["trials"] = 12

    done = snakemake(folder, edited(tmp_path, more), str(RESULTS / "search_summary" / "convolutions" / "manifest.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    log = (folder / RESULTS / "log" / "search" / "convolutions" / "island-1.log").read_text()
    assert "continues from" in log
    before = SearchArtifact.read(finished / RESULTS / "search" / "convolutions" / "island-1")["trials.parquet"]
    after = SearchArtifact.read(folder / RESULTS / "search" / "convolutions" / "island-1")["trials.parquet"]
    assert after.head(8).drop(columns="pareto").equals(before.drop(columns="pareto"))
    merged = SearchSummaryArtifact.read(folder / RESULTS / "search_summary" / "convolutions")
    assert merged["trials.parquet"].groupby("island").size().to_dict() == {1: 12, 2: 12}
    assert merged["progress.parquet"]["islands"].iloc[-1] == 2


def test_a_damaged_artifact_is_refused_with_its_path(finished, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    rows = folder / RESULTS / "dataset" / "default" / "tile" / "tpu-v3" / "convolutions" / "rows.parquet"
    damaged = bytearray(rows.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    rows.write_bytes(bytes(damaged))
    model = RESULTS / "model" / "tile-ranker" / "seed-1" / "manifest.json"
    shutil.rmtree(folder / model.parent)
    done = snakemake(folder, STUDY, str(model))
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert "dataset/default/tile/tpu-v3/convolutions/rows.parquet: sha256" in text
    assert "delete the folder and run snakemake again" in text
    assert not (folder / model).exists()


def test_two_runs_from_scratch_are_byte_identical(finished, tmp_path):
    done = snakemake(tmp_path, STUDY, str(RESULTS / "program" / "perceptron" / "manifest.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    for file in (tmp_path / RESULTS / "program" / "perceptron").iterdir():
        assert file.read_bytes() == (finished / RESULTS / "program" / "perceptron" / file.name).read_bytes()
