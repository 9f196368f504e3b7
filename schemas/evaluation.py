"""The `evaluations:` section: models beside their baselines, on the programs held out."""

from schemas.study_base import IdList, StudyModel

BASELINES = ("analytical", "calibrated-analytical", "log-calibrated-analytical", "default", "random")
"""What stands beside the study's models in every table; no model may have such an id."""
RESERVED_IDS = (*BASELINES, "learned")
"""`learned` stands for the headline model."""


class Evaluation(StudyModel):
    """Models that are scored on the test programs of their datasets."""

    models: IdList
    """The models; the first one of each task is the evaluation's headline model."""
