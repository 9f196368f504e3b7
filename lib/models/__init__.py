"""Every kind of trained model behind one face: networks, boosted trees, and their averages."""

from typing import Any, Literal, Protocol

import numpy as np

from lib.gnn.examples import Examples
from schemas.model_artifact import FeatureSet


class LearnedModel(Protocol):
    """What predicts from features of rows."""

    spec: dict[str, Any]
    """The model's entry of the study."""
    seed: int

    @property
    def features(self) -> FeatureSet:
        """What it was trained on."""

    @property
    def scale(self) -> Literal["seconds", "rank"]:
        """Seconds, or a score that is comparable within a kernel only."""

    def predict(self, examples: Examples) -> np.ndarray:
        """float64[r] seconds or scores, lower is faster. Raises FeatureSetError for features unlike training's."""
