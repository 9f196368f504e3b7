"""The `autotune:` section: configurations of programs that a model proposes and a target verifies."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.model_base import Seed
from schemas.problem import Problem, got
from schemas.study_base import EachOnce, IdList, PositiveInt, Selection, StudyModel

TARGET_STRATEGIES = ("analytical", "random", "exhaustive", "target", "default")
"""Names of strategies that need no trained model; no model that autotunes may have such an id."""

NonNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


class Autotune(StudyModel):
    """Autotuners of one target: they find the tiles, the fusion configuration or both with which programs run fastest.
    Terms: Kaufman et al., MLSys 2021, section 6."""

    hardware: str
    """The target: a hardware variant. Models that were not trained on it may be used, which the report says."""
    task: Literal["tiles", "fusion", "both"] = "tiles"
    """What is chosen: `tiles` of the default fusion's kernels, the `fusion` configuration with default tiles, or `both`
    one after the other."""
    workloads: Selection | None = None
    """The programs. Default: the test programs of the models' dataset and split."""
    tile_models: IdList | None = None
    """Models of the tile task that rank the tiles of a kernel, each a strategy beside the analytical model, chance and
    all tiles; the first is the headline. Not with task fusion."""
    fusion_models: IdList | None = None
    """Models that predict seconds and steer annealing, each a strategy beside the target alone; the first is the
    headline. Not with task tiles."""
    top: EachOnce[list[PositiveInt]] = [1, 5, 10, 50]
    """Numbers of best ranked tiles of a kernel that are run on the target; not with task fusion."""
    exhaustive: bool = True
    """Run all tiles of every kernel too: the ceiling, which a real device can hardly pay for. Without it regret is
    against the best that any run found. Not with task fusion."""
    tiles_per_kernel: PositiveInt = 16384
    """Tiles of a kernel that are ranked, at most; a larger tile space is sampled, the default tile among them."""
    seeds: EachOnce[list[Seed]] = [1]
    """Of what is drawn at random, one run each. A model that was trained with the seed brings that one, else its
    lowest."""
    budgets_s: EachOnce[list[Positive]] = [60.0, 600.0]
    """Target seconds that a strategy may spend on a program, at least one budget."""
    compile_costs_s: EachOnce[list[NonNegative]] = [1.0, 0.1, 10.0]
    """Target seconds that compiling each new kernel takes; the first is the headline, others are shown beside it. Not
    on hardware that is measured, where compiling and running are charged as they truly took."""
    repeats: PositiveInt = 3
    """Runs of each new kernel on a simulated target; on a device as many as measuring takes."""
    timeout_s: Positive = 10.0
    """A kernel that runs longer is stopped, skipped and counted."""
    starts: EachOnce[list[Literal["default", "random"]]] = ["default", "random"]
    """Fusion configurations that annealing starts from; not with task tiles."""
    chains: PositiveInt = 64
    """Annealing chains that are priced as one batch; not with task tiles."""
    rounds: PositiveInt = 400
    """Moves of each chain on a model before the target is asked; not with task tiles."""

    def inconsistencies(self) -> list[Problem]:
        """Models that the task has no use for, and budgets that pay for nothing."""
        problems = [
            Problem(
                ("budgets_s", place),
                f"{got(budget_s)} is spent before one kernel is compiled, which takes {self.compile_costs_s[0]:g} s "
                "(the first of compile_costs_s); allowed: more than that",
            )
            for place, budget_s in enumerate(self.budgets_s)
            if budget_s <= self.compile_costs_s[0]
        ]
        for key, task in (("tile_models", "fusion"), ("fusion_models", "tiles")):
            if self.task == task and getattr(self, key) is not None:
                problems.append(Problem((key,), f"not with task {task}; allowed: task both, or leave it out"))
        return problems

    def models(self) -> dict[str, list[str]]:
        """Model ids by key, of the keys that are given."""
        written = {"tile_models": self.tile_models, "fusion_models": self.fusion_models}
        return {key: ids for key, ids in written.items() if ids is not None}
