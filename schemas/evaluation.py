"""The `evaluations:` section: models beside their baselines, on the programs held out."""

from schemas.study_base import Id, IdList, Selection, StudyModel

BASELINES = (
    "analytical", "calibrated-analytical", "log-calibrated-analytical", "roofline", "simulator", "default", "random",
    "noise-floor",
)  # fmt: skip
"""What stands beside the study's models in every table; no model may have such an id."""
RESERVED_IDS = (*BASELINES, "learned")
"""`learned` stands for the headline model."""


class Evaluation(StudyModel):
    """Models that are scored on the test programs of their datasets, and apart from that on the validation programs."""

    models: IdList
    """The models; the first one of each task is the evaluation's headline model."""
    baselines: dict[Id, IdList] = {}
    """Trained baselines that the models are compared with: a row's name to the models behind it, one a task, e.g.
    `boosted-trees: [tile-trees, fusion-trees]`. The analytical model, chance and the like always stand beside them."""
    hardware: Selection | None = None
    """The variants of the dataset that every model is scored on, also those that it was not trained on; `all`: all of
    the dataset's. Default: those that the model was trained on."""

    def shown(self) -> dict[str, str]:
        """Every model of the entry to the name of its row, in order; the models come first."""
        rows = {id: id for id in self.models}
        return rows | {id: name for name, ids in self.baselines.items() for id in ids}
