"""One trial: limits on area and power first, then every workload with a good tile of each kernel.

The objective is FAST's Perf/TDP (section 5.2): queries per second over power-virus watts, relative to the same
figure of the baseline, which is priced by the same cost model with the same choice of tiles; several workloads
count by their geometric mean.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from lib.cost.cost_model import CostModel
from lib.hardware.area import Area, chip_area
from lib.hardware.datapath import Datapath, datapath_from_spec, peak_flops_per_s
from lib.hardware.power import Power, chip_power
from lib.schedule.descent import found_tiles
from lib.search.outcome import Outcome
from lib.search.space import Point, datapath_of
from lib.search.workload import KernelsByBatch, WorkloadKernels
from schemas.datapath_limits import datapath_problem
from schemas.power_area import PowerAreaModel

LIMIT_MODEL: PowerAreaModel = "fast-fitted"
"""Power and area model of the limits and the objective; figures under `public` are reported beside it."""
POWER_AREA_MODELS: tuple[PowerAreaModel, ...] = ("fast-fitted", "public")

Limited = Literal["area", "tdp"]
LIMITED: tuple[Limited, ...] = ("area", "tdp")
State = Literal["ok", "area", "tdp", "infeasible"]


class Run(NamedTuple):
    """A workload on a design; whole chip unless it says otherwise."""

    kernel_s: np.ndarray
    """float64[k] seconds of one execution of each kernel with the tile found for it; NaN where none fits."""
    queries_per_s: float
    utilisation: float
    """FLOPs over what the peak rate would do in the same time."""


class Design(NamedTuple):
    """A datapath with what it takes, whatever runs on it."""

    datapath: dict[str, Any]
    area: dict[str, Area]
    """By power and area model."""
    power: dict[str, Power]
    """By power and area model."""


class Evaluation(NamedTuple):
    """What a design is worth; runs and queries are empty and NaN unless the state is ok."""

    design: Design
    state: State
    reason: str
    """Why the state is not ok, in words; else empty."""
    failing_share: float
    """Of the kernels, those that no tile fits; 1 for a datapath that can't be built."""
    runs: dict[str, Run]
    queries_per_s: float
    """Geometric mean over the workloads."""
    latency_s: float = math.nan
    """Of a batch."""
    joules: float = math.nan
    """Of a query."""


def design_of(datapath: dict[str, Any]) -> Design:
    """Area and power of a resolved datapath under every model."""
    return Design(
        datapath,
        {model: chip_area(datapath, model) for model in POWER_AREA_MODELS},
        {model: chip_power(datapath, model) for model in POWER_AREA_MODELS},
    )


def run_workload(work: WorkloadKernels, datapath: Datapath, model: CostModel) -> Run:
    """A good tile of every kernel (:mod:`lib.schedule.descent`), the same effort for every design and the baseline;
    queries per second of the chip at its native batch.

    If a kernel has no tile that fits, queries and utilisation are NaN.
    """
    kernel_s = found_tiles(work.kernels, datapath, model).seconds
    seconds = float(kernel_s @ work.executions)
    flops = float(work.flops @ work.executions)
    return Run(
        kernel_s,
        queries_per_s=datapath.cores * datapath.native_batch / seconds,
        utilisation=flops / (seconds * peak_flops_per_s(datapath)),
    )


def geometric_mean(values: list[float]) -> float:
    """Of positive numbers; NaN if one of them is."""
    return math.exp(sum(math.log(value) for value in values) / len(values))


class Evaluator:
    """Evaluates points of the space against a baseline.

    `workloads`: id to kernels by batch; `baseline`: resolved datapath; `limits`: `area_ratio` and `tdp_ratio`, the
    most that a design may take relative to the baseline. Raises ValueError where the baseline itself can't run a
    workload.
    """

    def __init__(
        self,
        workloads: Mapping[str, KernelsByBatch],
        model: CostModel,
        baseline: dict[str, Any],
        limits: Mapping[str, float],
    ):
        self.workloads, self.model, self.limits = workloads, model, limits
        self.baseline = self._run_all(design_of(baseline))
        if self.baseline.state != "ok":
            raise ValueError(f"the baseline can't run the workloads: {self.baseline.reason}")

    def outcome(self, point: Point, incumbent: float | None = None) -> Outcome:
        """What the optimiser is told of a point. `incumbent`: the best value so far, which no trial has to beat yet."""
        evaluation = self.evaluate(datapath_of(point))
        return Outcome(
            value=self.gain(evaluation),
            violations={
                "kernels": evaluation.failing_share,
                **{
                    limited: math.log2(self.ratio(evaluation.design, limited) / self.limits[f"{limited}_ratio"])
                    for limited in LIMITED
                },
            },
            detail=evaluation,
        )

    def evaluate(self, datapath: dict[str, Any]) -> Evaluation:
        """Limits, then whether it can be built, then the workloads."""
        design = design_of(datapath)
        for state in LIMITED:
            ratio, limit = self.ratio(design, state), self.limits[f"{state}_ratio"]
            if ratio > limit:
                return _stopped(design, state, f"{state} is {ratio:.3g} times the baseline's, the limit is {limit:g}")
        problem = datapath_problem(datapath)
        if problem:
            return _stopped(design, "infeasible", problem, failing_share=1.0)
        return self._run_all(design)

    def final(self, datapath: dict[str, Any], *, softmax: str = "three-pass", dataflows: str = "any") -> Evaluation:
        """What a design is worth, for the best designs of a search."""
        return self.evaluate(datapath)

    def value(self, evaluation: Evaluation) -> float:
        """What is made large."""
        return self.gain(evaluation)

    def ratio(self, design: Design, limited: Limited) -> float:
        """Area or power over the baseline's."""
        reference = self.baseline.design
        if limited == "area":
            return design.area[LIMIT_MODEL].total / reference.area[LIMIT_MODEL].total
        return design.power[LIMIT_MODEL].total / reference.power[LIMIT_MODEL].total

    def gain(self, evaluation: Evaluation, model: PowerAreaModel = LIMIT_MODEL) -> float:
        """Perf/TDP over the baseline's under a power model; NaN unless the state is ok."""
        watts = evaluation.design.power[model].total / self.baseline.design.power[model].total
        return evaluation.queries_per_s / self.baseline.queries_per_s / watts

    def _run_all(self, design: Design) -> Evaluation:
        datapath = datapath_from_spec(design.datapath)
        runs = {}
        for id, kernels_of in self.workloads.items():
            work = kernels_of(datapath.native_batch)
            runs[id] = run_workload(work, datapath, self.model)
            failing = np.isnan(runs[id].kernel_s)
            if failing.any():
                reason = (
                    f"{id}: no tile fits for {failing.sum()} of {len(failing)} kernels,"
                    f" the first is {work.roots[int(failing.argmax())]}"
                )
                return _stopped(design, "infeasible", reason, failing_share=float(failing.mean()))
        queries_per_s = geometric_mean([run.queries_per_s for run in runs.values()])
        latency_s = datapath.cores * datapath.native_batch / queries_per_s
        return Evaluation(design, "ok", "", 0.0, runs, queries_per_s, latency_s)


def _stopped(design: Design, state: State, reason: str, failing_share: float = 0.0) -> Evaluation:
    return Evaluation(design, state, reason, failing_share, {}, math.nan)
