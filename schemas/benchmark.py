"""`results/bench.json`: how fast this program is on the machine that it was measured on."""

from typing import Self

from pydantic import model_validator

from schemas.base import StrictModel
from schemas.summary import HeadlineFigure, Summary


class Machine(StrictModel):
    """Where the figures were measured."""

    processor: str
    """Model of the processor."""
    cores: int
    """Processor cores that the measuring process might use."""
    memory_bytes: int
    """Main memory."""
    load: float
    """Processes that wanted a core in the minute before; well below 1 on a machine that does nothing else."""
    system: str
    """Operating system and its version."""
    software: dict[str, str]
    """Versions of Python and of the libraries that shape the numbers."""


class BenchmarkFigure(HeadlineFigure):
    """One measured figure; `value` is the median of its repetitions."""

    title: str
    """What was measured, in words."""
    note: str = ""
    """What the reader must know beside the title; empty: nothing."""
    minimum: float | None
    """Smallest of the repetitions."""
    maximum: float | None
    """Largest of the repetitions."""
    repetitions: int
    """How often it was measured, not counting warm-ups."""

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.value is None or self.minimum is None or self.maximum is None:
            return self
        if not self.minimum <= self.value <= self.maximum:
            raise ValueError(f"{self.name}: {self.value} does not lie between {self.minimum} and {self.maximum}")
        return self


class BenchmarkSummary(Summary):
    """A summary whose figures are measured times and rates, with the machine."""

    machine: Machine
    """Where the figures were measured."""
    figures: list[BenchmarkFigure]  # type: ignore[assignment]
    """Sorted by name."""
