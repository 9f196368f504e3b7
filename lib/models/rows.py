"""What any trained model says of schedule rows."""

import numpy as np

from lib.gnn.examples import analytical_names, examples_of_rows
from lib.gnn.feature_set import FeatureSetError
from lib.hardware.datapath import Datapath
from lib.models import LearnedModel
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules


def predict_rows(
    model: LearnedModel, kernels: Kernels, schedules: Schedules, datapath: Datapath, analytical: dict[str, np.ndarray]
) -> np.ndarray:
    """float64[rows] of schedule rows in any order; what the model reads of a row is its kernel and tile.

    `analytical`: the analytical model's total and parts by column name (`analytical_s`, `analytical_<part>`),
    each float64[rows]. Raises FeatureSetError where these aren't the parts that the model was trained on.
    """
    names = analytical_names(list(analytical))
    if names != model.features.analytical:
        missing = [name for name in model.features.analytical if name not in analytical]
        new = [name for name in names if name not in model.features.analytical]
        raise FeatureSetError(f"analytical parts: the model misses {missing} and doesn't know {new}; train it again")
    order = np.argsort(schedules.kernel, kind="stable")
    values = np.stack([analytical[name] for name in names], axis=1).astype(np.float64)
    examples = examples_of_rows(kernels, schedules.kernel[order], schedules.tile[order], datapath, names, values[order])
    predicted = np.empty(len(order))
    predicted[order] = model.predict(examples)
    return predicted
