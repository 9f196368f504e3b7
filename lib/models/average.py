"""The average of several models' predictions: cheap, and often better than each of them."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from lib.gnn.examples import Examples
from lib.models import LearnedModel
from schemas.model_artifact import FeatureSet


class Average:
    """Several models as one :class:`lib.models.LearnedModel`, see :func:`averaged`."""

    def __init__(self, models: Sequence[LearnedModel]):
        """Raises ValueError without models, and for models of different tasks."""
        tasks = sorted({model.spec["task"] for model in models})
        if len(tasks) != 1:
            raise ValueError(f"an average is of models of one task, got the tasks {tasks}")
        self.models = tuple(models)
        self.spec: dict[str, Any] = {"task": tasks[0], "average": [model.spec["id"] for model in models]}
        self.seed = models[0].seed

    @property
    def features(self) -> FeatureSet:
        return self.models[0].features

    @property
    def scale(self) -> Literal["seconds", "rank"]:
        return "rank" if self.spec["task"] == "tile" else "seconds"

    def predict(self, examples: Examples) -> np.ndarray:
        values = [model.predict(examples) for model in self.models]
        scales = [model.scale for model in self.models]
        return averaged(self.spec["task"], scales, values, examples.row_offset)


def averaged(task: str, scales: Sequence[str], values: Sequence[np.ndarray], row_offset: np.ndarray) -> np.ndarray:
    """float64[r]: the mean prediction of several models for the same rows.

    Fusion: seconds, the geometric mean. Tile: the mean of scores, each standardised to mean 0 and deviation 1 within
    its kernel (`row_offset` int64[k + 1] cuts the rows into kernels), seconds by their logarithm; a model that
    scores all rows of a kernel alike has no say there.
    """
    if task == "fusion":
        return np.exp(np.mean([np.log(seconds) for seconds in values], axis=0))
    scores = [np.log(value) if scale == "seconds" else value for scale, value in zip(scales, values, strict=True)]
    return np.mean([standardised(score, row_offset) for score in scores], axis=0)


def standardised(score: np.ndarray, row_offset: np.ndarray) -> np.ndarray:
    """float64[r]: (score - mean) / standard deviation within each kernel, 0 where all rows of a kernel are alike."""
    rows = np.diff(row_offset)
    centred = score - np.repeat(np.add.reduceat(score, row_offset[:-1]) / rows, rows)
    deviation = np.repeat(np.sqrt(np.add.reduceat(centred**2, row_offset[:-1]) / rows), rows)
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0)
