"""Every study that ships can be planned, and a broken one is told what is wrong."""

from collections import Counter
from pathlib import Path

import pytest

from lib.forecast import planned_jobs as forecast_jobs
from schemas.study_file import load_study
from tests.workflow.run_snakemake import ROOT, planned_jobs, snakemake

STUDIES = [ROOT / "config.yaml", *sorted((ROOT / "workflow" / "studies").glob("*.yaml"))]


@pytest.mark.parametrize("study", STUDIES, ids=lambda file: file.stem)
def test_dry_run_plans_every_entry_once(study, tmp_path):
    jobs = planned_jobs(tmp_path, study)
    loaded = load_study(study)
    assert len(set(jobs)) == len(jobs)
    assert len(jobs) == len(list(forecast_jobs(loaded)))
    counts = Counter(job.split()[0] for job in jobs)
    shards = Counter()
    for name, dataset in loaded.datasets.items():
        entries = len(loaded.shard_hardware(loaded.hardware_ids(name)))
        word = "Measuring" if loaded.origin(name) == "measured" else "Labelling"
        shards[word] += len(dataset.tasks) * entries * len(loaded.workload_ids(name))
    trained = loaded.trained_models().values()
    expected = {
        "Tracing": len(loaded.programs(loaded.workloads)),
        **shards,
        "Setting": sum(
            len([variant for variant in loaded.hardware_ids(name) if variant in loaded.hardware])
            for name in loaded.datasets
            if loaded.origin(name) == "simulated"
        ),
        "Training": sum(len(model.seeds) for model in trained if model.kind == "network"),
        "Growing": sum(len(model.seeds) for model in trained if model.kind == "boosted-trees"),
        "Scoring": len(loaded.evaluations),
        "Autotuning": sum(len(loaded.autotuned_workloads(name)) for name in loaded.autotune),
        "Searching": sum(search.islands for search in loaded.searches.values()),
        "Merging": len(loaded.searches),
        "Comparing": len(loaded.fidelity),
        "Writing": 1,
    }
    assert counts == {word: count for word, count in expected.items() if count}


BROKEN = """\
workloads:
  network: {keras: MobileNetV7}
  other: {builder: "workflow.studies.builders:small_mlp", bath: 3}
hardware:
  tpu: {base: tpu-v33}
datasets:
  small: {workloads: [netwrk], hardware: [tpu], tasks: [tile]}
seed: 1
seed: 2
"""


def test_a_broken_study_gets_all_problems_at_once(tmp_path):
    study = tmp_path / "broken.yaml"
    study.write_text(BROKEN)
    done = snakemake(tmp_path, study, "--dry-run")
    text = done.stdout + done.stderr
    assert done.returncode == 1
    for words in (
        "broken.yaml:2: workloads.network.keras", "MobileNetV7", "MobileNetV3",
        "broken.yaml:3: workloads.other.bath", "batch",
        "broken.yaml:5: hardware.tpu.base", "tpu-v33", "tpu-v3",
        "broken.yaml:7: datasets.small.workloads", "netwrk", "network",
        "broken.yaml:9: seed",
    ):  # fmt: skip
        assert words in text, f"{words!r} is not in:\n{text}"
    assert "Traceback" not in text
    assert "pydantic" not in text


def test_several_study_files_are_refused(tmp_path):
    done = snakemake(tmp_path, None, "--dry-run", "--configfile", str(STUDIES[0]), str(STUDIES[1]))
    assert done.returncode == 1
    assert "A study is one file" in done.stdout + done.stderr


def test_only_top_level_scalars_may_be_overridden(tmp_path):
    done = snakemake(tmp_path, STUDIES[0], "--dry-run", "--config", "workloads=x")
    assert done.returncode == 1
    assert "workloads" in done.stdout + done.stderr
    assert "seed" in done.stdout + done.stderr


def test_results_may_be_overridden(tmp_path):
    done = snakemake(tmp_path, STUDIES[0], "--dry-run", "--config", "results=elsewhere")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "elsewhere/report/index.html" in done.stdout + done.stderr


def test_the_default_study_is_the_one_beside_the_snakefile(tmp_path):
    done = snakemake(tmp_path, None, "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert Path(tmp_path, "results").exists() is False


def test_batches_share_one_traced_program(tmp_path):
    study = tmp_path / "batches.yaml"
    study.write_text(
        'workloads:\n  mlp: {builder: "workflow.studies.builders:small_mlp", batches: [1, 16, 64]}\n'
        "hardware: {tpu: {base: tpu-v3}}\n"
        "datasets: {d: {split: {train: [mlp-b1], validation: [mlp-b16], test: [mlp-b64]}, tasks: [tile]}}\n"
    )
    jobs = planned_jobs(tmp_path, study)
    assert [job for job in jobs if job.startswith("Tracing")] == ["Tracing mlp"]
    assert sorted(job.split()[4] for job in jobs if job.startswith("Labelling")) == ["mlp-b1", "mlp-b16", "mlp-b64"]
