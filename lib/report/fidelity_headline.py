"""Headline figures of the outside figures: `fidelity.SOURCE.QUANTITY.ours`, `.theirs`, `.error_pct`."""

import math
from collections.abc import Iterator

import pandas as pd

from schemas.summary import HeadlineFigure

FEW_SUBJECTS = 3
"""Quantities of up to so many subjects are listed one by one, others by their median and largest error."""

LARGEST: dict[tuple[str, str], float] = {
    ("fast-table-1", "max_working_set"): 1.0,
    ("fast-table-1", "weights"): 1.0,
    ("fast-figure-3", "batch_1"): 5.0,
    ("fast-figure-3", "batch_64"): 5.0,
    ("fast-figure-3", "fused_dsconv"): 5.0,
    ("fast-figure-3", "fused_mbconv"): 5.0,
    ("fast-figure-3", "pinned_weights"): 5.0,
    ("fast-figure-2", "queries.validation"): 10.0,
    ("fast-figure-2", "efficientnet-b7.queries"): 10.0,
    ("fast-figure-14", "unfused"): 15.0,
    ("fast-figure-14", "fused"): 15.0,
    ("fast-table-2", "depthwise-convolution.time_share"): 8.0,
    ("fast-table-5", "tpu-v3.compute_utilisation"): 8.0,
    ("fast-table-5", "fast-large.queries"): 5.0,
    ("fast-table-5", "fast-large.compute_utilisation"): 5.0,
    ("fast-table-5", "fast-small.queries"): 10.0,
    ("fast-table-5", "fast-large.perf_per_tdp"): 20.0,
    ("fast-table-5", "fast-small.perf_per_tdp"): 20.0,
}
"""(source, quantity) to the project's goal for the largest error, in percent."""
MEDIAN: dict[tuple[str, str], float] = {("fast-figure-13", "intensity"): 5.0}
"""(source, quantity) to the project's goal for the median error, in percent."""

SCHEDULING_GAIN = 1.69
"""The project's goal for the gain of TPU-v3 by schedules and residency, mean of five workloads (figure 10's)."""


def fidelity_headlines(figures: pd.DataFrame) -> list[HeadlineFigure]:
    """For every quantity with a counterpart; errors are absolute. `figures`: `lib.report.fidelity_data`'s."""
    figures = figures.dropna(subset=["error_pct"])
    found: list[HeadlineFigure] = []
    for (source, quantity), rows in figures.groupby(["source", "quantity"], sort=False):
        for role, of_role in rows.groupby("role", sort=False):
            several = str(quantity) if rows["role"].nunique() == 1 else f"{quantity}.{role}"
            if len(of_role) <= FEW_SUBJECTS:
                found += [figure for row in of_role.itertuples(index=False) for figure in _one(row)]
            else:
                found += _several(str(source), several, str(role), of_role)
    return [*found, *_tile_order(figures), *_scheduling_gain(figures)]


def _one(row) -> Iterator[HeadlineFigure]:
    quantity = f"{row.subject}.{row.quantity}"
    name = f"fidelity.{row.source}.{quantity}"
    yield _figure(f"{name}.ours", row.ours, row.unit, row.role)
    yield _figure(f"{name}.theirs", row.theirs, row.unit, row.role)
    goal = LARGEST.get((row.source, quantity))
    yield _figure(f"{name}.error_pct", abs(row.error_pct), "%", row.role, goal)


def _several(source: str, quantity: str, role: str, rows: pd.DataFrame) -> Iterator[HeadlineFigure]:
    errors, name = rows["error_pct"].abs(), f"fidelity.{source}.{quantity}"
    yield _figure(f"{name}.error_pct", float(errors.median()), "%", role, MEDIAN.get((source, quantity)))
    yield _figure(f"{name}.largest_error_pct", float(errors.max()), "%", role, LARGEST.get((source, quantity)))


def _tile_order(figures: pd.DataFrame) -> Iterator[HeadlineFigure]:
    """Kendall's tau on measured tiles, mean over kernels: the simulator's should lie above the analytical model's."""
    for role, rows in figures[figures["source"] == "tpu-tiles"].groupby("role", sort=False):
        means = rows.groupby("quantity")["ours"].mean()
        simulator, analytical = (means.get(f"kendall_tau_{model}", math.nan) for model in ("simulator", "analytical"))
        name = f"fidelity.tpu-tiles.{role}.mean_kendall_tau"
        goal = {"goal": f"> {analytical:.3g}, the analytical model's", "met": bool(simulator > analytical)}
        yield _figure(f"{name}_simulator.ours", simulator, "", str(role)).model_copy(update=goal)
        yield _figure(f"{name}_analytical.ours", analytical, "", str(role))


def _scheduling_gain(figures: pd.DataFrame) -> Iterator[HeadlineFigure]:
    """What schedules and residency alone gain on TPU-v3, geometric mean of five workloads."""
    mean = figures[(figures["source"] == "fast-figure-9") & (figures["subject"] == "mean-of-5")]
    for row in mean.itertuples(index=False):
        goal = {"goal": f">= {SCHEDULING_GAIN:g}", "met": bool(row.ours >= SCHEDULING_GAIN)}
        figure = _figure(f"fidelity.{row.source}.{row.subject}.{row.quantity}.ours", row.ours, row.unit, row.role)
        yield figure.model_copy(update=goal)


def _figure(name: str, value: float, unit: str, role: str, most: float | None = None) -> HeadlineFigure:
    known = not math.isnan(value)
    return HeadlineFigure.model_validate(
        {
            "name": name, "value": value if known else None, "unit": unit, "origin": "simulated", "role": role,
            "goal": None if most is None else f"<= {most:g}", "met": value <= most if known and most else None,
        }
    )  # fmt: skip
