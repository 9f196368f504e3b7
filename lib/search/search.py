"""A whole search: space, evaluator, optimiser, results."""

import logging
from collections.abc import Mapping
from typing import Any

from lib.cost.cost_model import CostModel
from lib.search.evaluate import Evaluator
from lib.search.optimise import optimise
from lib.search.results import best_of, best_yaml, designs, kernels_table, trials_table
from lib.search.space import space_from_spec
from lib.search.workload import KernelsByBatch

LOG = logging.getLogger("tilewright")


def run_search(spec: dict[str, Any], workloads: Mapping[str, KernelsByBatch], model: CostModel) -> dict[str, Any]:
    """Run one island of a resolved `searches:` entry; contents of a `schemas.search_artifact.SearchArtifact`.

    Raises ValueError where the baseline can't run a workload.
    """
    space = space_from_spec(spec["space"])
    baseline = spec["baseline"]
    evaluator = Evaluator(workloads, model, baseline["datapath"], spec["limits"])
    LOG.info("search %s: %d trials in a space of %.3g points", spec["id"], spec["trials"], space.size)
    trials = optimise(
        space,
        spec["optimiser"],
        spec["trials"],
        seed=spec["seed"],
        island=spec["island"],
        evaluate=evaluator.outcome,
    )
    best = best_of(trials, evaluator)
    return {
        "trials.parquet": trials_table(trials, space, evaluator),
        "kernels.parquet": kernels_table(evaluator, best),
        "best.yaml": best_yaml(spec["id"], baseline["id"], evaluator, best, len(trials)),
        "designs.json": designs(space, evaluator, baseline["id"], best),
    }
