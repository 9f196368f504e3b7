"""Measurements as the figures of `bench.json`, and as a table for people."""

from collections.abc import Sequence

from lib.benchmark.goals import GOALS
from lib.benchmark.measurement import Measurement
from schemas.benchmark import BenchmarkFigure, BenchmarkSummary, Machine

HEADINGS = ("what", "goal", "measured", "least .. most", "met")


def figure(measurement: Measurement) -> BenchmarkFigure:
    """A measurement held against its goal."""
    value, goal = measurement.value, GOALS.get(measurement.name)
    return BenchmarkFigure(
        name=measurement.name, value=value, unit=measurement.unit, origin="measured",
        goal=str(goal) if goal else None, met=goal.is_met(value) if goal and value is not None else None,
        title=measurement.title, note=measurement.note, minimum=min(measurement.values, default=None),
        maximum=max(measurement.values, default=None), repetitions=len(measurement.values),
    )  # fmt: skip


def summary(measurements: Sequence[Measurement], machine: Machine) -> BenchmarkSummary:
    """All figures, sorted by name."""
    figures = sorted((figure(measurement) for measurement in measurements), key=lambda found: found.name)
    return BenchmarkSummary(figures=figures, machine=machine)


def table(figures: Sequence[BenchmarkFigure]) -> str:
    """One line a figure: what, goal, median, minimum and maximum, whether the goal is met. Notes stand below."""
    rows = [HEADINGS, *(_row(each) for each in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines + [f"* {each.title}: {each.note}" for each in figures if each.note])


def _row(shown: BenchmarkFigure) -> tuple[str, ...]:
    several = shown.repetitions > 1 and shown.minimum is not None and shown.maximum is not None
    spread = f"{_number(shown.minimum)} .. {_number(shown.maximum)}" if several else ""
    goal = f"{shown.goal[:2]} {_number(float(shown.goal[2:]))}" if shown.goal else ""
    met = {True: "yes", False: "NO", None: ""}[shown.met]
    return (
        shown.title + (" *" if shown.note else ""),
        goal,
        f"{_number(shown.value)} {shown.unit}".rstrip(),
        spread,
        met,
    )


def _number(value: float | None) -> str:
    """Three digits: 0.0123, 1.23, 123, 1.23 k, 1.23 M, 1.23 G."""
    if value is None:
        return "not known"
    for letter, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g}"
