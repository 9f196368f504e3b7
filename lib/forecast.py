"""What a study will take: `python -m lib.forecast STUDY [--cores N]` prints jobs, minutes and rows by rule.

A job's minutes are those that it took before, where the study's results have its benchmark file; else the mean of the
rule's jobs there; else a figure stated in `schemas/presets/job_times.yaml`. The table says which.
"""

import argparse
import csv
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from lib.command_line import run_command
from schemas.study import Study
from schemas.study_file import StudyError, load_study

STATED = Path(__file__).parents[1] / "schemas" / "presets" / "job_times.yaml"


class PlannedJob(NamedTuple):
    """One job of a study."""

    rule: str
    name: str
    """As its benchmark file is called: `RESULTS/benchmark/RULE/NAME.tsv`; empty for the one job of a rule."""
    units: float | None
    """What the job's time grows with: training steps, trials, else 1. None where nothing stated holds for it."""


class RuleForecast(NamedTuple):
    """All jobs of a rule."""

    rule: str
    jobs: int
    seconds: float | None
    """Of all of them, one after the other; None where nothing is known."""
    source: str
    """Where the seconds come from, in words."""


def planned_jobs(study: Study) -> Iterator[PlannedJob]:
    """Every job of the study, were nothing there yet."""
    for program in study.programs(study.workloads):
        yield PlannedJob("program", program, 1)
    for name, dataset in study.datasets.items():
        variants = study.hardware_ids(name)
        origin = study.origin(name)
        rule = "measured_dataset" if origin == "measured" else "dataset"
        for task in dataset.tasks:
            for entry in study.shard_hardware(variants):
                for workload in study.workload_ids(name):
                    yield PlannedJob(rule, f"{name}/{task}/{entry}/{workload}", 1)
        if origin == "simulated":
            for variant in variants:
                if variant in study.hardware:
                    yield PlannedJob("difference", f"{name}/{variant}", 1)
    for name, model in study.trained_models().items():
        for seed in model.seeds:
            if model.kind == "network":
                yield PlannedJob("model", f"{name}/seed-{seed}", model.steps)
            else:
                yield PlannedJob("boosted_trees", f"{name}/seed-{seed}", 1)
    for name in study.evaluations:
        yield PlannedJob("evaluation", name, 1)
    for name, autotune in study.autotune.items():
        target = study.hardware[study.variants[autotune.hardware].entry]
        rule = "measured_autotune" if target.is_measured else "autotune"
        for workload in study.autotuned_workloads(name):
            yield PlannedJob(rule, f"{name}/{workload}", 1)
    for name, search in study.searches.items():
        rule = "learned_search" if search.surrogate in study.models else "search"
        for island in range(1, search.islands + 1):
            yield PlannedJob(rule, f"{name}/island-{island}", search.trials)
        yield PlannedJob("search_summary", name, 1)
    for name in study.fidelity:
        yield PlannedJob("fidelity", name, None if study.resolved_fidelity(name)["workloads"] else 1)
    yield PlannedJob("report", "", 1)


def forecast(study: Study, benchmarks: Path) -> list[RuleForecast]:
    """By rule, in the order of the workflow. `benchmarks`: `RESULTS/benchmark`, which need not be there."""
    by_rule: dict[str, list[PlannedJob]] = {}
    for job in planned_jobs(study):
        by_rule.setdefault(job.rule, []).append(job)
    return [_of_rule(rule, jobs, benchmarks) for rule, jobs in by_rule.items()]


def _of_rule(rule: str, jobs: list[PlannedJob], benchmarks: Path) -> RuleForecast:
    measured = {job: s for job in jobs if (s := _measured_s(benchmarks / rule, job)) is not None}
    others = [job for job in jobs if job not in measured]
    sources = [f"{len(measured)} measured"] if measured else []
    seconds: float | None = sum(measured.values())
    if others and measured:
        rate = sum(measured.values()) / sum(job.units or 1 for job in measured)
        seconds = sum(measured.values()) + rate * sum(job.units or 1 for job in others)
        sources.append(f"{len(others)} by the mean of those")
    elif others:
        stated = _stated().get(rule)
        if stated is None or any(job.units is None for job in others):
            seconds, sources = None, ["not known before one has run"]
        else:
            seconds = stated["seconds"] * sum(job.units or 1 for job in others)
            sources = [f"stated: {stated['seconds']:g} s {stated['of']} of the default study, two cores"]
    return RuleForecast(rule, len(jobs), seconds, ", ".join(sources))


def _measured_s(folder: Path, job: PlannedJob) -> float | None:
    """Wall seconds of the job's last run; None if there is no sound benchmark file."""
    file = folder / f"{job.name}.tsv" if job.name else folder.with_suffix(".tsv")
    try:
        with file.open(encoding="utf-8") as opened:
            return float(list(csv.DictReader(opened, delimiter="\t"))[-1]["s"])
    except (OSError, ValueError, KeyError, IndexError):
        return None


@cache
def _stated() -> dict[str, dict]:
    return yaml.safe_load(STATED.read_text(encoding="utf-8"))


def rows_in_words(study: Study) -> list[str]:
    """A line a dataset and task: shards, and the most rows that a kernel of them can have."""
    lines = []
    for name, dataset in study.datasets.items():
        if dataset.source is not None:
            lines.append(f"{name}: as many rows as its files hold")
            continue
        variants, workloads = len(study.hardware_ids(name)), len(study.workload_ids(name))
        for task in dataset.tasks:
            of_a_kernel = f"at most {dataset.tile.tiles_per_kernel}" if task == "tile" else "1"
            lines.append(
                f"{name}, {task}: {workloads} programs x {variants} variants x their kernels x {of_a_kernel}"
                " rows a kernel"
            )
    return lines


def in_words(study: Study, rules: list[RuleForecast], cores: int) -> str:
    """The forecast as text."""
    lines = [f"{'rule':<16}{'jobs':>6}{'minutes':>10}   from"]
    for rule in rules:
        minutes = "?" if rule.seconds is None else f"{rule.seconds / 60:.1f}"
        lines.append(f"{rule.rule:<16}{rule.jobs:>6}{minutes:>10}   {rule.source}")
    total_s = sum(rule.seconds or 0 for rule in rules)
    unknown = [rule.rule for rule in rules if rule.seconds is None]
    lines.append(f"{'all':<16}{sum(rule.jobs for rule in rules):>6}{total_s / 60:>10.1f}   one after the other")
    lines.append("")
    lines.append(
        f"{cores} cores, were they all busy all the time: {total_s / 60 / cores:.1f} minutes"
        + (f", and what is not known ({', '.join(unknown)})" if unknown else "")
    )
    lines += ["Compiling the cost models, once a version of the code: about two minutes.", ""]
    lines += ["Rows of the datasets (kernels are counted once a program is traced):"]
    lines += [f"  {line}" for line in rows_in_words(study)] or ["  none"]
    lines += ["", "This is the whole study from nothing; what of it is stale now: snakemake -n"]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Print the forecast of a study; 1 and its problems on standard error if it has some."""
    parser = argparse.ArgumentParser(prog="python -m lib.forecast", description="Jobs, minutes and rows of a study.")
    parser.add_argument("study", type=Path)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all of this machine")
    chosen = parser.parse_args(arguments)
    try:
        study = load_study(chosen.study)
    except StudyError as error:
        print(error, file=sys.stderr)
        return 1
    print(in_words(study, forecast(study, Path(study.results) / "benchmark"), max(chosen.cores, 1)))
    return 0


if __name__ == "__main__":
    run_command(main)
