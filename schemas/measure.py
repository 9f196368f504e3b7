"""`measure:` of a hardware variant: how a real device is measured."""

from typing import Annotated, Any, Literal

from pydantic import Field

from schemas.problem import Problem, got
from schemas.quantity import Time
from schemas.study_base import EachOnce, PositiveInt, StudyModel

Runtime = Literal["simulated", "recorded", "xla", "iree"]
Origin = Literal["simulated", "recorded", "measured"]
ORIGINS: dict[Runtime, Origin] = {
    "simulated": "simulated", "recorded": "recorded", "xla": "measured", "iree": "measured",
}  # fmt: skip
"""Where the labels of a runtime come from, as manifests and tables say it."""
MEASURED_TASKS: dict[Runtime, Literal["tile", "fusion"]] = {"xla": "fusion", "iree": "tile"}
"""The task that a device labels: XLA chooses tiles itself and takes any kernel, IREE takes tiles."""


class Measure(StudyModel):
    """How the kernels of a measured hardware variant are timed. Studies with equal settings share measurements."""

    platform: Literal["cpu", "gpu"] = "cpu"
    """What the kernels run on; a GPU with `runtime: xla` alone."""
    cores: EachOnce[list[Annotated[int, Field(ge=0, le=4095)]]] = [0]
    """Cores of this machine, by number, that the measuring process is pinned to."""
    threads: PositiveInt | None = None
    """Threads that a kernel may use; default: one a core."""
    batches: PositiveInt = 20
    """Batches of runs a pass, spread evenly over its visits; at each visit the fastest after the warm-up counts."""
    batch: Annotated[Time, Field(gt=0, le=10)] = "5 ms"  # type: ignore[assignment]  # parsed, as in a study
    """Shortest time of a batch (seconds): a kernel is run so often one after the other."""
    visits: Annotated[int, Field(ge=1, le=20)] = 4
    """Visits to a kernel a pass, in rounds over all kernels, the kernel loaded anew at each; their median counts."""
    passes: Annotated[int, Field(ge=2, le=20)] = 2
    """Passes over all kernels. The median difference between the first two is the noise floor; the fastest pass is the
    runtime."""
    timeout: Annotated[Time, Field(gt=0, le=3600)] = "30 s"  # type: ignore[assignment]
    """Time after which a visit to a kernel, its compiler included, is stopped and the kernel left out (seconds)."""
    noise_limit_pct: Annotated[float, Field(gt=0, le=100)] = 3.0
    """Noise floor (per cent) above which the machine is called too noisy. Kernels whose passes differ by twice as much
    are measured again."""

    def resolved(self) -> dict[str, Any]:
        """With every default spelled out and units in the names."""
        return {
            "platform": self.platform,
            "cores": sorted(self.cores),
            "threads": self.threads or len(self.cores),
            "batches": self.batches,
            "batch_s": self.batch,
            "visits": self.visits,
            "passes": self.passes,
            "timeout_s": self.timeout,
            "noise_limit_pct": self.noise_limit_pct,
        }

    def inconsistencies(self) -> list[Problem]:
        """Threads that would share a core."""
        if (self.threads or 1) <= len(self.cores):
            return []
        text = f"{got(self.threads)}; allowed: at most {len(self.cores)}, one a core of `cores`"
        return [Problem(("threads",), text)]


def measuring_problems(runtime: Runtime, measure: Measure, given: set[str]) -> list[Problem]:
    """Keys of a hardware variant, `given` in the study, that don't go with its runtime; paths relative to it."""
    if ORIGINS[runtime] != "measured":
        text = f"not allowed with runtime: {runtime}, where nothing is measured; allowed with xla, iree"
        return [Problem(("measure",), text)] if "measure" in given else []
    problems = []
    if "sample" in given:
        text = f"not allowed with runtime: {runtime}: a device that is really there can't be varied"
        problems.append(Problem(("sample",), f"{text}; allowed with simulated"))
    if runtime == "iree" and measure.platform != "cpu":
        problems.append(Problem(("measure", "platform"), f"{got(measure.platform)}; allowed with runtime: iree: cpu"))
    return problems
