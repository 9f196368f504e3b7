"""What a search keeps of each trial: the figures of its table, of JSON types."""

from typing import Any

from lib.search.evaluate import LIMIT_MODEL, Evaluation, Evaluator
from lib.search.optimise import Evaluate
from lib.search.outcome import Outcome
from lib.search.space import Point


def keep_figures(evaluator: Evaluator) -> Evaluate:
    """The evaluator's outcomes, each with its figures as `detail` in place of the whole evaluation."""

    def evaluate(point: Point, best: float | None) -> Outcome:
        outcome = evaluator.outcome(point, best)
        return outcome._replace(detail=trial_figures(outcome.detail, outcome.value, evaluator))

    return evaluate


def trial_figures(evaluation: Evaluation, value: float, evaluator: Evaluator) -> dict[str, Any]:
    """Columns of a trial's row that are not its point, without those that depend on other trials. Units in the names,
    whole chip; NaN where a figure is not known."""
    return {
        "state": evaluation.state,
        "reason": evaluation.reason,
        "area_mm2": evaluation.design.area[LIMIT_MODEL].total,
        "tdp_w": evaluation.design.power[LIMIT_MODEL].total,
        "area_ratio": evaluator.ratio(evaluation.design, "area"),
        "tdp_ratio": evaluator.ratio(evaluation.design, "tdp"),
        "queries_per_s": evaluation.queries_per_s,
        "latency_s": evaluation.latency_s,
        "joules": evaluation.joules,
        "perf_per_tdp_gain": evaluator.gain(evaluation),
        "perf_per_tdp_gain_public": evaluator.gain(evaluation, "public"),
        "value": value,
    }
