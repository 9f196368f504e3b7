"""A whole search: space, evaluator, optimiser, journal, results."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from lib.cost.simulator import Simulator
from lib.journal import Journal
from lib.search.evaluate import Evaluator, softmax_of
from lib.search.explained import against_fast_large
from lib.search.first_guess import FirstGuess
from lib.search.kernels_table import kernels_table
from lib.search.optimise import Trial, optimise
from lib.search.results import Best, best_yaml, designs
from lib.search.schedule_text import best_schedules_text
from lib.search.screening import screening
from lib.search.space import space_from_spec
from lib.search.trial_figures import keep_figures
from lib.search.trial_journal import TrialJournal
from lib.search.trials_table import best_trials, trials_table
from lib.search.unmet import unmet_limits
from lib.search.workload import KernelsByBatch

LOG = logging.getLogger("tilewright")

RAISABLE = ("trials",)
"""Keys of a resolved entry that change none of the trials so far."""
FINALISTS = 3
"""Designs that are evaluated with all care at the end; the best of them is the search's."""


def run_search(
    spec: dict[str, Any],
    workloads: Mapping[str, KernelsByBatch],
    model: Simulator,
    journal: Journal | None = None,
    guess: FirstGuess | None = None,
) -> dict[str, Any]:
    """Run one island of a resolved `searches:` entry; contents of a `schemas.search_artifact.SearchArtifact`.

    Trials that `journal` holds are not run again. `guess`: of the learned model that pre-screens designs, where the
    entry names one. Raises ValueError where the baseline can't run a workload.
    """
    space = space_from_spec(spec["space"])
    baseline = spec["baseline"]
    evaluator = Evaluator(
        workloads, model, baseline["datapath"], spec["limits"], objective=spec["objective"], weights=spec["weights"],
        residency=spec["residency"], baseline_schedule=spec["baseline_schedule"],
    )  # fmt: skip
    LOG.info("search %s: %d trials in a space of %.3g points", spec["id"], spec["trials"], space.size)
    kept = TrialJournal(journal)
    trials = optimise(
        space,
        spec["optimiser"],
        spec["trials"],
        seed=spec["seed"],
        island=spec["island"],
        evaluate=keep_figures(evaluator),
        history=kept.history(),
        record=kept.record,
        screen=screening(spec, space, evaluator, guess),
    )
    kept.write()
    unmet = unmet_limits(trials, spec["limits"])
    for limit in unmet:
        LOG.warning("search %s: %s", spec["id"], limit.text)
    best = _best(trials, evaluator)
    return {
        "trials.parquet": trials_table(trials, space),
        "kernels.parquet": kernels_table(workloads, evaluator.baseline, best),
        "explained.parquet": against_fast_large(evaluator, None if best is None else trials[best.trial].point),
        "schedules.txt": best_schedules_text(workloads, best),
        "best.yaml": best_yaml(spec["id"], baseline["id"], evaluator, best, len(trials), unmet),
        "designs.json": designs(space, evaluator, baseline["id"], best, unmet),
    }


def _best(trials: Sequence[Trial], evaluator: Evaluator) -> Best | None:
    """The best of the trials with the largest values, evaluated with all care; None if none is within the limits."""
    finals = [
        Best(trial.number, evaluator.final_of(trial.point), softmax_of(trial.point))
        for trial in best_trials(trials, FINALISTS)
    ]
    within = [final for final in finals if final.evaluation.state == "ok"]
    return max(within, key=lambda final: evaluator.value(final.evaluation), default=None)
