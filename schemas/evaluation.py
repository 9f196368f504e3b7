"""The `evaluations:` section: models beside their baselines, on the programs held out."""

from schemas.study_base import IdList, StudyModel


class Evaluation(StudyModel):
    """Models that are scored on the test programs of their datasets."""

    models: IdList
    """The models; the first one of each task is the evaluation's headline model."""
