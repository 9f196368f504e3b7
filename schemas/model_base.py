"""What all entries of `models:` that are trained have in common."""

from typing import Annotated

from pydantic import Field

from schemas.dataset import Task
from schemas.study_base import EachOnce, PositiveInt, Selection, StudyModel

Seed = Annotated[int, Field(ge=0, lt=2**31)]


class TrainedModelEntry(StudyModel):
    """A model that learns from a dataset."""

    task: Task
    """What it predicts: `tile` ranks the tiles of a kernel, `fusion` predicts a kernel's runtime."""
    dataset: str
    """The dataset that it learns from."""
    split: str | None = None
    """One of the dataset's `splits`; default: its `split`."""
    hardware: Selection = "all"
    """The hardware variants of the dataset that it learns; `all`: all of the dataset's."""
    train_programs: PositiveInt | None = None
    """Programs kept of the split's training part, drawn by the study's seed, one family after the other, so that a
    smaller number's are among a larger one's. Default: all."""
    layout_features: bool = False
    """Whether it reads how a kernel's arrays lie in memory and in which form convolutions and dots are written: order
    of their operands' dimensions, groups, mirrored windows. Real compilers take another implementation by it, and
    use vector registers better or worse; simulated runtimes hardly depend on it."""
    seeds: EachOnce[list[Seed]] = [1]
    """One model is trained for each seed."""
