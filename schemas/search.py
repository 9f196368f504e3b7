"""The `searches:` section: searches for a datapath, as FAST (ASPLOS 2022)."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.quantity import Time
from schemas.return_on_investment import ReturnOnInvestment
from schemas.search_space import Space
from schemas.study_base import PositiveInt, Selection, StudyModel

Objective = Literal["perf-per-tdp", "throughput", "latency", "energy"]
OptimiserName = Literal["random", "tpe", "nsga2", "cma-es", "swarm"]
SURROGATES = ("none", "regression")
"""What may pre-screen designs without being an id of a model."""

Positive = Annotated[float, Field(gt=0)]


class Limits(StudyModel):
    """The most that a design may take. A search learns from designs beyond a limit, the cheapest to check first."""

    tdp_ratio: Positive = 2.0
    """Thermal design power over the baseline's. FAST's threshold is 2.0 times that of the die-shrunk TPU-v3 (table
    5)."""
    area_ratio: Positive = 1.67
    """Die area over the baseline's. FAST's threshold is 1.67 times that of the die-shrunk TPU-v3 (table 5)."""
    latency_s: Annotated[Time, Field(gt=0)] | None = None
    """Time from a batch's start to its end, of the slowest workload (seconds); by default there is no limit. MLPerf
    allows image classification 15 ms."""


class Search(StudyModel):
    """A search for the datapath that serves some workloads best."""

    workloads: Selection
    """The programs; the objective is the weighted geometric mean over them."""
    weights: dict[str, Positive] = {}
    """Weight in the geometric mean by workload; 1 for those that are not named."""
    baseline: str
    """The hardware variant that designs are compared with."""
    baseline_schedule: Literal["default", "best"] = "default"
    """How the baseline runs when gains are counted: as its compiler schedules it (FAST's baseline), or by the same
    mapper and residency as the designs. Both are reported."""
    objective: Objective = "perf-per-tdp"
    """What is made large, over the baseline: queries a second and watt of thermal design power, or queries a second;
    what is made small: latency, or energy of a query."""
    optimiser: OptimiserName = "tpe"
    """How designs are proposed: at random, multivariate tree-structured Parzen estimator, NSGA-II (several objectives:
    queries a second, power, area, latency), CMA-ES, or the linear-combination swarm, FAST's best (figure 11)."""
    trials: PositiveInt = 50
    """Designs that each island tries. A larger number continues what is there."""
    islands: PositiveInt = 1
    """Independent searches with seeds of their own, which run at the same time and are merged at the end."""
    residency: Literal["none", "paper", "lifetime"] = "paper"
    """What stays in the global buffer between kernels: nothing, by FAST's placement rules (figure 8) with all bytes
    priced, or any tensor while it lives."""
    limits: Limits = Limits()
    """The most that a design may take."""
    surrogate: str = "none"
    """What screens designs before they are tried: none, a regression on the search's own trials, or the id of a learned
    model."""
    space: Space = Space()
    """Values by parameter; a parameter that is not named keeps its default."""
    return_on_investment: ReturnOnInvestment = ReturnOnInvestment()
    """What a chip costs, for the volume at which the best design pays back; changes no trial."""
