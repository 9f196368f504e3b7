"""What the trained models of an evaluation say about its shards."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lib.dataset.shards import Shard
from lib.evaluation.scoring import Prediction
from lib.gnn.examples import examples_of_shards
from lib.models import LearnedModel
from lib.models.average import averaged

TrainedModels = Mapping[str, Mapping[int, LearnedModel]]
"""Model id to seed to model."""


def predictions(
    entries: Sequence[Mapping[str, Any]], trained: TrainedModels, shards: Sequence[Shard]
) -> list[Prediction]:
    """One for each entry, seed and shard of its task and of the hardware that it is scored on.

    `entries`: the evaluation's models: `id` (name of the row), `task`, `scored_on`, `seeds`, `members` (ids of the
    trained models behind it; several are averaged, seed by seed; a member without that seed brings its lowest).
    """
    found: list[Prediction] = []
    for number, shard in enumerate(shards):
        wanted = [e for e in entries if e["task"] == shard.task and shard.hardware in e["scored_on"]]
        if not wanted:
            continue
        examples = examples_of_shards([shard])
        said: dict[tuple[str, int], np.ndarray] = {}
        for entry in wanted:
            for seed in entry["seeds"]:
                members = [(id, seed if seed in trained[id] else min(trained[id])) for id in entry["members"]]
                for id, own in members:
                    if (id, own) not in said:
                        said[id, own] = trained[id][own].predict(examples)
                values = [said[member] for member in members]
                if len(members) > 1:
                    scales = [trained[id][own].scale for id, own in members]
                    values = [averaged(shard.task, scales, values, shard.row_offset)]
                found.append(Prediction(number, entry["id"], seed, values[0]))
    return found
