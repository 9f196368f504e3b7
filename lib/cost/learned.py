"""The learned model behind the face of a cost model."""

from typing import Literal

import numpy as np

from lib.cost.analytical import Analytical
from lib.cost.cost_model import Costs, Reason
from lib.hardware.datapath import Datapath
from lib.models import LearnedModel
from lib.models.rows import predict_rows
from lib.program.kernels import Kernels
from lib.schedule.schedules import Schedules
from lib.schedule.vector_tiles import VECTOR_COLUMNS, vector_columns


class Learned:
    """A trained model, network or boosted trees, as a :class:`lib.cost.cost_model.CostModel`.

    It reads a row's kernel, its tile, the datapath, what the analytical model says about the row and, where it learned
    from tiles on a CPU, what becomes of the tile there, all of which is computed here. `scale` is "rank" for a model
    trained with a rank loss: its values are comparable within a kernel only. Rows that the analytical model refuses are
    refused for the same reason.
    """

    name = "learned"
    accepts = frozenset({"tile", "hardware"})
    part_names: tuple[str, ...] = ()

    def __init__(self, model: LearnedModel):
        self.model = model
        self._analytical = Analytical()
        self.scale: Literal["seconds", "rank"] = model.scale

    def cost(self, kernels: Kernels, schedules: Schedules, datapath: Datapath, *, parts: bool = False) -> Costs:
        """Price every row; the model has no parts, so `parts` gives float64[r, 0].

        Raises ValueError naming an op kind that the analytical model does not know, and FeatureSetError
        where the model was trained on other features than this version computes.
        """
        estimate = self._analytical.cost(kernels, schedules, datapath, parts=True)
        assert estimate.parts is not None
        priced = np.flatnonzero(estimate.reason == Reason.OK)
        analytical = {"analytical_s": estimate.value[priced]}
        for column, name in enumerate(self._analytical.part_names):
            analytical[f"analytical_{name}"] = estimate.parts[priced, column]
        rows = Schedules(*(array[priced] for array in schedules))
        if VECTOR_COLUMNS[0] in self.model.features.analytical:
            analytical |= vector_columns(kernels, rows)
        value = np.full(len(schedules.kernel), np.nan)
        value[priced] = predict_rows(self.model, kernels, rows, datapath, analytical)
        return Costs(value, estimate.reason, estimate.dram_bytes, None, np.empty((len(value), 0)) if parts else None)
