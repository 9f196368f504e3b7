"""The `datasets:` section: kernels of programs on hardware variants, with runtimes."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from schemas.problem import Problem
from schemas.recorded_source import RecordedSource
from schemas.study_base import EachOnce, Id, IdList, PositiveInt, Selection, StudyModel

Task = Literal["tile", "fusion"]
Share = Annotated[float, Field(gt=0, lt=1)]


class DrawnSplit(StudyModel):
    """Whole families or whole architectures are held out, drawn by the study's seed."""

    by: Literal["family", "program"] = "family"
    """The unit that is never divided between training, validation and test: an architecture `family`, or with `program`
    an architecture with all its batches, modes and sizes (the paper's random split)."""
    test: Share = 0.3
    """Share of the programs that is asked for in test; whole units come as close as they can."""
    validation: Share = 0.2
    """Share of the programs that is asked for in validation."""

    def inconsistencies(self) -> list[Problem]:
        """Something must be left to train on."""
        if self.test + self.validation >= 1:
            return [
                Problem((), f"test and validation together are {self.test + self.validation:g}; allowed: less than 1")
            ]
        return []


class NamedSplit(StudyModel):
    """Programs by name; together they are the dataset's workloads. One family may stand in several parts; where it is
    in test and also in training or validation, the evaluation's log warns, as errors are lower then."""

    train: IdList
    """Workloads to train on."""
    validation: IdList
    """Workloads that choose when training stops."""
    test: IdList
    """Workloads that are scored once."""

    def parts(self) -> dict[str, list[str]]:
        """Sorted workloads by part."""
        return {"train": sorted(self.train), "validation": sorted(self.validation), "test": sorted(self.test)}

    def inconsistencies(self) -> list[Problem]:
        """A workload has one place."""
        problems: list[Problem] = []
        place: dict[str, str] = {}
        for part, ids in self.parts().items():
            for id in ids:
                if id in place:
                    problems.append(
                        Problem((part,), f"'{id}' is in {place[id]} already; allowed: one place a workload")
                    )
                place.setdefault(id, part)
        return problems


def _split_kind(written: Any) -> str:
    """The kind of split that is meant: names are lists, shares are numbers."""
    if isinstance(written, NamedSplit):
        return "named"
    if not isinstance(written, dict) or "by" in written:
        return "drawn"
    names = any(isinstance(written.get(part), list) for part in ("validation", "test"))
    return "named" if names or "train" in written else "drawn"


Split = Annotated[Annotated[DrawnSplit, Tag("drawn")] | Annotated[NamedSplit, Tag("named")], Discriminator(_split_kind)]


class TileTask(StudyModel):
    """Settings of the tile task: tiles of the default fusion's kernels."""

    tiles_per_kernel: Annotated[int, Field(ge=2)] = 64
    """At most so many tiles of a kernel; a larger tile space is sampled, the default tile always among them."""
    kernels_per_program: PositiveInt | None = None
    """At most so many kernels of a program, drawn by the study's seed; default: all. Bounds what many hardware variants
    cost; runtimes of whole programs then count the drawn kernels alone."""

    def setting(self) -> dict[str, Any]:
        """The settings that are not at their default of doing nothing, and the number of tiles."""
        return {"tiles_per_kernel": self.tiles_per_kernel} | _given(self, "kernels_per_program")


class FusionTask(StudyModel):
    """Settings of the fusion task: kernels of many fusion configurations, each with its default tile."""

    configurations: PositiveInt = 8
    """Independent random fusion configurations beside the default one."""
    walks: Annotated[int, Field(ge=0)] = 0
    """Configurations of a random walk that begins at the default fusion and flips one fusible node a move."""
    annealing: Annotated[int, Field(ge=0)] = 0
    """Configurations that simulated annealing on analytical estimates passes through, from a random one to a fast
    one."""
    kernels_per_program: PositiveInt | None = None
    """At most so many kernels of a program, drawn by the study's seed; default: all. Bounds what many hardware variants
    cost; runtimes of whole programs then count the drawn kernels alone."""

    def setting(self) -> dict[str, Any]:
        """The settings that are not at their default of doing nothing, and the number of configurations."""
        return {"configurations": self.configurations} | _given(self, "walks", "annealing", "kernels_per_program")


def _given(task: StudyModel, *keys: str) -> dict[str, Any]:
    return {key: getattr(task, key) for key in keys if getattr(task, key)}


class Dataset(StudyModel):
    """Kernels of workloads on hardware variants, with their runtimes; or kernels that were recorded."""

    workloads: Selection = "all"
    """The programs."""
    source: RecordedSource | None = None
    """Recorded measurements in place of `workloads`, on a hardware variant with `runtime: recorded`."""
    hardware: Selection = "all"
    """The hardware variants; `all`: all simulated ones, or with a `source` the recorded one. Those of one dataset have
    one `runtime`."""
    tasks: EachOnce[list[Task]] = ["tile", "fusion"]
    """What varies: the tile size of a kernel, or which operations make a kernel. With a `source` or on hardware with
    `runtime: iree`: tile; with `runtime: xla`: fusion."""
    split: Split = DrawnSplit()
    """Which programs are for training, validation and test. With a `source` by default its folders train, valid and
    test."""
    splits: Annotated[dict[Id, Split], BeforeValidator(lambda written: {} if written is None else written)] = {}
    """Other splits of the same programs by id, for models that name one in `split`. Labels are made once for all."""
    tile: TileTask = TileTask()
    """Settings of the tile task."""
    fusion: FusionTask = FusionTask()
    """Settings of the fusion task."""

    @model_validator(mode="before")
    @classmethod
    def _recorded_tiles_alone(cls, written: Any) -> Any:
        is_recorded = isinstance(written, dict) and written.get("source") is not None
        return {"tasks": ["tile"], **written} if is_recorded else written

    @property
    def folders_split(self) -> dict[str, list[str]] | None:
        """The split of the source's folders, if it is the dataset's."""
        return self.source.split() if self.source is not None and "split" not in self.model_fields_set else None

    def inconsistencies(self) -> list[Problem]:
        """A source has tiles of its own kernels, as they were recorded."""
        if self.source is None:
            return []
        reason = "a source has its own, and recorded and simulated labels never mix in one dataset"
        problems = [
            Problem((key,), f"not allowed beside source: {reason}")
            for key in ("workloads", "tile", "fusion")
            if key in self.model_fields_set
        ]
        if self.tasks != ["tile"]:
            problems.append(Problem(("tasks",), "got a fusion task; allowed: [tile] (recorded files are of tiles)"))
        if "split" not in self.model_fields_set and self.source.split() is None:
            ids = ", ".join(list(self.source.programs)[:6])
            text = f"the source's folders are not train, valid and test; name the programs of each part ({ids}, ...)"
            problems.append(Problem(("split",), text))
        return problems
