"""What a search reports of its best design: beside the baseline and the paper's designs, and as YAML."""

from typing import NamedTuple

import yaml

from lib.program.softmax import Softmax
from lib.search.evaluate import LIMIT_MODEL, POWER_AREA_MODELS, Evaluation, Evaluator
from lib.search.space import Space
from schemas.hardware import HARDWARE_PRESETS, merged_datapath, study_entry
from schemas.search_artifact import DesignSummary, SearchDesigns, UnmetLimit

REFERENCES = ("fast-large", "fast-small")
"""Hardware presets of FAST's designs (table 5), evaluated as a final design is."""


class Best(NamedTuple):
    """The best feasible trial."""

    trial: int
    evaluation: Evaluation
    softmax: Softmax
    """The form of every softmax."""


def designs(
    space: Space, evaluator: Evaluator, baseline_id: str, best: Best | None, unmet: list[UnmetLimit]
) -> SearchDesigns:
    """Baseline both ways, the paper's designs and the best design side by side."""
    compiled = _summary(baseline_id, evaluator.baselines["default"], evaluator)
    scheduled = _summary(f"{baseline_id}, best schedules", evaluator.baselines["best"], evaluator)
    return SearchDesigns(
        space_size=space.size,
        power_area_model=LIMIT_MODEL,
        baseline=compiled if evaluator.baseline_schedule == "default" else scheduled,
        compiled=compiled,
        scheduled=scheduled,
        references=_references(evaluator),
        best=None if best is None else _summary(f"trial {best.trial}", best.evaluation, evaluator, best.softmax),
        unmet=unmet,
    )


def _references(evaluator: Evaluator) -> list[DesignSummary]:
    """The paper's designs at their own batches; those that can't run the workloads are left out."""
    found = []
    for name in REFERENCES:
        datapath = merged_datapath([HARDWARE_PRESETS[name]])
        final = evaluator.final(datapath)
        if final.state == "ok":
            trial = evaluator.evaluate(datapath)
            as_trial = evaluator.value(trial) if trial.state == "ok" else None
            found.append(_summary(name, final, evaluator).model_copy(update={"value_as_trial": as_trial}))
    return found


def _summary(name: str, evaluation: Evaluation, evaluator: Evaluator, softmax: Softmax = "three-pass") -> DesignSummary:
    batch = evaluation.design.datapath["native_batch"]
    runs = evaluation.runs
    executions = {id: evaluator.workloads[id](batch, softmax).occurrence_executions for id in runs}
    return DesignSummary(
        name=name,
        hardware=evaluation.design.datapath,
        area_mm2={model: area._asdict() for model, area in evaluation.design.area.items()},
        power_w={model: power._asdict() for model, power in evaluation.design.power.items()},
        queries_per_s={id: run.queries_per_s for id, run in runs.items()},
        latency_s={id: run.latency_s for id, run in runs.items()},
        joules={id: run.joules for id, run in runs.items()},
        dram_bytes={id: float(run.dram_bytes @ executions[id]) / batch for id, run in runs.items()},
        utilisation={id: run.utilisation for id, run in runs.items()},
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
