"""What a search reports: a table of trials, the best design against the baseline, and its YAML."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml

from lib.program.kernels import KERNEL_CLASSES
from lib.search.evaluate import LIMIT_MODEL, POWER_AREA_MODELS, Evaluation, Evaluator
from lib.search.optimise import Trial
from lib.search.pareto import non_dominated
from lib.search.space import Space
from schemas.hardware import study_entry
from schemas.search_artifact import DesignSummary, SearchDesigns
from schemas.search_space import NAMES


class Best(NamedTuple):
    """The best feasible trial."""

    trial: int
    evaluation: Evaluation


def best_of(trials: list[Trial], evaluator: Evaluator) -> Best | None:
    """The first trial with the largest gain; None if no trial is feasible."""
    feasible = [trial for trial in trials if trial.outcome.detail.state == "ok"]
    if not feasible:
        return None
    winner = max(feasible, key=lambda trial: evaluator.gain(trial.outcome.detail))
    return Best(winner.number, winner.outcome.detail)


def trials_table(trials: list[Trial], space: Space, evaluator: Evaluator) -> pd.DataFrame:
    """One row a trial, with the columns of `schemas.search_artifact`.

    `pareto`: no other feasible trial has as many queries a second for as little power on as little area, and is
    better in one of the three.
    """
    evaluations: list[Evaluation] = [trial.outcome.detail for trial in trials]
    columns: dict[str, Any] = {
        "trial": np.arange(len(trials), dtype=np.int32),
        "state": [e.state for e in evaluations],
        "reason": [e.reason for e in evaluations],
    }
    for name in space.values:
        chosen = [trial.point[name] for trial in trials]
        columns[name] = chosen if name in NAMES else np.array(chosen, dtype=np.int64)
    columns["area_mm2"] = np.array([e.design.area[LIMIT_MODEL].total for e in evaluations], dtype=float)
    columns["tdp_w"] = np.array([e.design.power[LIMIT_MODEL].total for e in evaluations], dtype=float)
    columns["area_ratio"] = np.array([evaluator.ratio(e.design, "area") for e in evaluations], dtype=float)
    columns["tdp_ratio"] = np.array([evaluator.ratio(e.design, "tdp") for e in evaluations], dtype=float)
    queries = columns["queries_per_s"] = np.array([e.queries_per_s for e in evaluations], dtype=float)
    gain = columns["perf_per_tdp_gain"] = np.array([evaluator.gain(e) for e in evaluations], dtype=float)
    columns["perf_per_tdp_gain_public"] = np.array([evaluator.gain(e, "public") for e in evaluations], dtype=float)
    columns["best_so_far"] = np.fmax.accumulate(gain)
    columns["pareto"] = non_dominated(np.column_stack([-queries, columns["tdp_w"], columns["area_mm2"]]))
    return pd.DataFrame(columns)


def kernels_table(evaluator: Evaluator, best: Best | None) -> pd.DataFrame:
    """Seconds of chip time a query for one execution of each kernel, on the baseline and on the best design.

    Rows are the kernels at the baseline's batch; `best_s` is the mean of the same occurrences at the batch of the best
    design. Executions x seconds sum to one over the queries per second of the workload.
    """
    parts = []
    for id, kernels_of in evaluator.workloads.items():
        work = kernels_of(evaluator.baseline.design.datapath["native_batch"])
        seconds = {"baseline_s": _occurrence_s(evaluator.baseline, id, evaluator)}
        seconds["best_s"] = (
            np.full(len(work.occurrence), np.nan) if best is None else _occurrence_s(best.evaluation, id, evaluator)
        )
        count = work.kernels.number
        parts.append(
            pd.DataFrame(
                {
                    "workload": id,
                    "kernel": np.arange(count, dtype=np.int32),
                    "root": work.roots,
                    "kernel_class": np.array(KERNEL_CLASSES, dtype=object)[work.kernels.kernel_class],
                    "executions": work.executions.astype(np.int32),
                }
                | {
                    name: np.bincount(work.occurrence, values * work.occurrence_executions, minlength=count)
                    / work.executions
                    for name, values in seconds.items()
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _occurrence_s(evaluation: Evaluation, workload: str, evaluator: Evaluator) -> np.ndarray:
    """float64[o] seconds of chip time a query of each occurrence."""
    datapath = evaluation.design.datapath
    work = evaluator.workloads[workload](datapath["native_batch"])
    queries = datapath["cores"] * datapath["native_batch"]
    return evaluation.runs[workload].kernel_s[work.occurrence] / queries


def designs(space: Space, evaluator: Evaluator, baseline_id: str, best: Best | None) -> SearchDesigns:
    """Baseline and best design side by side."""
    return SearchDesigns(
        space_size=space.size,
        power_area_model=LIMIT_MODEL,
        baseline=_summary(baseline_id, evaluator.baseline, evaluator),
        best=None if best is None else _summary(f"trial {best.trial}", best.evaluation, evaluator),
    )


def _summary(name: str, evaluation: Evaluation, evaluator: Evaluator) -> DesignSummary:
    return DesignSummary(
        name=name,
        hardware=evaluation.design.datapath,
        area_mm2={model: area._asdict() for model, area in evaluation.design.area.items()},
        power_w={model: power._asdict() for model, power in evaluation.design.power.items()},
        queries_per_s={id: run.queries_per_s for id, run in evaluation.runs.items()},
        utilisation={id: run.utilisation for id, run in evaluation.runs.items()},
        perf_per_tdp_gain={model: evaluator.gain(evaluation, model) for model in POWER_AREA_MODELS},
    )


def best_yaml(search: str, baseline_id: str, evaluator: Evaluator, best: Best | None, trials: int) -> str:
    """The best design as an entry that can be pasted under the study's `hardware:`."""
    if best is None:
        return f"# None of {trials} trials of the search {search} met the limits and ran every workload.\n"
    evaluation = best.evaluation
    area, power = evaluation.design.area[LIMIT_MODEL], evaluation.design.power[LIMIT_MODEL]
    lines = [
        f"Best of {trials} trials of the search {search} (trial {best.trial}).",
        f"Perf/TDP: {evaluator.gain(evaluation):.2f} times {baseline_id} by the {LIMIT_MODEL} power model, "
        f"{evaluator.gain(evaluation, 'public'):.2f} by public.",
        f"Area {area.total:.0f} mm2 ({evaluator.ratio(evaluation.design, 'area'):.2f} times {baseline_id}), "
        f"TDP {power.total:.0f} W ({evaluator.ratio(evaluation.design, 'tdp'):.2f} times).",
    ]
    for id, run in evaluation.runs.items():
        reference = evaluator.baseline.runs[id]
        lines.append(
            f"{id}: {run.queries_per_s:.0f} queries/s ({run.queries_per_s / reference.queries_per_s:.2f} times), "
            f"utilisation {run.utilisation:.2f} ({baseline_id} {reference.utilisation:.2f})."
        )
    entry = {f"{search}-best": study_entry(evaluation.design.datapath)}
    return "".join(f"# {line}\n" for line in lines) + yaml.safe_dump(entry, sort_keys=False)
