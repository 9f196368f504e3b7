"""One trial: limits and bounds first, then every workload with good schedules and what stays on chip.

The objective is FAST's Perf/TDP (section 5.2): queries per second over power-virus watts, relative to the same figure
of the baseline; or queries per second, latency or energy of a query alone. Several workloads count by their weighted
geometric mean.

A trial goes from cheap to dear and stops at the first thing that decides it: area, power, a datapath that can't be
built, a lower bound of the latency above its limit, an upper bound of the objective (:mod:`lib.search.bound`) below the
best value so far, a kernel that no tile fits.
"""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from lib.cost.simulator import Simulator
from lib.hardware.area import Area, chip_area
from lib.hardware.datapath import Datapath, datapath_from_spec
from lib.hardware.energy import energy_rates
from lib.hardware.power import Power, chip_power
from lib.program.softmax import Softmax
from lib.residency.program_residency import Variant
from lib.schedule.best import ANY_DATAFLOW
from lib.schedule.descent import Enough, PreparedKernels, prepared
from lib.schedule.schedules import INPUT_STATIONARY, OUTPUT_STATIONARY, WEIGHT_STATIONARY
from lib.search.bound import LeastWork, least_joules, least_kernel_seconds, least_seconds, least_work
from lib.search.outcome import Outcome
from lib.search.run import Run, compiled_run, quick_run, thorough_run
from lib.search.space import Point, datapath_of
from lib.search.workload import KernelsByBatch, WorkloadKernels
from schemas.datapath_limits import datapath_problem
from schemas.power_area import PowerAreaModel
from schemas.search import Objective

LIMIT_MODEL: PowerAreaModel = "fast-fitted"
"""Power and area model of the limits and the objective; figures under `public` are reported beside it."""
POWER_AREA_MODELS: tuple[PowerAreaModel, ...] = ("fast-fitted", "public")

Limited = Literal["area", "tdp"]
LIMITED: tuple[Limited, ...] = ("area", "tdp")
State = Literal["ok", "area", "tdp", "latency", "infeasible", "bound"]
"""`bound`: could not beat the best value so far, whatever its schedules."""
BaselineSchedule = Literal["default", "best"]

DATAFLOW_BITS = {
    "any": ANY_DATAFLOW, "weight-stationary": 1 << WEIGHT_STATIONARY, "output-stationary": 1 << OUTPUT_STATIONARY,
    "input-stationary": 1 << INPUT_STATIONARY,
}  # fmt: skip
SCHEDULED = {"depthwise_mapping": "taps", "array_efficiency": 1.0}
"""What a searched schedule changes on a chip whose preset has its compiler's habits: FAST's mapping of depthwise
convolutions (section 3.2) and dense products at the peak rate, as every design of the space has them."""


class Design(NamedTuple):
    """A datapath with what it takes, whatever runs on it."""

    datapath: dict[str, Any]
    area: dict[str, Area]
    """By power and area model."""
    power: dict[str, Power]
    """By power and area model."""


class Evaluation(NamedTuple):
    """What a design is worth; figures are NaN where they are not known."""

    design: Design
    state: State
    reason: str
    """Why the state is not ok, in words; else empty."""
    failing_share: float
    """Of the kernels, those that no tile fits; 1 for a datapath that can't be built."""
    runs: dict[str, Run]
    """By workload; empty unless the state is ok or latency."""
    queries_per_s: float
    """Weighted geometric mean over the workloads, as the next two; NaN unless the state is ok."""
    latency_s: float
    """Of a batch."""
    joules: float
    """Of a query."""
    slowest_s: float
    """Latency of the slowest workload, or a lower bound of it: what its limit is about."""
    bound: float
    """State `bound`: upper bound of the objective's value."""


class _Bound(NamedTuple):
    """What a workload can reach at best on a design."""

    seconds: float
    joules: float


def design_of(datapath: dict[str, Any]) -> Design:
    """Area and power of a resolved datapath under every model."""
    return Design(
        datapath,
        {model: chip_area(datapath, model) for model in POWER_AREA_MODELS},
        {model: chip_power(datapath, model) for model in POWER_AREA_MODELS},
    )


class Evaluator:
    """Evaluates points of the space against a baseline.

    `workloads`: id to kernels by batch; `baseline`: resolved datapath; `limits`: `area_ratio` and `tdp_ratio`, the
    most that a design may take relative to the baseline, and `latency_s`, the most that a batch of any workload may
    take (absent or None: no limit); `weights`: of the workloads in the geometric mean (1 for those left out);
    `residency`: a variant of :mod:`lib.residency` or `none`; `baseline_schedule`: how the baseline runs, `default` (as
    its compiler runs it, nothing on chip between kernels) or `best`. Raises ValueError where the baseline itself can't
    run a workload.
    """

    def __init__(
        self, workloads: Mapping[str, KernelsByBatch], model: Simulator, baseline: dict[str, Any],
        limits: Mapping[str, float | None], *, objective: Objective = "perf-per-tdp",
        weights: Mapping[str, float] | None = None, residency: Variant | Literal["none"] = "none",
        baseline_schedule: BaselineSchedule = "default",
    ):  # fmt: skip
        self.workloads, self.model, self.limits, self.objective = workloads, model, limits, objective
        self.residency: Variant | None = None if residency == "none" else residency
        weights = {id: (weights or {}).get(id, 1.0) for id in workloads}
        self.weights = {id: weight / sum(weights.values()) for id, weight in weights.items()}
        self.baseline_schedule = baseline_schedule
        self._chip = design_of(baseline)
        self._prepared: dict[tuple, PreparedKernels] = {}
        self._least: dict[tuple, LeastWork] = {}

    @cached_property
    def baselines(self) -> dict[BaselineSchedule, Evaluation]:
        """The baseline as its compiler runs it, and with the schedules and residency that designs get."""
        return {"default": self._compiled, "best": self._scheduled}

    @property
    def baseline(self) -> Evaluation:
        """The one that gains are counted over."""
        return self._compiled if self.baseline_schedule == "default" else self._scheduled

    @cached_property
    def _compiled(self) -> Evaluation:
        datapath = datapath_from_spec(self._chip.datapath)
        try:
            runs = {
                id: compiled_run(kernels_of(datapath.native_batch), datapath, self.model)
                for id, kernels_of in self.workloads.items()
            }
        except ValueError as error:
            raise ValueError(f"the baseline can't run the workloads: {error}") from error
        return self._evaluation(self._chip, runs)

    @cached_property
    def _scheduled(self) -> Evaluation:
        datapath = self._chip.datapath | SCHEDULED
        evaluation = self.final(datapath)
        if evaluation.state == "infeasible":
            raise ValueError(f"the baseline can't run the workloads: {evaluation.reason}")
        return self._evaluation(evaluation.design, evaluation.runs)

    def outcome(self, point: Point, incumbent: float | None = None) -> Outcome:
        """What the optimiser is told of a point; depends on nothing but the point and `incumbent`, the best value so
        far, which a trial has to beat unless it is None."""
        evaluation = self.evaluate(datapath_of(point), incumbent=incumbent, **_beside_the_datapath(point))
        violations = {"kernels": evaluation.failing_share}
        for limited in LIMITED:
            ratio = self.ratio(evaluation.design, limited)
            violations[limited] = math.log2(ratio / float(self.limits[f"{limited}_ratio"] or math.inf))
        if self._latency_limit < math.inf and evaluation.slowest_s > 0:
            violations["latency"] = math.log2(evaluation.slowest_s / self._latency_limit)
        bounded = evaluation.state == "bound"
        design = evaluation.design
        objectives = (
            evaluation.queries_per_s, -design.power[LIMIT_MODEL].total, -design.area[LIMIT_MODEL].total,
            -evaluation.latency_s,
        )  # fmt: skip
        return Outcome(
            value=evaluation.bound if bounded else self.value(evaluation), violations=violations, detail=evaluation,
            objectives=objectives if evaluation.state == "ok" else (), bound=bounded,
        )  # fmt: skip

    def evaluate(
        self, datapath: dict[str, Any], *, softmax: Softmax = "three-pass", dataflows: str = "any",
        incumbent: float | None = None,
    ) -> Evaluation:  # fmt: skip
        """A trial."""
        design = design_of(datapath)
        for state in LIMITED:
            ratio, limit = self.ratio(design, state), float(self.limits[f"{state}_ratio"] or math.inf)
            if ratio > limit:
                return _stopped(design, state, f"{state} is {ratio:.3g} times the baseline's, the limit is {limit:g}")
        problem = datapath_problem(datapath)
        if problem:
            return _stopped(design, "infeasible", problem, failing_share=1.0)
        core = datapath_from_spec(datapath)
        reach = {id: self._bound(id, core, datapath, softmax) for id in self.workloads}
        runs: dict[str, Run] = {}
        for id in self.workloads:
            stopped = self._cannot_win(design, core, reach, incumbent)
            if stopped is not None:
                return stopped
            found = quick_run(
                self._work(id, core, softmax), self._prepare(id, core, softmax), core, self.model, self.residency,
                DATAFLOW_BITS[dataflows], self._enough(id, design, core, softmax, reach, incumbent),
            )  # fmt: skip
            if isinstance(found, Run):
                runs[id] = found
                reach[id] = _Bound(found.latency_s, found.joules * core.native_batch)
            elif found.failing.any():
                return self._unschedulable(design, id, core, softmax, found.failing)
            else:
                reach[id] = reach[id]._replace(seconds=found.least_s)
                return self._stopped_at_bound(design, core, reach, incumbent)
        return self._evaluation(design, runs, self._latency_limit)

    def final_of(self, point: Point) -> Evaluation:
        """:meth:`final` of a point of the space."""
        return self.final(datapath_of(point), **_beside_the_datapath(point))

    def final(self, datapath: dict[str, Any], *, softmax: Softmax = "three-pass", dataflows: str = "any") -> Evaluation:
        """A design with the best schedules of the whole tile space and the best of residency; seconds a workload.

        Area and power are not held against it.
        """
        design, core = design_of(datapath), datapath_from_spec(datapath)
        problem = datapath_problem(datapath)
        if problem:
            return _stopped(design, "infeasible", problem, failing_share=1.0)
        runs = {}
        for id in self.workloads:
            found = thorough_run(
                self._work(id, core, softmax), self._prepare(id, core, softmax), core, self.model, self.residency,
                DATAFLOW_BITS[dataflows],
            )  # fmt: skip
            if not isinstance(found, Run):
                return self._unschedulable(design, id, core, softmax, found.failing)
            runs[id] = found
        return self._evaluation(design, runs, self._latency_limit)

    def ratio(self, design: Design, limited: Limited) -> float:
        """Area or power over the baseline's."""
        if limited == "area":
            return design.area[LIMIT_MODEL].total / self._chip.area[LIMIT_MODEL].total
        return design.power[LIMIT_MODEL].total / self._chip.power[LIMIT_MODEL].total

    def gain(
        self, evaluation: Evaluation, model: PowerAreaModel = LIMIT_MODEL, over: BaselineSchedule | None = None
    ) -> float:
        """Perf/TDP over the baseline's under a power model; NaN unless the state is ok."""
        baseline = self.baseline if over is None else self.baselines[over]
        watts = evaluation.design.power[model].total / self._chip.power[model].total
        return evaluation.queries_per_s / baseline.queries_per_s / watts

    def value(self, evaluation: Evaluation) -> float:
        """The objective over the baseline's, larger is better; NaN unless the state is ok."""
        if self.objective == "perf-per-tdp":
            return self.gain(evaluation)
        if self.objective == "throughput":
            return evaluation.queries_per_s / self.baseline.queries_per_s
        if self.objective == "latency":
            return self.baseline.latency_s / evaluation.latency_s
        return self.baseline.joules / evaluation.joules

    @property
    def _latency_limit(self) -> float:
        return self.limits.get("latency_s") or math.inf

    def _work(self, id: str, core: Datapath, softmax: Softmax) -> WorkloadKernels:
        return self.workloads[id](core.native_batch, softmax)

    def _prepare(self, id: str, core: Datapath, softmax: Softmax) -> PreparedKernels:
        """Done once for each batch and register tile of the space."""
        key = id, core.native_batch, softmax, core.register_sublanes, core.register_lanes
        if key not in self._prepared:
            self._prepared[key] = prepared(self._work(id, core, softmax).kernels, core, self.model.constants)
        return self._prepared[key]

    def _bound(self, id: str, core: Datapath, datapath: dict[str, Any], softmax: Softmax) -> _Bound:
        key = id, core.native_batch, softmax
        if key not in self._least:
            self._least[key] = least_work(self._work(id, core, softmax), self.residency)
        seconds = least_seconds(self._least[key], core, self.model.constants)
        if self.objective != "energy":
            return _Bound(seconds, 0.0)
        rates = energy_rates(datapath, self.model.power_model)
        return _Bound(seconds, least_joules(self._least[key], seconds, core, rates))

    def _cannot_win(
        self, design: Design, core: Datapath, reach: Mapping[str, _Bound], incumbent: float | None
    ) -> Evaluation | None:
        """The trial's end if not even the bounds keep the latency limit or beat the incumbent."""
        slowest_s = max(bound.seconds for bound in reach.values())
        if slowest_s > self._latency_limit:
            reason = f"a batch takes at least {slowest_s:.3g} s, the limit is {self._latency_limit:g} s"
            return _stopped(design, "latency", reason)._replace(slowest_s=slowest_s)
        if incumbent is None or self._reach_value(design, core, reach) > incumbent:
            return None
        return self._stopped_at_bound(design, core, reach, incumbent)

    def _reach_value(self, design: Design, core: Datapath, reach: Mapping[str, _Bound]) -> float:
        """Upper bound of the objective's value."""
        seconds = self._mean({id: bound.seconds for id, bound in reach.items()})
        joules = self._mean({id: bound.joules for id, bound in reach.items()})
        at_best = _stopped(design, "ok", "")._replace(
            queries_per_s=core.cores * core.native_batch / seconds, latency_s=seconds,
            joules=joules / core.native_batch,
        )  # fmt: skip
        return self.value(at_best)

    def _stopped_at_bound(
        self, design: Design, core: Datapath, reach: Mapping[str, _Bound], incumbent: float | None
    ) -> Evaluation:
        bound = self._reach_value(design, core, reach)
        reason = f"at best {bound:.3g}, where {incumbent or 0.0:.3g} is known"
        return _stopped(design, "bound", reason)._replace(bound=bound)

    def _enough(
        self, id: str, design: Design, core: Datapath, softmax: Softmax, reach: Mapping[str, _Bound],
        incumbent: float | None,
    ) -> Enough:  # fmt: skip
        """The time of a workload above which the trial can't beat the incumbent, if the others reach their bounds."""
        work, least = self._work(id, core, softmax), self._least[id, core.native_batch, softmax]
        seconds = math.inf
        if incumbent is not None and incumbent > 0 and self.objective != "energy":
            headroom = self._reach_value(design, core, reach) / incumbent
            seconds = reach[id].seconds * headroom ** (1.0 / self.weights[id])
        return Enough(
            seconds, work.executions.astype(np.float64),
            least_kernel_seconds(least, work, core, self.model.constants),
        )  # fmt: skip

    def _mean(self, values: Mapping[str, float]) -> float:
        """Weighted geometric mean by workload; 0 where one is."""
        if min(values.values()) <= 0:
            return 0.0
        return math.exp(sum(self.weights[id] * math.log(value) for id, value in values.items()))

    def _evaluation(self, design: Design, runs: dict[str, Run], limit_s: float = math.inf) -> Evaluation:
        """Of a design on which every workload runs, the slowest within `limit_s`."""
        slowest_s = max(run.latency_s for run in runs.values())
        if slowest_s > limit_s:
            reason = f"a batch takes {slowest_s:.3g} s, the limit is {limit_s:g} s"
            return _stopped(design, "latency", reason)._replace(runs=runs, slowest_s=slowest_s)
        return _stopped(design, "ok", "")._replace(
            runs=runs,
            queries_per_s=self._mean({id: run.queries_per_s for id, run in runs.items()}),
            latency_s=self._mean({id: run.latency_s for id, run in runs.items()}),
            joules=self._mean({id: run.joules for id, run in runs.items()}),
            slowest_s=slowest_s,
        )

    def _unschedulable(
        self, design: Design, id: str, core: Datapath, softmax: Softmax, failing: np.ndarray
    ) -> Evaluation:  # fmt: skip
        """Of a workload with kernels (bool[k] `failing`) that no tile fits."""
        roots = self._work(id, core, softmax).roots
        reason = (
            f"{id}: no tile fits for {failing.sum()} of {len(failing)} kernels, the first is "
            f"{roots[int(failing.argmax())]}"
        )
        return _stopped(design, "infeasible", reason, failing_share=float(failing.mean()))


def softmax_of(point: Point) -> Softmax:
    """The form of every softmax at a point; three-pass where the space does not say."""
    return "two-pass" if point.get("softmax") == "two-pass" else "three-pass"


def _beside_the_datapath(point: Point) -> dict[str, Any]:
    """How programs run at a point, as :meth:`Evaluator.evaluate` takes it."""
    return {"softmax": softmax_of(point), "dataflows": str(point.get("dataflows", "any"))}


def _stopped(design: Design, state: State, reason: str, failing_share: float = 0.0) -> Evaluation:
    """Without any figure."""
    return Evaluation(design, state, reason, failing_share, {}, math.nan, math.nan, math.nan, math.nan, math.nan)
