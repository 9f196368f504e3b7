"""`python -m lib.forecast`: jobs as the workflow plans them, minutes measured, derived or stated, and said which."""

from pathlib import Path

import pytest

from lib.forecast import forecast, in_words, main, planned_jobs
from schemas.study import Study
from schemas.study_file import load_study
from tests.schemas.study_examples import SOUND, study_of

ROOT = Path(__file__).parents[2]
HEADER = "s\th:m:s\tmax_rss\tcpu_time\n"


def benchmark(folder: Path, name: str, seconds: float) -> None:
    file = folder / f"{name}.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{HEADER}1.0\t0:00:01\t-\t-\n{seconds}\t0:00:01\t100.5\t1.0\n")


def study(folder: Path) -> Study:
    return study_of(folder, SOUND.replace("timer: {task: fusion,", "timer: {task: fusion, seeds: [1, 2], steps: 600,"))


def test_jobs_by_rule(tmp_path: Path):
    counts = {rule.rule: rule.jobs for rule in forecast(study(tmp_path), tmp_path / "nothing")}
    # 3 programs; 2 tasks x 3 programs x 2 variants; 2 variants; 1 seed + 2 seeds; one of each of the others
    assert counts == {
        "program": 3, "dataset": 12, "difference": 2, "model": 3, "evaluation": 1, "search": 1, "search_summary": 1,
        "report": 1,
    }  # fmt: skip


def test_what_was_measured_counts_and_the_rest_of_the_rule_follows_it(tmp_path: Path):
    benchmark(tmp_path / "benchmark", "model/timer/seed-1", 30.0)  # 600 steps: 0.05 s a step
    rules = {rule.rule: rule for rule in forecast(study(tmp_path), tmp_path / "benchmark")}
    assert rules["model"].seconds == pytest.approx(0.05 * (600 + 600 + 3000))
    assert rules["model"].source == "1 measured, 2 by the mean of those"
    assert "stated" in rules["program"].source


def test_the_last_run_of_a_job_counts(tmp_path: Path):
    for program in ("mobilenet-v2", "resnet", "vgg"):
        benchmark(tmp_path / "benchmark", f"program/{program}", 7.0)
    benchmark(tmp_path / "benchmark", "report", 4.0)
    rules = {rule.rule: rule for rule in forecast(study(tmp_path), tmp_path / "benchmark")}
    assert (rules["program"].seconds, rules["program"].source) == (21.0, "3 measured")
    assert (rules["report"].seconds, rules["report"].source) == (4.0, "1 measured")


@pytest.mark.parametrize("text", ["", "no table", HEADER, HEADER + "-\t-\t-\t-\n"])
def test_a_damaged_benchmark_file_is_none(tmp_path: Path, text: str):
    (tmp_path / "benchmark").mkdir()
    (tmp_path / "benchmark" / "report.tsv").write_text(text)
    rules = {rule.rule: rule for rule in forecast(study(tmp_path), tmp_path / "benchmark")}
    assert "stated" in rules["report"].source


def test_what_nothing_is_known_of_is_said_and_not_guessed(tmp_path: Path):
    found = study_of(
        tmp_path,
        SOUND.replace("resnet:", "resnet50v2:") + "fidelity: {fast: {sources: [fast], workloads: [resnet50v2]}}\n",
    )
    rules = forecast(found, tmp_path / "nothing")
    (compared,) = [rule for rule in rules if rule.rule == "fidelity"]
    assert compared.seconds is None
    words = in_words(found, rules, 2)
    assert "not known before one has run" in words
    assert "and what is not known (fidelity)" in words


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "study.yaml").write_text(SOUND)
    assert main([str(tmp_path / "study.yaml"), "--cores", "4"]) == 0
    printed = capsys.readouterr().out
    assert "4 cores, were they all busy all the time" in printed
    assert "default, tile: 3 programs x 2 variants x their kernels x at most 64 rows a kernel" in printed
    assert main([str(tmp_path / "nowhere.yaml")]) == 1
    assert "there is no such study file" in capsys.readouterr().err


@pytest.mark.parametrize("file", sorted((ROOT / "workflow" / "studies").glob("*.yaml")), ids=lambda file: file.stem)
def test_every_ready_study_has_one(file: Path):
    found = load_study(file)
    jobs = list(planned_jobs(found))
    assert len({(job.rule, job.name) for job in jobs}) == len(jobs)
    assert in_words(found, forecast(found, Path("nothing")), 2)
