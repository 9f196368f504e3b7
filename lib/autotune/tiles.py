"""The tile autotuner: a model ranks the tiles of each kernel, the target runs the best ranked ones, the best is kept.

Strategies: the study's tile models; `analytical`, the compiler's own model; `random`; and `exhaustive`, all tiles, the
ceiling. Every strategy knows the default tile's time from the start, since the program runs with it today, and falls
back on it where no ranked tile is faster.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.autotune.configuration import Configuration, program_s
from lib.autotune.target import Measured, Prices, Target, charged_s, failed, runs
from lib.autotune.tile_order import (
    Order,
    TileSpace,
    best_rows,
    best_seconds,
    best_so_far,
    ranked_order,
    tile_space_of,
)
from lib.autotune.tuned import Tuned, skipped_table
from lib.cost.analytical import Analytical
from lib.cost.cost_model import CostModel, Reason
from lib.journal import Journal

LOG = logging.getLogger("tilewright")

ROWS_A_RECORD = 20_000
"""Configurations that the target runs between two records of the journal, to the next whole kernel."""


class Strategy(NamedTuple):
    """A way of ranking, with one seed."""

    name: str
    seed: int
    score: np.ndarray
    """float64[r] lower is run first."""


class Run(NamedTuple):
    """What all results of a tile space share."""

    space: TileSpace
    measured: Measured
    default_s: np.ndarray
    """float64[k]"""
    least_s: float
    """Runtime of the program with the best of all tiles."""


def tune_tiles(
    spec: Mapping[str, Any],
    default: Configuration,
    models: Mapping[str, Mapping[int, CostModel]],
    target: Target,
    journal: Journal | None = None,
) -> Tuned:
    """All strategies on the kernels of the configuration `default`, which has default tiles.

    `spec`: `top`, `seeds`, `budgets_s`, `compile_costs_s`, `repeats`, `timeout_s`, `tiles_per_kernel` of the resolved
    entry; `models`: strategy to seed to model, the first one is the headline. The `journal` keeps what the target said.
    """
    found, default_s = default.found, default.seconds
    space = tile_space_of(found.kernels, found.executions, target.datapath, spec["tiles_per_kernel"])
    measured = measured_rows(space, target, journal)
    everything = np.arange(len(space.is_default))
    least_s = program_s(best_seconds(space, measured.seconds, everything, default_s), space.executions)
    run = Run(space, measured, default_s, least_s)
    orders = [(one, ranked_order(space, one.score, default_s)) for one in _strategies(spec, space, models, target)]
    results = pd.concat([_results(spec, run, *pair) for pair in orders], ignore_index=True)
    trace = pd.concat([_trace(spec, run, *pair) for pair in orders], ignore_index=True)
    headline = next(iter(models), "analytical")
    best = _best_of(results, headline)
    order = next(order for one, order in orders if one.name == headline and one.seed == best["seed"])
    rows = best_rows(space, measured.seconds, order.row[: int(best["configurations"])])
    chosen = default._replace(tile=space.schedules.tile[rows], seconds=measured.seconds[rows])
    row = np.flatnonzero(measured.reason != Reason.OK)
    kernel, tile = space.schedules.kernel[row], space.schedules.tile[row]
    skipped = skipped_table(found.kernels, found.roots, kernel, tile, measured.reason[row])
    return Tuned(results, trace, skipped, chosen, float(best["target_s"]), headline)


def measured_rows(space: TileSpace, target: Target, journal: Journal | None) -> Measured:
    """What the target says of every row; blocks of kernels that the journal holds are not run again."""
    seconds, reason = np.full(len(space.is_default), np.nan), np.zeros(len(space.is_default), dtype=np.uint8)
    records = [record for record in journal.records if "tiles" in record] if journal else []
    done = {record["tiles"]: record for record in records}
    for first, end in _blocks(space.offset):
        cut = slice(space.offset[first], space.offset[end])
        key = f"{first}-{end}-{space.kernels.fingerprint[first]}"
        if key in done:
            seconds[cut], reason[cut] = done[key]["seconds"], done[key]["reason"]
            continue
        seconds[cut], reason[cut] = target.measure(space.kernels, space.rows(first, end))
        if journal is not None:
            journal.append({"tiles": key, "seconds": seconds[cut].tolist(), "reason": reason[cut].tolist()})
    return Measured(seconds, reason)


def _blocks(offset: np.ndarray) -> Iterator[tuple[int, int]]:
    """(first, end) kernels of blocks that have ROWS_A_RECORD rows or one kernel."""
    first = 0
    while first < len(offset) - 1:
        end = max(first + 1, int(np.searchsorted(offset, offset[first] + ROWS_A_RECORD, side="right")) - 1)
        yield first, end
        first = end


def _strategies(
    spec: Mapping[str, Any], space: TileSpace, models: Mapping[str, Mapping[int, CostModel]], target: Target
) -> Iterator[Strategy]:
    """The models, each with every seed; then those that need none. What draws nothing has one seed."""
    seeds = spec["seeds"]
    for name, by_seed in models.items():
        scored: dict[int, np.ndarray] = {}
        for seed in seeds:
            model = by_seed[seed]
            if id(model) not in scored:
                LOG.info("%s ranks %d tiles of %d kernels", name, len(space.is_default), space.kernels.number)
                scored[id(model)] = model.cost(space.kernels, space.schedules, target.datapath).value
            yield Strategy(name, seed, scored[id(model)])
    analytical_s = Analytical().cost(space.kernels, space.schedules, target.datapath).value
    yield Strategy("analytical", seeds[0], analytical_s)
    for seed in seeds:
        yield Strategy("random", seed, random_scores(space, seed))
    yield Strategy("exhaustive", seeds[0], np.arange(len(space.is_default), dtype=np.float64))


def random_scores(space: TileSpace, seed: int) -> np.ndarray:
    """float64[r]; those of a kernel depend on the seed and its fingerprint alone."""
    counts = np.diff(space.offset)
    draws = [
        np.random.default_rng([seed, int(fingerprint, 16)]).random(count)
        for fingerprint, count in zip(space.kernels.fingerprint, counts.tolist(), strict=True)
    ]
    return np.concatenate(draws) if draws else np.empty(0)


def _results(spec: Mapping[str, Any], run: Run, strategy: Strategy, order: Order) -> pd.DataFrame:
    """One row a compile cost and number of tiles run, and one a compile cost and budget."""
    measured = Measured(run.measured.seconds[order.row], run.measured.reason[order.row])
    whole = strategy.name == "exhaustive"
    tops = {0: len(order.row)} if whole else {top: order.first(top) for top in spec["top"]}
    rows = []
    for cost in spec["compile_costs_s"]:
        spent_s = np.cumsum(charged_s(measured, _prices(spec, cost)))
        ends = [(top, np.nan, count) for top, count in tops.items()]
        ends += [(0, budget, int(np.searchsorted(spent_s, budget, "right"))) for budget in spec["budgets_s"]]
        for top, budget_s, count in ends:
            best = best_seconds(run.space, run.measured.seconds, order.row[:count], run.default_s)
            some = Measured(measured.seconds[:count], measured.reason[:count])
            rows.append(
                {
                    **_key(strategy, cost, budget_s),
                    "top": top,
                    "runtime_s": program_s(best, run.space.executions),
                    "ranked_regret_pct": _ranked_regret_pct(run, order, top) if top else np.nan,
                    "configurations": count,
                    "target_runs": int(runs(some, spec["repeats"]).sum()),
                    "target_s": float(spent_s[count - 1]) if count else 0.0,
                    "failed": int(failed(some.reason).sum()),
                    "timed_out": int((some.reason == Reason.TIMED_OUT).sum()),
                    "moves": 0,
                }
            )
    return pd.DataFrame(rows)


def _ranked_regret_pct(run: Run, order: Order, top: int) -> float:
    """Of the `top` best ranked tiles alone; NaN where none of a kernel's could be run."""
    rows = np.flatnonzero(order.all_ranks < top)
    best = best_seconds(run.space, run.measured.seconds, rows, np.full(run.space.kernels.number, np.nan))
    return (program_s(best, run.space.executions) / run.least_s - 1.0) * 100.0


def _trace(spec: Mapping[str, Any], run: Run, strategy: Strategy, order: Order) -> pd.DataFrame:
    """Best so far until the most tiles and the largest budget are spent; of the exhaustive strategy to the end."""
    measured = Measured(run.measured.seconds[order.row], run.measured.reason[order.row])
    kernel = run.space.schedules.kernel[order.row]
    frames = []
    for cost in spec["compile_costs_s"]:
        charged = charged_s(measured, _prices(spec, cost))
        count = len(order.row)
        if strategy.name != "exhaustive":
            in_budget = int(np.searchsorted(np.cumsum(charged), max(spec["budgets_s"]), "right"))
            count = max(order.first(max(spec["top"])), in_budget)
        target_s, runtime_s = best_so_far(
            kernel[:count], measured.seconds[:count], charged[:count], run.space.executions, run.default_s
        )
        key = _key(strategy, cost, np.nan)
        frames.append(pd.DataFrame({**key, "target_s": target_s, "runtime_s": runtime_s}))
    return pd.concat(frames, ignore_index=True)


def _prices(spec: Mapping[str, Any], compile_cost_s: float) -> Prices:
    return Prices(compile_cost_s, spec["repeats"], spec["timeout_s"])


def _key(strategy: Strategy, compile_cost_s: float, budget_s: float) -> dict[str, Any]:
    return {
        "stage": "tiles",
        "strategy": strategy.name,
        "start": "default",
        "seed": strategy.seed,
        "compile_cost_s": compile_cost_s,
        "budget_s": budget_s,
    }


def _best_of(results: pd.DataFrame, strategy: str) -> pd.Series:
    """The row of a strategy with the least runtime; of equal ones that with the fewest target seconds."""
    rows = results[results["strategy"] == strategy]
    first_cost = rows[rows["compile_cost_s"] == rows["compile_cost_s"].iloc[0]]
    return first_cost.sort_values(["runtime_s", "target_s"], kind="stable").iloc[0]
