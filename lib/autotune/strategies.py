"""The trained models of an entry of `autotune:` as cost models, and what a person must know of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from lib.cost.cost_model import CostModel
from lib.cost.learned import Learned
from lib.hardware.datapath import Datapath
from lib.models import LearnedModel
from lib.models.average import Average
from lib.prediction.asked_hardware import AskedHardware, training_note

TrainedModels = Mapping[str, Mapping[int, LearnedModel]]
"""Model id to seed to model."""


def strategies(
    entries: Sequence[Mapping[str, Any]], trained: TrainedModels, seeds: Sequence[int]
) -> dict[str, dict[int, CostModel]]:
    """Strategy (the model's id) to seed to cost model.

    `entries`: `tile_models` or `fusion_models` of the resolved entry: `id`, `members` (several are averaged). A member
    that was not trained with a seed brings its lowest one.
    """
    return {
        entry["id"]: {seed: Learned(_model_of(entry["members"], trained, seed)) for seed in seeds} for entry in entries
    }


def _model_of(members: Sequence[str], trained: TrainedModels, seed: int) -> LearnedModel:
    models = [trained[id][seed if seed in trained[id] else min(trained[id])] for id in members]
    return models[0] if len(models) == 1 else Average(models)


def model_notes(
    entries: Sequence[Mapping[str, Any]], trained: TrainedModels, workload: str, hardware: str, datapath: Datapath
) -> list[str]:
    """In words: hardware unlike that of a model's training, and programs that a model was trained on."""
    asked = AskedHardware(hardware, datapath)
    members = dict.fromkeys(member for entry in entries for member in entry["members"])
    notes = [note for id in members if (note := training_note(trained[id][min(trained[id])], asked))]
    seen = [entry["id"] for entry in entries if workload in entry["trained_on"]]
    if seen:
        notes.append(f"{workload} is one of the programs that {', '.join(seen)} learned, so it is not held out")
    return notes
