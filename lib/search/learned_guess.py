"""What a learned model says a design is worth: its kernels' predicted seconds, summed."""

from collections.abc import Mapping, Sequence

import numpy as np

from lib.cost.learned import Learned
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.models import LearnedModel
from lib.schedule.nearly_default import nearly_default_tiles
from lib.schedule.schedules import schedules_for_tiles
from lib.search.first_guess import log_value, mean_log_queries_per_s
from lib.search.space import Point, datapath_of
from lib.search.workload import KernelsByBatch, WorkloadKernels


class LearnedGuess:
    """A :class:`lib.search.first_guess.FirstGuess` by a model of kernels' runtimes on many datapaths.

    Every kernel has about its default tile (:mod:`lib.schedule.nearly_default`), nothing stays on chip between kernels,
    and every softmax has three passes: what models are trained on. The simulator has no part in it.
    """

    def __init__(
        self, model: LearnedModel, workloads: Mapping[str, KernelsByBatch], weights: Mapping[str, float], objective: str
    ):
        """`weights`: of the workloads in the geometric mean."""
        self.model, self.workloads, self.weights, self.objective = Learned(model), workloads, weights, objective

    def __call__(self, points: Sequence[Point]) -> np.ndarray:
        """float64[n]; NaN where a kernel has no tile that fits."""
        return np.array([self._one(point) for point in points])

    def _one(self, point: Point) -> float:
        spec = datapath_of(point)
        core = datapath_from_spec(spec)
        batch_s = {id: self._seconds(kernels_of(core.native_batch), core) for id, kernels_of in self.workloads.items()}
        return log_value(self.objective, mean_log_queries_per_s(batch_s, self.weights, spec), spec)

    def _seconds(self, work: WorkloadKernels, core: Datapath) -> float:
        rows = schedules_for_tiles(np.arange(work.kernels.number), nearly_default_tiles(work.kernels, core))
        return float(self.model.cost(work.kernels, rows, core).value @ work.executions)
