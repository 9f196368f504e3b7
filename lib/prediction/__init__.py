"""Using a trained model: `load_model`, then ask it what kernels cost. `docs/prediction.md` has an example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lib.cost.learned import Learned

__all__ = ["load_model"]


def load_model(folder: str | Path) -> Learned:
    """The model in a folder `RESULTS/model/M/seed-N`, as a cost model: see :class:`lib.cost.learned.Learned`.

    Imports TensorFlow when called, which takes seconds. Raises ValueError for a folder that is no model's,
    ArtifactError for a damaged one and FeatureSetError for a model that was trained on other features than this
    version computes.
    """
    from lib.prediction.model_folder import read_model

    return read_model(Path(folder))
