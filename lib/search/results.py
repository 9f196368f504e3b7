"""What a search reports of its best design: against the baseline, by kernel, and as YAML."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

from lib.program.kernels import KERNEL_CLASSES
from lib.search.evaluate import LIMIT_MODEL, POWER_AREA_MODELS, Evaluation, Evaluator
from lib.search.space import Space
from schemas.hardware import study_entry
from schemas.search_artifact import DesignSummary, SearchDesigns, UnmetLimit


class Best(NamedTuple):
    """The best feasible trial."""

    trial: int
    evaluation: Evaluation


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
    queries = datapath["cores"] * datapath["native_batch"]
    return evaluation.runs[workload].occurrence_s / queries


def designs(
    space: Space, evaluator: Evaluator, baseline_id: str, best: Best | None, unmet: list[UnmetLimit]
) -> SearchDesigns:
    """Baseline and best design side by side."""
    return SearchDesigns(
        space_size=space.size,
        power_area_model=LIMIT_MODEL,
        baseline=_summary(baseline_id, evaluator.baseline, evaluator),
        best=None if best is None else _summary(f"trial {best.trial}", best.evaluation, evaluator),
        unmet=unmet,
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
        value=evaluator.value(evaluation),
    )


def best_yaml(
    search: str, baseline_id: str, evaluator: Evaluator, best: Best | None, trials: int, unmet: list[UnmetLimit]
) -> str:
    """The best design as an entry that can be pasted under the study's `hardware:`; without one, why."""
    if best is None:
        first = f"# None of {trials} trials of the search {search} met the limits and ran every workload.\n"
        return first + "".join(f"# {limit.text}\n" for limit in unmet)
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
