"""The trained models of an entry of `autotune:` as cost models."""

from collections.abc import Mapping, Sequence
from typing import Any

from lib.cost.cost_model import CostModel
from lib.cost.learned import Learned
from lib.models import LearnedModel
from lib.models.average import Average

TrainedModels = Mapping[str, Mapping[int, LearnedModel]]
"""Model id to seed to model."""


def strategies(
    entries: Sequence[Mapping[str, Any]], trained: TrainedModels, seeds: Sequence[int]
) -> dict[str, dict[int, CostModel]]:
    """Strategy (the model's id) to seed to cost model.

    `entries`: `tile_models` or `fusion_models` of the resolved entry: `id`, `members` (several are averaged). A member
    that was not trained with a seed brings its lowest one; seeds that come to the same model share it.
    """
    found: dict[str, dict[int, CostModel]] = {}
    for entry in entries:
        of_members: dict[tuple[int, ...], CostModel] = {}
        for seed in seeds:
            members = [trained[id] for id in entry["members"]]
            used = tuple(seed if seed in by_seed else min(by_seed) for by_seed in members)
            models = [by_seed[one] for by_seed, one in zip(members, used, strict=True)]
            if used not in of_members:
                of_members[used] = Learned(models[0] if len(models) == 1 else Average(models))
            found.setdefault(entry["id"], {})[seed] = of_members[used]
    return found
